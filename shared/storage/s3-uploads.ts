import { addAbortSignal, type Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { asError } from '#shared/runtime/failures.ts';
import { objectDescription, type PutOptions } from './object-store.ts';
import { pageCheck, requireStored } from './s3-answers.ts';
import { type S3Call, s3Refusal } from './s3-client.ts';

/** One bucket, with the client and function for its calls. */
export type S3Bucket = { client: S3Client; bucket: string; call: S3Call };

/** S3 accepts parts of 5 MiB to 5 GiB, and 10,000 of them: enough for 80 GB. */
const partBytes = 8 * 1024 * 1024;
/** Number of parts in flight. With the part that is being filled, some 24 MiB are in memory. */
const partsInFlight = 2;

/**
 * Stores a stream of any length in bounded memory. When anything fails, the stream is destroyed, the parts are removed before this rejects,
 * and the key is unchanged.
 */
export async function s3StreamUpload(s3: S3Bucket, key: string, body: Readable, options: PutOptions): Promise<void> {
  const { signal } = options;
  if (signal !== undefined) addAbortSignal(signal, body);
  const upload = new Upload({
    client: uploadClient(s3, key, body, signal),
    params: { Bucket: s3.bucket, Key: key, Body: body, ...objectToStore(options) },
    partSize: partBytes,
    queueSize: partsInFlight,
  });
  try {
    await upload.done();
  } catch (error) {
    body.destroy();
    if (signal?.aborted) throw signal.reason;
    throw error;
  }
}

/** Commands whose answers name the stored bytes. */
const storing = [PutObjectCommand, UploadPartCommand];

/**
 * A client for `Upload` that keeps the guarantees of the port:
 * - Every call ends, because it goes through `call`.
 * - The first call that fails ends the stream, so that no part follows it and no caller waits for further bytes.
 * - An upload that cannot be finished is aborted, which `Upload` leaves to its caller.
 */
function uploadClient(
  { client, call }: S3Bucket,
  key: string,
  body: Readable,
  signal: AbortSignal | undefined,
): S3Client {
  const abort = (command: AbortMultipartUploadCommand) =>
    // Parts that cannot be removed now are left to the sweep.
    call({ what: `abort the upload of ${key}` }, (http) => client.send(command, http)).catch(() => {});
  const send = async (command: PutObjectCommand): Promise<unknown> => {
    if (command instanceof AbortMultipartUploadCommand) return abort(command);
    const { Body } = command.input;
    const bytes = Body instanceof Uint8Array ? Body.length : 0;
    try {
      const what = `store ${key}`;
      const answer = await call({ what, signal, bytes }, (http) => client.send(command, http));
      if (storing.some((kind) => command instanceof kind)) requireStored(answer, what);
      return answer;
    } catch (error) {
      body.destroy(asError(error));
      if (command instanceof CompleteMultipartUploadCommand) {
        const { Bucket, Key, UploadId } = command.input;
        await abort(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
      }
      throw error;
    }
  };
  return Object.create(client, { send: { value: send } }) as S3Client;
}

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
