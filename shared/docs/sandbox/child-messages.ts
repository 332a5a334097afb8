import { z } from 'zod';
import { type FrameLimits, Misfit } from './frames.ts';

/** Where both sides have their end of the pipe between them. */
export const channelDescriptor = 3;

/** What a service says to its child. */
export type ToChild =
  | { kind: 'request'; id: number; request: unknown }
  | { kind: 'answer'; question: number; answer: unknown }
  | { kind: 'no-answer'; question: number; message: string };

const id = z.int().min(1);
export const mostName = 100;
export const mostMessage = 2_000;

/** What a child says. What is in a question and a response, the schemas of the request say. */
const fromChildSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ready') }),
  z.strictObject({ kind: z.literal('question'), id, question: id, content: z.unknown().optional() }),
  z.strictObject({ kind: z.literal('response'), id, response: z.unknown().optional() }),
  z.strictObject({
    kind: z.literal('failure'),
    id,
    name: z.string().max(mostName),
    message: z.string().max(mostMessage),
  }),
]);

export type FromChild = z.infer<typeof fromChildSchema>;

/** Questions of a child that wait for their answers at the same time; it keeps further ones to itself. */
export const mostOpenQuestions = 8;

const mb = 1024 * 1024;

/**
 * Limits of one message of a child. They bound what a child can make its service hold, 20 or so times the JSON at worst, and how long it can make it
 * stand still: a million values with names of their own take about two seconds. The largest honest messages are the packed pages of a chunk as bytes
 * and the passages of large pages as JSON.
 */
export const fromChildLimits: FrameLimits = { jsonBytes: 64 * mb, bytes: 256 * mb, values: 400_000 };

/** Limits for a child that answers with the model of a whole site, of 100,000 pages at most. */
export const fromProjectChildLimits: FrameLimits = { jsonBytes: 128 * mb, bytes: 256 * mb, values: 8_000_000 };

/** A service is trusted: it may have read files of any size. */
export const toChildLimits: FrameLimits = { jsonBytes: 2 ** 32, bytes: 2 ** 32, values: Infinity };

/** A message of a child. Throws `Misfit`. */
export const fromChild = (message: unknown): FromChild => fitting(fromChildSchema, message, 'a message');

const mostReason = 200;

/** What a child said, by its schema. `what`: as in "a message". Throws `Misfit`, also where the value is too deep for the schema. */
export function fitting<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  let result: z.ZodSafeParseResult<T>;
  try {
    result = schema.safeParse(value);
  } catch {
    throw new Misfit(`it sent ${what} that cannot be checked`);
  }
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const at = issue === undefined || issue.path.length === 0 ? '' : ` at ${JSON.stringify(issue.path.join('.'))}`;
  throw new Misfit(
    `it sent ${what} of another shape${at}: ${issue?.message ?? ''}`.slice(0, mostReason).toWellFormed(),
  );
}
