import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { ObjectDescription } from './object-description.ts';
import type { S3Call } from './s3-call.ts';
import { s3Checksum } from './s3-checksum.ts';

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
