import { addAbortSignal, Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { create as contentDisposition } from 'content-disposition';
import { asError, messageOf } from '#shared/runtime/failures.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import {
  longestLinkSeconds,
  checkObjectKey,
  checkObjectPrefix,
  type ObjectStore,
  ObjectStoreUnavailable,
  type PutOptions,
  type StreamOptions,
} from './object-store.ts';
import { followStoreClock, skewOf } from './s3-clock.ts';
import {
  boundAnswers,
  defaultTimeoutMs,
  s3Calls,
  s3ClientConfig,
  s3Error,
  type S3ObjectStoreSettings,
  s3Refusal,
} from './s3-client.ts';
import { misread, pageCheck, requireStored } from './s3-answers.ts';
import { notCopied, objectToStore, s3SweepUploads, s3Upload } from './s3-uploads.ts';

/** Tries when another conditional write to the same key is in flight (status 409): S3 recommends to repeat the request. */
const conflictAttempts = 5;

/** Objects in a bucket of an S3 API. The bucket has to exist (`createS3Bucket`). */
export function s3ObjectStore(settings: S3ObjectStoreSettings): ObjectStore {
  const { bucket, endpoint, publicEndpoint = endpoint, clock = systemClock, timeoutMs = defaultTimeoutMs } = settings;
  const client = new S3Client(s3ClientConfig(settings, endpoint));
  // A client for the address that clients use, because the signature covers the host name. It never connects.
  const signer = new S3Client(s3ClientConfig(settings, publicEndpoint));
  boundAnswers(client);
  const storeClock = followStoreClock(client, clock);
  const call = s3Calls(timeoutMs);
  const s3 = { client, bucket, call };

  function target(key: string) {
    checkObjectKey(key);
    return { Bucket: bucket, Key: key };
  }

  async function put(key: string, body: Uint8Array, options: PutOptions = {}, condition = {}): Promise<void> {
    const command = new PutObjectCommand({ ...target(key), ...objectToStore(options), ...condition, Body: body });
    const { signal } = options;
    const what = `store ${key}`;
    const stored = await call({ what, signal, bytes: body.length }, (http) => client.send(command, http));
    requireStored(stored, what);
  }

  async function open(
    key: string,
    { signal, range, ifMatch }: StreamOptions & { ifMatch?: string | undefined } = {},
  ): Promise<Readable | undefined> {
    const command = new GetObjectCommand({
      ...target(key),
      ...(range === undefined ? {} : { Range: `bytes=${range.start}-${range.end ?? ''}` }),
      IfMatch: ifMatch,
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
    if (range === undefined && found.ContentRange !== undefined) {
      found.Body.destroy();
      throw misread(`send ${key}`, `it sent only the part ${found.ContentRange.slice(0, 100)} of the object`);
    }
    return bodyStream(found.Body, key, found.ContentLength, timeoutMs, signal);
  }

  return {
    put: (key, body, options) => put(key, body, options),

    async putIfAbsent(key, body, options) {
      for (let attempt = 1; ; attempt++) {
        try {
          await put(key, body, options, { IfNoneMatch: '*' });
          return true;
        } catch (error) {
          const status = s3Refusal(error)?.status;
          if (status === 412) return false;
          if (status !== 409 || attempt === conflictAttempts) throw error;
        }
      }
    },

    async putStream(key, body, options = {}) {
      checkObjectKey(key);
      await s3Upload(s3, key, [{ read: () => body }], options);
    },

    async putParts(key, parts, { other, metadata, ...options }) {
      checkObjectKey(key);
      const source = other && {
        ...other,
        async read(start: number, end: number) {
          const { version: ifMatch } = other;
          const found = await open(other.key, { ...options, range: { start, end: end - 1 }, ifMatch }).catch(
            (error: unknown) => {
              throw s3Refusal(error)?.status === 412 || error instanceof RangeError
                ? notCopied(other.key, error)
                : error;
            },
          );
          if (found === undefined) throw notCopied(other.key, undefined);
          return found;
        },
      };
      await s3Upload(s3, key, parts, { ...options, metadata: await metadata() }, source);
    },

    copiesParts: true,

    async get(key, options) {
      const stream = await open(key, options);
      return stream === undefined ? undefined : wholeOf(stream, key);
    },

    getStream: (key, options) => open(key, options),

    async head(key, { signal } = {}) {
      const command = new HeadObjectCommand(target(key));
      const found = await call({ what: `describe ${key}`, signal }, (http) => client.send(command, http)).catch(absent);
      if (found === undefined) return undefined;
      const { ContentLength, LastModified = new Date(0), Metadata = {}, ETag } = found;
      if (ContentLength === undefined) throw misread(`describe ${key}`, 'its answer has no size');
      const head = { sizeBytes: ContentLength, modifiedAt: LastModified, metadata: Metadata };
      return ETag === undefined ? head : { ...head, version: ETag };
    },

    async *list(prefix, { signal } = {}) {
      checkObjectPrefix(prefix);
      const what = `list ${prefix}`;
      const checkPage = pageCheck(what);
      let from: string | undefined;
      do {
        const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: from });
        const page: ListObjectsV2CommandOutput = await call({ what, signal }, (http) => client.send(command, http));
        const { Contents = [], IsTruncated, NextContinuationToken } = page;
        // A listing that is truncated or empty by mistake would make objects look absent, and garbage collection would then remove objects that they
        // reference.
        if (IsTruncated === undefined) throw misread(what, 'its answer is not a list');
        if (IsTruncated && !NextContinuationToken) throw misread(what, 'it did not say where the list continues');
        if (IsTruncated) checkPage(Contents.at(-1)?.Key);
        for (const { Key, Size = 0, LastModified = new Date(0) } of Contents) {
          if (Key === undefined || !Key.startsWith(prefix)) {
            throw misread(what, `it listed ${JSON.stringify(Key ?? '').slice(0, 200)}`);
          }
          // A key that ends with a slash is a folder made with another tool.
          if (!Key.endsWith('/')) yield { key: Key, sizeBytes: Size, modifiedAt: LastModified };
        }
        from = IsTruncated ? NextContinuationToken : undefined;
      } while (from !== undefined);
    },

    async remove(key, { signal } = {}) {
      const command = new DeleteObjectCommand(target(key));
      await call({ what: `remove ${key}`, signal }, (http) => client.send(command, http)).catch(absent);
    },

    async presign(key, { lifetimeSeconds, fileName, contentType }) {
      const command = new GetObjectCommand({
        ...target(key),
        ResponseContentDisposition: contentDisposition(fileName),
        ResponseContentType: contentType,
      });
      // S3 counts whole seconds from the second of the signature.
      const ourSecond = Math.floor(clock.now().getTime() / 1000);
      const signedAt = ourSecond + storeClock.aheadSeconds();
      try {
        // A link stops working when the credentials that signed it expire, whatever its own end is, so the earlier end is returned.
        const { expiration } = await signer.config.credentials();
        const credentialSeconds = expiration === undefined ? Infinity : expiration.getTime() / 1000 - signedAt;
        const lifetime = Math.floor(Math.min(lifetimeSeconds, longestLinkSeconds, credentialSeconds));
        if (lifetime < 1) throw new ObjectStoreUnavailable('the credentials that sign links have expired');
        const signing = { expiresIn: lifetime, signingDate: new Date(signedAt * 1000) };
        const url = await getSignedUrl(signer, command, signing);
        // Clients take all other times from our clock, so the end is given by our clock, too.
        return { url, expiresAt: new Date((ourSecond + lifetime) * 1000) };
      } catch (error) {
        throw s3Error(error, `sign a link to ${key}`);
      }
    },

    sweepUnfinishedUploads: (olderThan) => s3SweepUploads(s3, olderThan),

    /** Measured with the `Date` header of one answer, which a refusal has, too. */
    async clockSkewMs() {
      const url = await getSignedUrl(client, new HeadBucketCommand({ Bucket: bucket }));
      const asked = clock.now().getTime();
      const { headers } = await call({ what: 'tell the time' }, ({ abortSignal }) =>
        fetch(url, { method: 'HEAD', redirect: 'manual', signal: abortSignal }).catch((error: unknown) => {
          throw new ObjectStoreUnavailable(`the object store does not answer: ${messageOf(error)}`, { cause: error });
        }),
      );
      const answered = clock.now().getTime();
      const skewMs = skewOf(headers.get('date'), asked, answered);
      if (skewMs === undefined) throw new ObjectStoreUnavailable('the object store answers without a Date header');
      return skewMs;
    },

    async check({ signal } = {}) {
      const command = new HeadBucketCommand({ Bucket: bucket });
      await call({ what: `open the bucket ${bucket}`, signal }, (http) => client.send(command, http));
    },

    async close() {
      client.destroy();
      signer.destroy();
    },
  };
}

