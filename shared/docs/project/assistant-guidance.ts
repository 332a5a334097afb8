import { z } from 'zod';

/** Instructions of a site's authors for the assistant. They go to a language model and are never a page. */
export const assistantGuidanceSchema = z.object({
  /** The text of `.mintlify/Assistant.md`. */
  instructions: z.string().optional(),
  /** The files `.mintlify/assistant/skills/<slug>/skill.md`, sorted by slug. */
  skills: z.array(z.object({ slug: z.string(), name: z.string(), description: z.string(), text: z.string() })),
});

export type AssistantGuidance = z.infer<typeof assistantGuidanceSchema>;
