import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Clock } from '#shared/clock/clock.ts';
import { attachmentDisposition } from './content-disposition.ts';
import type { PresignedLink, PresignOptions } from './object-store.ts';
import { ObjectStoreUnavailable } from './object-store-unavailable.ts';
import { s3Error } from './s3-error.ts';

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
    ResponseContentDisposition: attachmentDisposition(options.fileName),
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
