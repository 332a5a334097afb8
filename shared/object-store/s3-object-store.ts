import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  S3Client,
} from '@aws-sdk/client-s3';
import { systemClock } from '#shared/clock/clock.ts';
import { objectDescription } from './object-description.ts';
import { checkObjectKey, checkObjectPrefix } from './object-key.ts';
import type { ObjectStore, StreamOptions } from './object-store.ts';
import { s3BodyStream } from './s3-body-stream.ts';
import { s3Calls } from './s3-call.ts';
import { s3ClockSkewMs } from './s3-clock-skew.ts';
import { s3Refusal } from './s3-error.ts';
import { s3Objects } from './s3-objects.ts';
import { s3Presign } from './s3-presign.ts';
import { defaultTimeoutMs, s3ClientConfig, type S3ObjectStoreSettings } from './s3-settings.ts';
import { s3StreamUpload } from './s3-stream-upload.ts';
import { s3SweepUploads } from './s3-sweep-uploads.ts';

/** Another conditional write to the same key is under way (status 409): S3 says to ask again. */
const CONFLICT_ATTEMPTS = 5;

/** Objects in a bucket of an S3 API. The bucket exists already (`createS3Bucket`). */
export function s3ObjectStore(settings: S3ObjectStoreSettings): ObjectStore {
  const { bucket, endpoint, publicEndpoint = endpoint, clock = systemClock, timeoutMs = defaultTimeoutMs } = settings;
  const client = new S3Client(s3ClientConfig(settings, endpoint));
  const signer = {
    client: new S3Client(s3ClientConfig(settings, publicEndpoint)),
    bucket,
    maxLifetimeSeconds: settings.maxLinkLifetimeSeconds,
    clock,
  };
  const call = s3Calls(timeoutMs);
  const s3 = s3Objects(client, bucket, call);

  function target(key: string) {
    checkObjectKey(key);
    return { Bucket: bucket, Key: key };
  }

  async function open(key: string, { signal, range }: StreamOptions): Promise<Readable | undefined> {
    const command = new GetObjectCommand({
      ...target(key),
      ...(range === undefined ? {} : { Range: `bytes=${range.start}-${range.end ?? ''}` }),
    });
    const found = await call({ what: `send ${key}`, signal }, (http) => client.send(command, http)).catch(
      (error: unknown) => {
        if (range === undefined || refusalOf(error)?.status !== 416) return absent(error);
        throw new RangeError(`the object ${key} has no bytes ${range.start} to ${range.end ?? 'its end'}`, {
          cause: error,
        });
      },
    );
    if (found === undefined) return undefined;
    if (!(found.Body instanceof Readable)) throw new Error(`the object store sent ${key} without a body`);
    return s3BodyStream(found.Body, key, found.ContentLength, timeoutMs, signal);
  }

  return {
    async put(key, body, options = {}) {
      checkObjectKey(key);
      await s3.put(key, body, objectDescription(options), { signal: options.signal });
    },

    async putIfAbsent(key, body, options = {}) {
      checkObjectKey(key);
      const description = objectDescription(options);
      for (let attempt = 1; ; attempt++) {
        try {
          await s3.put(key, body, description, { signal: options.signal, onlyIfAbsent: true });
          return true;
        } catch (error) {
          const status = refusalOf(error)?.status;
          if (status === 412) return false;
          if (status !== 409 || attempt === CONFLICT_ATTEMPTS) throw error;
        }
      }
    },

    async putStream(key, body, options = {}) {
      checkObjectKey(key);
      await s3StreamUpload(s3, key, body, objectDescription(options), options.signal);
    },

    async get(key, options = {}) {
      const stream = await open(key, options);
      return stream === undefined ? undefined : buffer(stream);
    },

    getStream: (key, options = {}) => open(key, options),

    async head(key, { signal } = {}) {
      const command = new HeadObjectCommand(target(key));
      const found = await call({ what: `describe ${key}`, signal }, (http) => client.send(command, http)).catch(absent);
      if (found === undefined) return undefined;
      const { ContentLength = 0, LastModified = new Date(0), Metadata = {} } = found;
      return { sizeBytes: ContentLength, modifiedAt: LastModified, metadata: Metadata };
    },

    async *list(prefix, { signal } = {}) {
      checkObjectPrefix(prefix);
      let from: string | undefined;
      do {
        const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: from });
        const page: ListObjectsV2CommandOutput = await call({ what: `list ${prefix}`, signal }, (http) =>
          client.send(command, http),
        );
        for (const { Key, Size = 0, LastModified = new Date(0) } of page.Contents ?? []) {
          // A folder that someone made with another tool.
          if (Key !== undefined && !Key.endsWith('/')) yield { key: Key, sizeBytes: Size, modifiedAt: LastModified };
        }
        from = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      } while (from !== undefined);
    },

    async remove(key, { signal } = {}) {
      const command = new DeleteObjectCommand(target(key));
      await call({ what: `remove ${key}`, signal }, (http) => client.send(command, http)).catch(absent);
    },

    async presign(key, options) {
      checkObjectKey(key);
      return s3Presign(signer, key, options);
    },

    sweepUnfinishedUploads: (olderThan) => s3SweepUploads(s3, olderThan),
    clockSkewMs: () => s3ClockSkewMs(s3, clock),

    async check({ signal } = {}) {
      const command = new HeadBucketCommand({ Bucket: bucket });
      await call({ what: `open the bucket ${bucket}`, signal }, (http) => client.send(command, http));
    },

    async close() {
      client.destroy();
      signer.client.destroy();
    },
  };
}

/** `call` wraps the SDK's error. */
function refusalOf(error: unknown) {
  return s3Refusal(error instanceof Error ? error.cause : undefined);
}

/** What calls on an object that is not there come to. */
function absent(error: unknown): undefined {
  const refusal = refusalOf(error);
  if (refusal?.status === 404 && refusal.code !== 'NoSuchBucket') return undefined;
  throw error;
}
