import { hash } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import {
  NotCopied,
  objectDescription,
  type ObjectParts,
  ObjectStoreUnavailable,
  type PutOptions,
} from './object-store.ts';
import { misread, pageCheck, requireStored } from './s3-answers.ts';
import { type S3Call, s3Refusal } from './s3-client.ts';

/** One bucket, with the client and function for its calls. */
export type S3Bucket = { client: S3Client; bucket: string; call: S3Call };

/** The object from which parts are copied. `read` returns its bytes from `start` up to `end` (not included). */
export type S3Source = {
  key: string;
  version: string | undefined;
  read(start: number, end: number): Promise<Readable>;
};

/** S3 accepts parts of 5 MiB (except for the last) to 5 GiB, and 10,000 of them: enough for 80 GB. */
const leastPartBytes = 5 * 1024 * 1024;
const partBytes = 8 * 1024 * 1024;
/** Size of a copied part. A store copies it within the timeout of a call. */
const copiedBytes = 128 * 1024 * 1024;
/** Number of parts in flight. With the part that is being filled, some 24 MiB are in memory. */
const partsInFlight = 2;

/**
 * Stores an object of any length in bounded memory. Runs of parts that are in `source` are copied by the store from 5 MiB on; a run beside a part
 * below 5 MiB gives some of its bytes to that part, and these are read from the source. When anything fails, the parts are removed before this
 * rejects, and the key is unchanged.
 */
export async function s3Upload(
  s3: S3Bucket,
  key: string,
  parts: ObjectParts,
  options: PutOptions,
  source?: S3Source,
): Promise<void> {
  const upload = openUpload(s3, key, options, source !== undefined);
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let run: { start: number; end: number } | undefined;

  const sendWaiting = async (): Promise<void> => {
    const body = Buffer.concat(waiting, waitingBytes);
    [waiting, waitingBytes] = [[], 0];
    await upload.send(body);
  };
  const add = async (bytes: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const piece of upload.whileItWorks(bytes)) {
      for (let at = 0; at < piece.length; ) {
        const taken = piece.subarray(at, at + partBytes - waitingBytes);
        at += taken.length;
        waiting.push(taken);
        waitingBytes += taken.length;
        if (waitingBytes === partBytes) await sendWaiting();
      }
    }
  };
  const endRun = async (): Promise<void> => {
    if (run === undefined) return;
    if (source === undefined)
      throw new Error(`parts of ${key} name the same parts of another object, but not the object`);
    const { start, end } = run;
    run = undefined;
    const missing = waitingBytes === 0 ? 0 : Math.max(0, leastPartBytes - waitingBytes);
    const from = end - start - missing < leastPartBytes ? end : start + missing;
    if (from > start) await add(wholeRange(source, start, from));
    if (from === end) return;
    if (waitingBytes > 0) await sendWaiting();
    // Equal pieces, so that none is too short.
    const pieces = Math.ceil((end - from) / copiedBytes);
    const place = (piece: number): number => from + Math.floor(((end - from) * piece) / pieces);
    for (let piece = 0; piece < pieces; piece++) await upload.copy(source, place(piece), place(piece + 1));
  };

  try {
    for await (const { same, read } of parts) {
      if (same !== undefined && run?.end === same.at) {
        run.end += same.sizeBytes;
        continue;
      }
      await endRun();
      if (same !== undefined) run = { start: same.at, end: same.at + same.sizeBytes };
      else await add(read());
    }
    await endRun();
    await upload.finish(Buffer.concat(waiting, waitingBytes));
  } catch (error) {
    throw await upload.giveUp(error);
  }
}

/** The bytes of a range of the source. Rejects with `NotCopied` if it has fewer, which happens on stores that ignore `version`. */
async function* wholeRange(source: S3Source, start: number, end: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of (await source.read(start, end)) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    yield piece;
  }
  if (bytes !== end - start) throw notCopied(source.key, new Error(`it has ${bytes} of ${end - start} bytes`));
}

/**
 * One upload: a single call if all bytes come with `finish`, otherwise one of several parts. The first call that fails ends it: no part follows, and
 * nobody waits for further bytes.
 *
 * `withCopies`: stores give copied parts the checksum of their source, or none (versitygw 1.8), so the parts have no checksums, and those that are
 * sent have an MD5 instead.
 */
