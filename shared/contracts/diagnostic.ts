import { z } from 'zod';

/** Something an author should know about a file of the project. */
export const diagnosticSchema = z.object({
  severity: z.enum(['error', 'warning', 'info']),
  /** Stable, in kebab-case: `unknown-component`, `bad-frontmatter`, `page-too-large`. */
  code: z.string().regex(/^[a-z0-9-]+$/),
  /** A sentence: what is wrong and what to do. */
  message: z.string(),
  /** Path in the project. */
  file: z.string(),
  line: z.int().min(1).optional(),
  column: z.int().min(1).optional(),
});

export type Diagnostic = z.infer<typeof diagnosticSchema>;
