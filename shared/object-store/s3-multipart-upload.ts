import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { ObjectDescription } from './object-description.ts';
import { s3Checksum } from './s3-checksum.ts';
import { describedForS3, type S3Objects } from './s3-objects.ts';

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
