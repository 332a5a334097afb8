import { z } from 'zod';

/** A page that could not be rendered: its path as readers know it (`guides/x`) and why, as a sentence. */
export const failedPageSchema = z.object({ path: z.string(), reason: z.string().max(300) });

export type FailedPage = z.infer<typeof failedPageSchema>;
