import { addAbortSignal, type Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { asError } from '#shared/runtime/failures.ts';
import { objectDescription, type PutOptions } from './object-store.ts';
import { type S3Call, s3Refusal } from './s3-client.ts';

/** One bucket, and how to call it. */
export type S3Bucket = { client: S3Client; bucket: string; call: S3Call };

/** S3 takes parts of 5 MiB to 5 GiB, and 10,000 of them: enough for 80 GB. */
const partBytes = 8 * 1024 * 1024;
/** Sent at the same time. With the one that is being filled, some 24 MiB are in memory. */
const partsInFlight = 2;

/**
 * Stores a stream of any length in bounded memory. When anything fails, the stream is destroyed, the parts are removed before this
 * rejects, and the key is as it was.
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

/**
 * The client as `Upload` needs it to keep what the port promises:
 * - Every call ends, because it goes through `call`.
 * - The first call that fails ends the stream, so that no part follows it and nobody waits for further bytes.
 * - An upload that cannot be finished is aborted. `Upload` leaves that to us.
 */
function uploadClient(
  { client, call }: S3Bucket,
  key: string,
  body: Readable,
  signal: AbortSignal | undefined,
): S3Client {
  const abort = (command: AbortMultipartUploadCommand) =>
    // What cannot be removed now is left to the sweep.
    call({ what: `abort the upload of ${key}` }, (http) => client.send(command, http)).catch(() => {});
  const send = async (command: PutObjectCommand): Promise<unknown> => {
    if (command instanceof AbortMultipartUploadCommand) return abort(command);
    const { Body } = command.input;
    const bytes = Body instanceof Uint8Array ? Body.length : 0;
    try {
      return await call({ what: `store ${key}`, signal, bytes }, (http) => client.send(command, http));
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

/** Parameters of the calls that create an object. The SDK adds the CRC-32 of what each call sends. */
export function objectToStore(options: PutOptions) {
  const { contentType, metadata } = objectDescription(options);
  return {
    ChecksumAlgorithm: 'CRC32' as const,
    Metadata: { ...metadata },
    ...(contentType === undefined ? {} : { ContentType: contentType }),
  };
}

/**
 * Aborts all uploads in parts that began before `olderThan`, a time of the store's clock, and says how many. A store without lifecycle
 * rules would keep their parts forever.
 */
export async function s3SweepUploads({ client, bucket, call }: S3Bucket, olderThan: Date): Promise<number> {
  let swept = 0;
  let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {};
  while (from !== undefined) {
    const list: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({ Bucket: bucket, ...from });
    const page = await call({ what: 'list unfinished uploads' }, (http) => client.send(list, http));
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Initiated === undefined || Initiated >= olderThan) continue;
      const abort = new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId });
      try {
        await call({ what: `abort the upload of ${Key}` }, (http) => client.send(abort, http));
        swept++;
      } catch (error) {
        if (s3Refusal(error)?.code !== 'NoSuchUpload') throw error; // Finished in the meantime.
      }
    }
    const more = page.IsTruncated === true && page.NextKeyMarker !== undefined;
    from = more ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker } : undefined;
  }
  return swept;
}
