import { z } from 'zod';
import { type FrameLimits, Misfit } from './frames.ts';
import { stopsEarly } from './stops-early.ts';

/** File descriptor of the pipe between a service and its child, in both processes. */
export const channelDescriptor = 3;

/** Message from a service to its child. */
export type ToChild =
  | { kind: 'request'; id: number; request: unknown }
  | { kind: 'answer'; question: number; answer: unknown }
  | { kind: 'no-answer'; question: number; message: string };

const id = z.int().min(1);
export const mostName = 100;
export const mostMessage = 2_000;

/** Message from a child. The schemas of each request describe the content of questions and responses. */
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

/** Maximum number of a child's questions in flight. The child queues further ones. */
export const mostOpenQuestions = 8;

const mb = 1024 * 1024;

/**
 * Limits of one message from a child. They limit the memory that a child can make its service allocate (about 20 times the JSON at worst), and the
 * time for which it can block the service: a million values with different names take about two seconds. The largest honest messages are the packed
 * pages of a chunk as bytes and the passages of large pages as JSON.
 */
export const fromChildLimits: FrameLimits = { jsonBytes: 64 * mb, bytes: 256 * mb, values: 400_000, names: 20_000 };

/**
 * Limits for a child that returns the model of a whole site, with at most 100,000 pages. All pages have the same field names. Eight million different
 * names would block its service for half a minute.
 */
export const fromProjectChildLimits: FrameLimits = {
  jsonBytes: 128 * mb,
  bytes: 256 * mb,
  values: 8_000_000,
  names: 100_000,
};

/** Services are trusted and may send files of any size. */
export const toChildLimits: FrameLimits = { jsonBytes: 2 ** 32, bytes: 2 ** 32, values: Infinity, names: Infinity };

/** Parses a message of a child. Throws `Misfit`. */
export const fromChild = (message: unknown): FromChild => fitting(fromChildSchema, message, 'a message');

const mostReason = 200;

/**
 * Parses a value from a child with its schema. `what` names the value in the error, such as "a message". Throws `Misfit`, also if the value is nested
 * too deeply for the schema.
 */
export function fitting<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  let result: z.ZodSafeParseResult<T>;
  try {
    result = stopsEarly(schema).safeParse(value);
  } catch {
    throw new Misfit(`it sent ${what} that cannot be checked`);
  }
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const at = issue === undefined || issue.path.length === 0 ? '' : ` at ${JSON.stringify(issue.path.join('.'))}`;
  throw new Misfit(
    `it sent ${what} with an invalid shape${at}: ${issue?.message ?? ''}`.slice(0, mostReason).toWellFormed(),
  );
}
