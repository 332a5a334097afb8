import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { s3Calls } from './s3-call.ts';
import { s3Refusal } from './s3-error.ts';
import { defaultTimeoutMs, s3ClientConfig, type S3ObjectStoreSettings } from './s3-settings.ts';

/** Creates the bucket of these settings unless it is there. Rejects when it belongs to someone else. */
export async function createS3Bucket(settings: S3ObjectStoreSettings): Promise<void> {
  const client = new S3Client(s3ClientConfig(settings, settings.endpoint));
  const call = s3Calls(settings.timeoutMs ?? defaultTimeoutMs);
  const command = new CreateBucketCommand({ Bucket: settings.bucket });
  try {
    await call({ what: `create the bucket ${settings.bucket}` }, (http) => client.send(command, http));
  } catch (error) {
    const code = s3Refusal(error instanceof Error ? error.cause : undefined)?.code;
    if (code !== 'BucketAlreadyOwnedByYou') throw error;
  } finally {
    client.destroy();
  }
}
