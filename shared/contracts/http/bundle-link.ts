import { z } from 'zod';
import { jobId, sha256Hex, timestamp } from '../identifiers.ts';

/** Answer of `POST …/jobs/{jobId}/bundle`. */
export const bundleLinkSchema = z.object({
  jobId,
  bundleUrl: z.string(),
  expiresAt: timestamp,
  sizeBytes: z.int(),
  sha256: sha256Hex,
});

export type BundleLink = z.infer<typeof bundleLinkSchema>;

/** Body of the gateway's call to the link-signer. */
export const signLinkBodySchema = z.object({ jobId });
