import { AbortMultipartUploadCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { s3Refusal } from './s3-error.ts';
import type { S3Objects } from './s3-objects.ts';

/** Aborts all multipart uploads that began before `olderThan`, a time of the store's clock; how many. Stores without lifecycle rules would keep their parts for ever. */
export async function s3SweepUploads({ client, bucket, call }: S3Objects, olderThan: Date): Promise<number> {
  let swept = 0;
  let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {};
  while (from !== undefined) {
    const list: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({ Bucket: bucket, ...from });
    const page = await call({ what: 'list unfinished uploads' }, (http) => client.send(list, http));
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Initiated === undefined || Initiated >= olderThan) continue;
      const abort = new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId });
      const isAborted = await call({ what: `give up the upload of ${Key}` }, (http) => client.send(abort, http)).then(
        () => true,
        finishedMeanwhile,
      );
      if (isAborted) swept++;
    }
    const more = page.IsTruncated === true && page.NextKeyMarker !== undefined;
    from = more ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker } : undefined;
  }
  return swept;
}

/** `call` wraps the SDK's error. */
function finishedMeanwhile(error: unknown): false {
  const refusal = s3Refusal(error instanceof Error ? error.cause : undefined);
  if (refusal?.code === 'NoSuchUpload') return false;
  throw error;
}
