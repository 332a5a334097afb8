import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { messageOf } from '#shared/runtime/failures.ts';
import { firstProblem, problemText } from '#shared/runtime/problem-text.ts';
import type { AssistantQuestion } from './score-answer.ts';

const pages = z.array(z.string().min(1).max(1_000)).min(1);
/** A misspelt name would make a question that should be refused, so other names are an error. */
const lineSchema = z.strictObject({
  query: z.string().min(1).max(2_000),
  pages: pages.optional(),
  parts: z.array(pages).min(1).max(10).optional(),
  // Fields of "bench search", and of files that have several sites.
  ...{ kind: z.unknown().optional(), language: z.unknown().optional() },
  ...{ exclude: z.unknown().optional(), site: z.unknown().optional() },
});

/**
 * The questions of a file, one per line: `{"query", "pages"}`, or `{"query", "parts"}` with the right pages of each part; without both nothing answers it.
 * @throws a sentence that names the line if one is not a question, or if the file cannot be read or has none
 */
export async function readAssistantQuestions(file: string): Promise<AssistantQuestion[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`The questions in ${file} cannot be read: ${messageOf(error)}.`, { cause: error });
  });
  const questions: AssistantQuestion[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      throw new Error(`Line ${at + 1} of ${file} is not a question: ${messageOf(error)}.`, { cause: error });
    }
    const parsed = lineSchema.safeParse(value, { error: problemText });
    if (!parsed.success)
      throw new Error(`Line ${at + 1} of ${file} is not a question: ${firstProblem(parsed.error, 'it')}.`);
    const { query, pages: right, parts } = parsed.data;
    questions.push({ query, parts: parts ?? (right === undefined ? [] : [right]) });
  }
  if (questions.length === 0)
    throw new Error(`${file} has no questions. Write one per line: {"query": "…", "pages": ["/…"]}.`);
  return questions;
}
