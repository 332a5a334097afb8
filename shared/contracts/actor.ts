import { z } from 'zod';

/** Who caused a change: an API key (its id, never the key), the operator's token, or a service on its own account. */
export const actorSchema = z.object({ kind: z.enum(['key', 'operator', 'service']), id: z.string().min(1).max(100) });

export type Actor = z.infer<typeof actorSchema>;
