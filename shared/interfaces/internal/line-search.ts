import { z } from 'zod';

/** A search for lines of pages, as `findLines` of the search takes it. */
export const lineSearchSchema = z.object({
  pattern: z.string().max(10_000),
  isExpression: z.boolean(),
  isCaseSensitive: z.boolean(),
  under: z.string().max(2_000),
  after: z.string().max(2_000),
  limit: z.int().min(1).max(1_000),
  around: z.int().min(0).max(50),
});

const foundLine = z.object({
  line: z.int(),
  text: z.string(),
  before: z.array(z.string()),
  after: z.array(z.string()),
});

/** The found lines, as `findLines` of the search returns them. */
export const foundLinesSchema = z.object({
  pages: z.array(z.object({ path: z.string(), title: z.string(), lines: z.array(foundLine), more: z.int() })),
  searched: z.int(),
  next: z.string().optional(),
});
