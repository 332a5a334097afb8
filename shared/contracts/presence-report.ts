import { z } from 'zod';

/** What a worker says of itself every second (`presence.<service>.<instance>`). */
export const presenceReportSchema = z.object({
  service: z.string(),
  instance: z.string(),
  time: z.iso.datetime({ precision: 3 }),
  /** What a renderer renders with; other workers leave it out. */
  rendererVersion: z.string().optional(),
  slots: z.int().min(0),
  freeSlots: z.int().min(0),
  /** `taskId`s in hand. */
  tasks: z.array(z.string()),
  /** It takes no new task: it is going away. */
  draining: z.boolean(),
});

export type PresenceReport = z.infer<typeof presenceReportSchema>;
