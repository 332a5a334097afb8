import { addAbortSignal, Readable } from 'node:stream';
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
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { create as contentDisposition } from 'content-disposition';
import { asError } from '#shared/runtime/failures.ts';
import { type Clock, systemClock } from '#shared/runtime/time-and-ids.ts';
import {
  checkObjectKey,
  checkObjectPrefix,
  objectDescription,
  type ObjectStore,
  ObjectStoreUnavailable,
  type PresignedLink,
  type PresignOptions,
  type StreamOptions,
} from './object-store.ts';
import {
  defaultTimeoutMs,
  s3Calls,
  s3ClientConfig,
  s3Error,
  type S3ObjectStoreSettings,
  s3Refusal,
} from './s3-client.ts';
import { s3Objects, type S3Objects, s3StreamUpload, s3SweepUploads } from './s3-uploads.ts';

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
        if (range === undefined || s3Refusal(error)?.status !== 416) return absent(error);
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
          const status = s3Refusal(error)?.status;
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

/** What calls on an object that is not there come to. */
function absent(error: unknown): undefined {
  const refusal = s3Refusal(error);
  if (refusal?.status === 404 && refusal.code !== 'NoSuchBucket') return undefined;
  throw error;
}

/**
 * The body of a download. Fails when the store is silent for `idleMs` while somebody waits for bytes (a reader that pauses is no silence)
 * or ends before `sizeBytes`, and when `signal` aborts; closes the connection when destroyed.
 */
export function s3BodyStream(
  body: Readable,
  key: string,
  sizeBytes: number | undefined,
  idleMs: number,
  signal: AbortSignal | undefined,
): Readable {
  const what = `send all of ${key}`;
  const chunks: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  let received = 0;
  // Nobody listens before the first read; the iterator throws what happened until then.
  body.on('error', () => {});

  async function readNext(stream: Readable): Promise<void> {
    const idle = setTimeout(
      () => body.destroy(new ObjectStoreUnavailable(`the object store did not ${what}: silent for ${idleMs} ms`)),
      idleMs,
    );
    try {
      const { value, done } = await chunks.next();
      if (stream.destroyed) return;
      if (done !== true) {
        received += value.length;
        stream.push(value);
      } else if (sizeBytes !== undefined && received !== sizeBytes) {
        stream.destroy(
          new ObjectStoreUnavailable(`the object store did not ${what}: ${received} of ${sizeBytes} bytes`),
        );
      } else {
        stream.push(null);
      }
    } catch (error) {
      stream.destroy(asError(s3Error(error, what)));
    } finally {
      clearTimeout(idle);
    }
  }

  const stream = new Readable({
    read() {
      void readNext(this);
    },
    destroy(error, done) {
      body.destroy();
      done(error);
    },
  });
  return signal === undefined ? stream : addAbortSignal(signal, stream);
}

export type S3Signer = {
  /** Made for the address that clients use: the signature covers the host name. It never connects. */
  client: S3Client;
  bucket: string;
  maxLifetimeSeconds: number;
  clock: Clock;
};

/** Signs a link to an object. It ends with the credentials that signed it, if those do, even if it says a later time: so it says theirs. */
export async function s3Presign(signer: S3Signer, key: string, options: PresignOptions): Promise<PresignedLink> {
  const { client, bucket, clock } = signer;
  // S3 counts in whole seconds from the second of the signature.
  const signedAt = Math.floor(clock.now().getTime() / 1000);
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: key,
    ResponseContentDisposition: contentDisposition(options.fileName),
    ResponseContentType: options.contentType,
  });
  try {
    const { expiration } = await client.config.credentials();
    const credentialSeconds = expiration === undefined ? Infinity : expiration.getTime() / 1000 - signedAt;
    const lifetime = Math.floor(Math.min(options.lifetimeSeconds, signer.maxLifetimeSeconds, credentialSeconds));
    if (lifetime < 1) throw new ObjectStoreUnavailable('the credentials that sign links have expired');
    const url = await getSignedUrl(client, command, { expiresIn: lifetime, signingDate: new Date(signedAt * 1000) });
    return { url, expiresAt: new Date((signedAt + lifetime) * 1000) };
  } catch (error) {
    throw s3Error(error, `sign a link to ${key}`);
  }
}

/** `Date` is cut to seconds: on average the store's clock was half a second further. */
const HALF_A_SECOND = 500;

/** How far the store's clock is ahead, in milliseconds, from the `Date` header of one answer; also a refusal has it. */
export async function s3ClockSkewMs({ client, bucket, call }: S3Objects, clock: Clock): Promise<number> {
  const command = new HeadBucketCommand({ Bucket: bucket });
  let storeTime = Number.NaN;
  // The innermost step, before the SDK makes an error of the answer.
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      storeTime = Date.parse(dateHeader(result.response));
      return result;
    },
    { step: 'deserialize', priority: 'low' },
  );
  const asked = clock.now().getTime();
  await call({ what: 'tell the time' }, async (http) => {
    await client.send(command, http).catch((error: unknown) => {
      if (s3Refusal(error) === undefined) throw error;
    });
  });
  const answered = clock.now().getTime();
  if (Number.isNaN(storeTime)) throw new ObjectStoreUnavailable('the object store answers without a Date header');
  return Math.round(storeTime + HALF_A_SECOND - (asked + answered) / 2);
}

function dateHeader(response: unknown): string {
  if (typeof response !== 'object' || response === null || !('headers' in response)) return '';
  const { headers } = response;
  return typeof headers === 'object' && headers !== null && 'date' in headers ? String(headers.date) : '';
}
