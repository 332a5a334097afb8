import type { z } from 'zod';
import { Poison } from '#shared/runtime/failures.ts';

/** A message that does not match the schema of its subject; the text names subject, sequence and field. */
export class BadMessage extends Poison {
  override name = 'BadMessage';
}

export type StoredMessage = { subject: string; seq: number; data: Uint8Array };

/** Parses one stored message. Throws `UnknownEvent` for a type or version that this program does not know, else `BadMessage`. */
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
  const issue = result.error.issues[0];
  const path = issue?.path.map(String) ?? [];
  const field = path.at(-1);
  if ((field === 'type' || field === 'version') && (path.includes('events') || path.length === 1)) {
    throw new UnknownEvent(
      `${where} has an event of a type or version that this program does not know (${path.join('.')}). A newer program wrote it: update this one.`,
    );
  }
  throw new BadMessage(`${where} is wrong at "${path.join('.')}": ${issue?.message}.`);
}

/** A message of a type or version that this program does not know. Skipping it would leave a hole in the state. */
export class UnknownEvent extends Poison {
  override name = 'UnknownEvent';
}
