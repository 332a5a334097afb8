import { addAbortSignal, type Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { ObjectDescription } from './object-store.ts';
import { type S3Call, s3Refusal } from './s3-client.ts';

/** One bucket, and how to call it: what the parts of the S3 adapter share. */
export type S3Objects = {
  client: S3Client;
  bucket: string;
  call: S3Call;
  put(key: string, body: Uint8Array, description: ObjectDescription, options: S3PutOptions): Promise<void>;
};

export type S3PutOptions = {
  signal?: AbortSignal | undefined;
  /** Refused by the store (status 412) if the key exists. */
  onlyIfAbsent?: boolean;
};

export function s3Objects(client: S3Client, bucket: string, call: S3Call): S3Objects {
  return {
    client,
    bucket,
    call,
    async put(key, body, description, { signal, onlyIfAbsent = false }) {
      const command = new PutObjectCommand({
        Bucket: bucket,
        Key: key,
        Body: body,
        ...describedForS3(description),
        ChecksumCRC32: s3Checksum(body),
        ...(onlyIfAbsent ? { IfNoneMatch: '*' } : {}),
      });
      await call({ what: `store ${key}`, signal, bytes: body.length }, (http) => client.send(command, http));
    },
  };
}

/** The parameters of the calls that create an object. */
export function describedForS3({ contentType, metadata }: ObjectDescription) {
  return { Metadata: { ...metadata }, ...(contentType === undefined ? {} : { ContentType: contentType }) };
}

/** CRC-32 as S3 writes it: four bytes, big end first, base64. */
export function s3Checksum(bytes: Uint8Array): string {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(bytes));
  return checksum.toString('base64');
}

/** S3 takes parts of 5 MiB to 5 GiB, and 10,000 of them: enough for 80 GB. */
const PART_BYTES = 8 * 1024 * 1024;
/** On their way at once; with the one that is being filled, 24 MiB are in memory. */
const PARTS_IN_FLIGHT = 2;

/**
 * Stores a stream of any length in bounded memory. Whatever fails, the parts are removed before this rejects and the key is as it was;
 * the stream is destroyed then.
 */
export async function s3StreamUpload(
  s3: S3Objects,
  key: string,
  body: Readable,
  description: ObjectDescription,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal !== undefined) addAbortSignal(signal, body);
  const inFlight = new Set<Promise<void>>();
  let upload: MultipartUpload | undefined;
  try {
    for await (const { bytes, last } of cutIntoParts(body, PART_BYTES)) {
      if (last && upload === undefined) return await s3.put(key, bytes, description, { signal });
      upload ??= await startMultipartUpload(s3, key, description, signal);
      const sending = upload.send(bytes);
      inFlight.add(sending);
      // Without this a stream that pauses would hide the failure until its next bytes.
      sending.then(
        () => inFlight.delete(sending),
        (error: Error) => body.destroy(error),
      );
      if (inFlight.size >= PARTS_IN_FLIGHT) await Promise.race(inFlight);
    }
    await Promise.all(inFlight);
    await upload?.complete();
  } catch (error) {
    body.destroy();
    // A part that arrives after the abort would stay for ever.
    await Promise.allSettled(inFlight);
    await upload?.abort();
    if (signal?.aborted) throw signal.reason;
    throw error;
  }
}

/** An object that is sent in parts. Nothing is under the key before `complete`. */
export type MultipartUpload = {
  /** Parts are numbered in the order of the calls. */
  send(bytes: Uint8Array): Promise<void>;
  complete(): Promise<void>;
  /** Removes what was sent. Never rejects: what cannot be removed now is left to the sweep. */
  abort(): Promise<void>;
};

export async function startMultipartUpload(
  { client, bucket, call }: S3Objects,
  key: string,
  description: ObjectDescription,
  signal: AbortSignal | undefined,
): Promise<MultipartUpload> {
  const target = { Bucket: bucket, Key: key };
  const create = new CreateMultipartUploadCommand({
    ...target,
    ...describedForS3(description),
    ChecksumAlgorithm: 'CRC32',
  });
  const created = await call({ what: `begin to store ${key}`, signal }, (http) => client.send(create, http));
  const upload = { ...target, UploadId: created.UploadId };
  const parts: CompletedPart[] = [];

  return {
    async send(bytes) {
      const part = { PartNumber: parts.length + 1, ChecksumCRC32: s3Checksum(bytes) };
      const completed: CompletedPart = { ...part };
      parts.push(completed);
      const command = new UploadPartCommand({ ...upload, ...part, Body: bytes });
      const what = `store part ${part.PartNumber} of ${key}`;
      const sent = await call({ what, signal, bytes: bytes.length }, (http) => client.send(command, http));
      completed.ETag = sent.ETag;
    },
    async complete() {
      // With the checksum of every part: Versity's gateway refuses what leaves one out.
      const command = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } });
      await call({ what: `finish ${key}`, signal }, (http) => client.send(command, http));
    },
    async abort() {
      const command = new AbortMultipartUploadCommand(upload);
      await call({ what: `give up ${key}` }, (http) => client.send(command, http)).catch(() => {});
    },
  };
}

export type Part = { bytes: Uint8Array; last: boolean };

/**
 * Cuts a stream into parts of exactly `partBytes` and a last one of at most that (empty only if the stream is). A part is given out when
 * it is known whether it is the last, so one that is being filled is in memory and no more.
 */
export async function* cutIntoParts(body: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Part, void> {
  let part = Buffer.allocUnsafe(partBytes);
  let filled = 0;
  for await (const chunk of body) {
    for (let from = 0; from < chunk.length; ) {
      if (filled === partBytes) {
        yield { bytes: part, last: false };
        part = Buffer.allocUnsafe(partBytes);
        filled = 0;
      }
      const taken = Math.min(partBytes - filled, chunk.length - from);
      part.set(chunk.subarray(from, from + taken), filled);
      filled += taken;
      from += taken;
    }
  }
  yield { bytes: part.subarray(0, filled), last: true };
}

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
