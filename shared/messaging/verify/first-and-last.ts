import type { StoredText } from '#shared/messaging/log/event-log.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';

/** A message of a stream. `time`: the time that it names; absent if it is unreadable. */
type Entry = { subject: string; sequence: number; time?: string };

/** The verified messages with the lowest and the highest sequence; absent if there are none. */
export type Ends = { first?: Entry; last?: Entry };

/** Finds the ends of messages that come in any order. */
export function firstAndLast() {
  let first: StoredText | undefined;
  let last: StoredText | undefined;
  return {
    add(messages: readonly StoredText[]): void {
      for (const message of messages) {
        if (first === undefined || message.sequence < first.sequence) first = message;
        if (last === undefined || message.sequence > last.sequence) last = message;
      }
    },
    found: (): Ends => ({
      ...(first !== undefined && { first: entryOf(first) }),
      ...(last !== undefined && { last: entryOf(last) }),
    }),
  };
}

const longestTime = 40;

function entryOf({ subject, sequence, text }: StoredText): Entry {
  const { time } = { ...(jsonIn(text) as { time?: unknown } | undefined) };
  return { subject, sequence, ...(typeof time === 'string' && { time: time.slice(0, longestTime) }) };
}