function openUpload({ client, bucket, call }: S3Bucket, key: string, options: PutOptions, withCopies: boolean) {
  const what = `store ${key}`;
  const target = { Bucket: bucket, Key: key };
  const { signal } = options;
  /** Parts in flight are not aborted by it: the store might still take one that it has received, after the upload was given up. */
  const failed = new AbortController();
  const ends = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
  const inFlight = new Set<Promise<void>>();
  const stored: CompletedPart[] = [];
  let uploadId: string | undefined;
  /** Key of the object from which parts were copied. */
  let copiedFrom: string | undefined;

  async function begin(): Promise<string> {
    const { ChecksumAlgorithm, ...described } = objectToStore(options);
    const command = new CreateMultipartUploadCommand({
      ...target,
      ...described,
      ...(!withCopies && { ChecksumAlgorithm }),
    });
    const begun = await call({ what, signal }, (http) => client.send(command, http));
    if (!begun.UploadId) throw misread(what, 'it named no upload');
    return begun.UploadId;
  }

  /** Resolves when the call has begun. */
  async function part(store: (of: Part) => Promise<CompletedPart>): Promise<void> {
    uploadId ??= await begin();
    const of = { ...target, UploadId: uploadId, PartNumber: stored.push({}) };
    while (inFlight.size >= partsInFlight) await Promise.race(inFlight);
    ends.throwIfAborted();
    const running = store(of)
      .then((done) => void (stored[of.PartNumber - 1] = { ...done, PartNumber: of.PartNumber }))
      .catch((error: unknown) => failed.abort(error))
      .finally(() => inFlight.delete(running));
    inFlight.add(running);
  }

  return {
    /** The bytes, until the upload fails or its caller's signal aborts. */
    whileItWorks: (bytes: AsyncIterable<Uint8Array>): Readable =>
      addAbortSignal(ends, bytes instanceof Readable ? bytes : Readable.from(bytes, { objectMode: false })),

    send: (body: Uint8Array): Promise<void> =>
      part(async (of) => {
        const checked = withCopies
          ? { ContentMD5: hash('md5', body, 'base64') }
          : { ChecksumAlgorithm: 'CRC32' as const };
        const command = new UploadPartCommand({ ...of, ...checked, Body: body });
        const sent = await call({ what, signal, bytes: body.length }, (http) => client.send(command, http));
        requireStored(sent, what);
        return { ETag: sent.ETag, ...(sent.ChecksumCRC32 && { ChecksumCRC32: sent.ChecksumCRC32 }) };
      }),

    copy: (source: S3Source, start: number, end: number): Promise<void> =>
      part(async (of) => {
        const command = new UploadPartCopyCommand({
          ...of,
          CopySource: `${bucket}/${source.key.split('/').map(encodeURIComponent).join('/')}`,
          CopySourceRange: `bytes=${start}-${end - 1}`,
          CopySourceIfMatch: source.version,
        });
        const copying = call({ what, signal, bytes: end - start }, (http) => client.send(command, http));
        const { CopyPartResult: copied = {} } = await copying.catch((error: unknown) => {
          throw error instanceof ObjectStoreUnavailable && s3Refusal(error)?.status !== 501
            ? error
            : notCopied(source.key, error);
        });
        requireStored(copied, what);
        copiedFrom = source.key;
        return { ETag: copied.ETag };
      }),

    async finish(body: Uint8Array): Promise<void> {
      if (uploadId === undefined) {
        const command = new PutObjectCommand({ ...target, ...objectToStore(options), Body: body });
        const { length: bytes } = body;
        requireStored(await call({ what, signal, bytes }, (http) => client.send(command, http)), what);
        return;
      }
      if (body.length > 0) await this.send(body);
      await Promise.all(inFlight);
      ends.throwIfAborted();
      const command = new CompleteMultipartUploadCommand({
        ...target,
        UploadId: uploadId,
        MultipartUpload: { Parts: stored },
      });
      await call({ what, signal }, (http) => client.send(command, http)).catch((error: unknown) => {
        // Stores that require parts of equal sizes refuse those beside copied ones only here.
        throw copiedFrom === undefined || error instanceof ObjectStoreUnavailable
          ? error
          : notCopied(copiedFrom, error);
      });
    },

    /** Ends an upload that cannot be finished, and returns the error that ended it. Parts that cannot be removed now are left to the sweep. */
    async giveUp(cause: unknown): Promise<unknown> {
      const reason = ends.aborted ? ends.reason : cause;
      failed.abort(reason);
      await Promise.all(inFlight);
      if (uploadId !== undefined) {
        const command = new AbortMultipartUploadCommand({ ...target, UploadId: uploadId });
        await call({ what: `abort the upload of ${key}` }, (http) => client.send(command, http)).catch(() => {});
      }
      return reason;
    },
  };
}

type Part = { Bucket: string; Key: string; UploadId: string; PartNumber: number };

export const notCopied = (key: string, cause: unknown): NotCopied =>
  new NotCopied(`parts of ${key} could not be copied`, { cause });
/** Parameters of the calls that create an object. The SDK adds the CRC-32 of each body. */
export function objectToStore(options: PutOptions) {
  const { contentType, metadata } = objectDescription(options);
  return {
    ChecksumAlgorithm: 'CRC32' as const,
    Metadata: { ...metadata },
    ...(contentType === undefined ? {} : { ContentType: contentType }),
  };
}

/**
 * Aborts all multipart uploads that began before `olderThan`, a time of the store's clock, and returns their number. A store without
 * lifecycle rules would keep their parts forever.
 */
export async function s3SweepUploads({ client, bucket, call }: S3Bucket, olderThan: Date): Promise<number> {
  const what = 'list unfinished uploads';
  const checkPage = pageCheck(what);
  let swept = 0;
  let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {};
  while (from !== undefined) {
    const list: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({ Bucket: bucket, ...from });
    const page = await call({ what }, (http) => client.send(list, http));
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Initiated === undefined || Initiated >= olderThan) continue;
      const abort = new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId });
      try {
        await call({ what: `abort the upload of ${Key}` }, (http) => client.send(abort, http));
        swept++;
      } catch (error) {
        if (s3Refusal(error)?.code !== 'NoSuchUpload') throw error; // The upload was finished in the meantime.
      }
    }
    const { IsTruncated, NextKeyMarker, NextUploadIdMarker } = page;
    if (IsTruncated === true) checkPage(`${NextKeyMarker} ${NextUploadIdMarker}`);
    from =
      IsTruncated === true && NextKeyMarker !== undefined
        ? { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker }
        : undefined;
  }
  return swept;
}
