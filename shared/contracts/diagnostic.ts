import { z } from 'zod';

/** A problem or remark about a file of the project, for its author. */
export const diagnosticSchema = z.object({
  severity: z.enum(['error', 'warning', 'info']),
  /** Stable, in kebab-case: `unknown-component`, `bad-frontmatter`, `page-too-large`. */
  code: z.string().regex(/^[a-z0-9-]+$/),
  /** A sentence with the problem and its solution. */
  message: z.string(),
  /** Path in the project. */
  file: z.string(),
  line: z.int().min(1).optional(),
  column: z.int().min(1).optional(),
});

export type Diagnostic = z.infer<typeof diagnosticSchema>;
