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
  const unknown = result.error.issues.find((issue) => isUnknownValue(issue, json));
  if (unknown !== undefined) {
    throw new NewerMessage(
      `${where} has an event, version or value that this program does not know (${unknown.path.join('.')}). A newer program wrote it: update this one.`,
    );
  }
  const issue = result.error.issues[0];
  throw new BadMessage(`${where} is wrong at "${issue?.path.join('.')}": ${issue?.message}.`);
}

/** True for a value that is present, but not among those that the schema lists. */
function isUnknownValue(issue: z.core.$ZodIssue, json: unknown): boolean {
  const isListed = issue.code === 'invalid_value' || (issue.code === 'invalid_union' && 'discriminator' in issue);
  if (!isListed) return false;
  let value = json;
  for (const key of issue.path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  return typeof value === 'string' || typeof value === 'number';
}