/** Largest object that is read into memory as a whole. Larger ones are read as streams. */
const mostWholeBytes = 256 * 1024 * 1024;

async function wholeOf(stream: Readable, key: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of stream as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    // Leaving the loop closes the connection.
    if (bytes > mostWholeBytes) throw misread(`send ${key}`, `it sent more than ${mostWholeBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** For calls about an object that may not exist: undefined if it does not, otherwise throws. */
function absent(error: unknown): undefined {
  const refusal = s3Refusal(error);
  if (refusal?.status === 404 && refusal.code !== 'NoSuchBucket') return undefined;
  throw error;
}

/**
 * The body of a download. Fails when the store is silent for `idleMs` while a reader waits for bytes (a paused reader does not count), when
 * the body ends before `sizeBytes`, and when `signal` aborts. Closes the connection when destroyed.
 */
function bodyStream(
  body: Readable,
  key: string,
  sizeBytes: number | undefined,
  idleMs: number,
  signal: AbortSignal | undefined,
): Readable {
  const what = `send all of ${key}`;
  const chunks: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  let received = 0;
  // The stream has no listener before the first read. The iterator throws earlier errors.
  body.on('error', () => {});

  const unavailable = (why: string) => new ObjectStoreUnavailable(`the object store did not ${what}: ${why}`);

  async function readNext(stream: Readable): Promise<void> {
    const idle = setTimeout(() => body.destroy(unavailable(`it sent nothing for ${idleMs} ms`)), idleMs);
    try {
      const { value, done } = await chunks.next();
      if (stream.destroyed) return;
      if (done === true && sizeBytes !== undefined && received !== sizeBytes) {
        throw unavailable(`it sent only ${received} of ${sizeBytes} bytes`);
      }
      received += value?.length ?? 0;
      stream.push(done === true ? null : value);
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
