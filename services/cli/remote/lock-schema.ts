import { z } from 'zod';
import { sha256Hex } from '#shared/contracts/identifiers.ts';

const partSchema = z.object({ sha256: sha256Hex, sizeBytes: z.int().nonnegative(), type: z.string().max(100) });

/** The content of `docs.lock.json`. */
export const lockSchema = z.object({
  lockVersion: z.literal(1),
  pictures: z.boolean().optional(),
  parts: z.record(z.string().max(10_000), partSchema),
});
