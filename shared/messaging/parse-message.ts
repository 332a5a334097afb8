import type { z } from 'zod';
import { NewerMessage, Poison } from '#shared/runtime/failures.ts';

/** A message that does not match the schema of its subject. The text names the subject, sequence and field. */
export class BadMessage extends Poison {
  override name = 'BadMessage';
}

/** A document of a bucket that does not match its schema. Its `revision` lets a caller that can rebuild the document overwrite it. */
export class UnreadableDocument extends BadMessage {
  override name = 'UnreadableDocument';
  readonly revision: number;

  constructor(problem: string, revision: number) {
    super(problem);
    this.revision = revision;
  }
}

/** A document of a bucket that only a newer program can read. It can be overwritten, like an unreadable one. */
export class NewerDocument extends NewerMessage {
  override name = 'NewerDocument';
  readonly revision: number;

  constructor(problem: string, revision: number) {
    super(problem);
    this.revision = revision;
  }
}

/** True for both kinds of documents that this program cannot read. */
export const isUnreadable = (error: unknown): error is UnreadableDocument | NewerDocument =>
  error instanceof UnreadableDocument || error instanceof NewerDocument;

export type StoredMessage = { subject: string; seq: number; data: Uint8Array };

/** Parses one stored message. Throws `NewerMessage` when only a newer program can read it, else `BadMessage`. */
export function parseMessage<T>(message: StoredMessage, schema: z.ZodType<T>): T {
  const where = `message ${message.seq} on ${message.subject}`;
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(message.data));
  } catch {
    throw new BadMessage(`${where} is not JSON.`);
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const { isNewer, problem } = problemOf(result.error, json);
  throw isNewer ? new NewerMessage(`${where} ${problem}`) : new BadMessage(`${where} ${problem}`);
}

/** Parses a document of a bucket. Throws `NewerDocument` when only a newer program can read it, else `UnreadableDocument`. */
export function parseDocument<T>(where: string, bytes: Uint8Array, revision: number, schema: z.ZodType<T>): T {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new UnreadableDocument(`${where} is not JSON.`, revision);
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const { isNewer, problem } = problemOf(result.error, json);
  throw new (isNewer ? NewerDocument : UnreadableDocument)(`${where} ${problem}`, revision);
}

/** The reason why stored JSON does not match its schema, as the end of a sentence. `isNewer`: only a newer program can read it. */
export function problemOf({ issues }: z.ZodError, json: unknown): { isNewer: boolean; problem: string } {
  const unknown = issues.find((issue) => isUnknownValue(issue, json));
  if (unknown !== undefined) {
    const problem = `has an event, version or value that this program does not know (${unknown.path.join('.')}). A newer program wrote it: update this one.`;
    return { isNewer: true, problem };
  }
  const [issue] = issues;
  return { isNewer: false, problem: `is wrong at "${issue?.path.join('.')}": ${issue?.message}.` };
}

/** True for a value that is present, but not among those that the schema lists. */
function isUnknownValue(issue: z.core.$ZodIssue, json: unknown): boolean {
  const isListed = issue.code === 'invalid_value' || (issue.code === 'invalid_union' && 'discriminator' in issue);
  if (!isListed) return false;
  let value = json;
  for (const key of issue.path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  return typeof value === 'string' || typeof value === 'number';
}
