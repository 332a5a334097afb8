import type { AnswerPart } from '#shared/contracts/answer-part.ts';
import { brokenOff, uiMessageWire } from '#shared/interfaces/http/answer-wire.ts';
import type { AnswerKey, AnswerReading } from '#shared/messaging/answer-parts.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';

/** Time without a part after which the assistant counts as lost. It sends a sign of life every five seconds. */
export const lostAfterMs = 20_000;
/** Time for which a reader waits while the bus is unavailable. */
const outageMs = 60_000;

export type FollowedAnswer = {
  /** Id of the thread, from the first event; '' if it has not come yet. */
  threadId: string;
  /** The events of the answer in order, each once, until its end. */
  events: AsyncGenerator<string>;
};

type Followed = {
  reading: AnswerReading;
  key: AnswerKey;
  /** Number of the last event that the reader has; 0 if none. */
  after: number;
  /** Aborts when the reader is gone. */
  gone: AbortSignal;
  lostAfterMs?: number;
};

/**
 * An answer from the event after `after` on: stored parts, then new ones as they come. If the assistant is lost, the answer ends with an error, as when it
 * is lost to the reader who asked. Undefined if its beginning is no longer stored.
 */
export async function followAnswer(followed: Followed): Promise<FollowedAnswer | undefined> {
  const { reading, key, after } = followed;
  const arrived: AnswerPart[] = [];
  let wake = (): void => {};
  // New parts are followed before the stored ones are read, so that none is between them.
  const unfollow = reading.onPart(key, (part) => {
    arrived.push(part);
    wake();
  });
  let stored: AnswerPart[];
  try {
    stored = await reading.parts(key);
    if (!stored.some(({ first, count }) => first <= after + 1 && first + count >= after + 1)) {
      unfollow();
      return undefined;
    }
  } catch (error) {
    unfollow();
    throw error;
  }
  const sleep = (ms: number): Promise<'part' | 'late'> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve('late'), ms);
      wake = () => {
        clearTimeout(timer);
        resolve('part');
      };
    });
  followed.gone.addEventListener('abort', () => wake(), { once: true });
  const beginning = stored.find(({ first, count }) => first === 1 && count > 0)?.text ?? '';
  const threadId = /"threadId":"([\w-]+)"/.exec(beginning)?.[1] ?? '';
  return { threadId, events: eventsOf({ ...followed, stored, arrived, sleep, unfollow, threadId }) };
}

type Following = Followed & {
  stored: AnswerPart[];
  arrived: AnswerPart[];
  sleep: (ms: number) => Promise<'part' | 'late'>;
  unfollow: () => void;
  threadId: string;
};

async function* eventsOf({
  reading,
  key,
  after,
  gone,
  stored,
  arrived,
  sleep,
  unfollow,
  threadId,
  lostAfterMs: withinMs = lostAfterMs,
}: Following): AsyncGenerator<string> {
  const { keepAlive } = uiMessageWire('plain');
  let next = after + 1;
  let parts = stored;
  try {
    for (;;) {
      let hasGap = false;
      let text = '';
      for (const part of parts) {
        if (part.first > next) hasGap = true;
        else {
          text += eventsFrom(part, next);
          next = Math.max(next, part.first + part.count);
          if (part.state === 'ended') return void (yield text);
        }
      }
      // A part without events is a sign of life, also for proxies between here and the reader.
      if (text !== '') yield text;
      else if (parts.length > 0) yield keepAlive;
      if (gone.aborted) return;
      const isLate = !hasGap && arrived.length === 0 && (await sleep(withinMs)) === 'late';
      if (gone.aborted) return;
      if (!hasGap && !isLate) {
        parts = arrived.splice(0);
        continue;
      }
      // Parts were missed, or none came. The bus has them, or the assistant is lost.
      const read = await storedParts();
      parts = read.parts;
      const isFurther = parts.some(
        (part) => part.first <= next && (part.first + part.count > next || isEnd(part, next)),
      );
      // After an outage the assistant needs a moment, too.
      if (!isFurther && !read.wasAway)
        return void (yield brokenOff(uiMessageWire(stored[0]?.client ?? 'plain'), threadId));
    }
  } finally {
    unfollow();
  }

  async function storedParts(): Promise<{ parts: AnswerPart[]; wasAway: boolean }> {
    arrived.length = 0;
    let wasAway = false;
    for (const until = performance.now() + outageMs; ; ) {
      try {
        const read = withDeadline(reading.parts(key), outageMs, () => new Unavailable('no answer of the bus'));
        return { parts: await read, wasAway };
      } catch (error) {
        if (!(error instanceof Unavailable) || gone.aborted || performance.now() > until) throw error;
        wasAway = true;
        await sleep(retryMs);
      }
    }
  }
}

const retryMs = 500;

const isEnd = (part: AnswerPart, next: number): boolean => part.state === 'ended' && part.first + part.count === next;

/** The events of a part from this number on. Pure. */
function eventsFrom({ first, count, text }: AnswerPart, next: number): string {
  if (next <= first) return text;
  if (next >= first + count) return '';
  const events = text.split('\n\n').slice(next - first);
  return events.join('\n\n');
}
