import { z } from 'zod';

/** The pages that a request named (`paths`), stored once under the SHA-256 of its canonical JSON; page paths, sorted, each once. */
export const exportSelectionSchema = z.object({ version: z.literal(1), paths: z.array(z.string()).min(1) });

export type ExportSelection = z.infer<typeof exportSelectionSchema>;

export const selectionKey = (organization: string, hash: string): string => `selections/${organization}/${hash}.json`;
