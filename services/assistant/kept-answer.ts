import { setTimeout as delay } from 'node:timers/promises';
import type { AnswerPart } from '#shared/contracts/answer-part.ts';
import type { AnswerKey, AnswerWriting } from '#shared/messaging/answer-parts.ts';
import type { BusTraffic } from '#shared/messaging/bus.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import type { AnswerSignals } from './answer-signals.ts';
import type { ResumableBudget } from './resumable-budget.ts';

/** Time that an answer goes on without a reader. */
export const unreadMs = 60_000;
/** Interval between two parts of an answer. Each costs a message, and delays only readers who come back. */
const partEveryMs = 50;
/** Interval of parts without events, while the model says nothing. A reader waits several of them before the assistant counts as lost. */
const signOfLifeMs = 5_000;
/** A stream that does not answer must not delay the first words. */
const beginWithinMs = 2_500;
/** A message of the bus holds 1 MB, and a lost stream gets the whole answer again. The rest is for the other fields. */
const mostBytes = 1_000_000;
const retryEveryMs = 500;
/** Time after the end of an answer in which its last part is still tried. */
const endWithinMs = 10_000;

/** The reader pressed "stop", here or in another tab. */
export class AnswerStopped extends Error {
  override name = 'AnswerStopped';
}

/** Nobody has read the answer for a while. */
export class AnswerUnread extends Error {
  override name = 'AnswerUnread';
}

export type KeptAnswerContext = {
  bus: { writtenAnswers: AnswerWriting; traffic: () => Pick<BusTraffic, 'disconnects'> };
  signals: AnswerSignals;
  budget: ResumableBudget;
  logger: Pick<Logger, 'warn'>;
  unreadMs: number;
};

export type AnswerToKeep = {
  key: AnswerKey;
  /** Restricted groups of the asker. */
  groups: readonly string[];
  client: AnswerPart['client'];
  /** Time at which the question arrived, in milliseconds of `performance.now()`. */
  askedAtMs: number;
};

/** An answer whose events are also stored, so that a reader can come back to it. */
export type KeptAnswer = {
  /** Aborts with `AnswerStopped` or `AnswerUnread`. */
  ended: AbortSignal;
  /** Stores whole events soon. `count`: their number. */
  write(events: string, count: number): void;
  /** The connection of the reader who asked has ended. Others may read. */
  readerLeft(): void;
  /** Stores the rest, and that the answer has ended. Resolves when it is stored or given up. */
  end(): Promise<void>;
};

/**
 * Begins to store an answer. Returns undefined if it cannot be stored: the budget of the organization is used up, or the stream does not answer. The
 * answer is then given as one that cannot be resumed.
 */
export async function keepAnswer(context: KeptAnswerContext, answer: AnswerToKeep): Promise<KeptAnswer | undefined> {
  const { bus, signals, budget, logger } = context;
  const { key, groups, client } = answer;
  const ended = new AbortController();
  /** The events that the stream has, and those that it does not have yet. */
  const stored = { texts: [] as string[], bytes: 0, count: 0 };
  let waiting = { text: '', count: 0 };
  let [sequence, disconnects] = [0, bus.traffic().disconnects];
  let state: 'open' | 'ending' | 'given up' = 'open';
  let lastPartAt = 0;
  /** True while earlier parts may be lost, until the whole is stored again. */
  let mayLack = false;

  async function store(
    first: number,
    { text, count }: typeof waiting,
    bytes: number,
    isEnd: boolean,
  ): Promise<boolean> {
    if (!budget.take(key.organization, bytes)) throw new NoRoom();
    const part: AnswerPart = {
      ...{ type: 'AnswerPart', version: 1, first, count, text, state: isEnd ? 'ended' : 'open' },
      groups: [...groups],
      client,
    };
    const before = { sequence, disconnects };
    disconnects = bus.traffic().disconnects;
    sequence = await bus.writtenAnswers.append(key, part);
    lastPartAt = performance.now();
    return sequence > before.sequence && disconnects === before.disconnects;
  }

  async function storeRest(): Promise<void> {
    const rest = waiting;
    const isEnd = state === 'ending';
    const bytes = storedBytes(rest.text);
    if (stored.bytes + bytes > mostBytes) throw new NoRoom();
    if (!(await store(stored.count + 1, rest, bytes, isEnd))) mayLack = true;
    stored.texts.push(rest.text);
    stored.bytes += bytes;
    stored.count += rest.count;
    waiting = { text: waiting.text.slice(rest.text.length), count: waiting.count - rest.count };
    // The server was away, or the stream was made again, and earlier parts may be lost.
    if (mayLack) await store(1, { text: stored.texts.join(''), count: stored.count }, stored.bytes, isEnd);
    mayLack = false;
  }

  try {
    const late = () => new Unavailable(`no answer within ${beginWithinMs} ms`);
    await withDeadline(storeRest(), beginWithinMs, late);
  } catch (error) {
    if (!(error instanceof NoRoom))
      logger.warn({ err: error }, 'an answer is not resumable, because its stream does not store it');
    return undefined;
  }

  let isDirect = true;
  let unread: NodeJS.Timeout | undefined;
  const waitForReader = (): void => {
    clearTimeout(unread);
    if (isDirect || ended.signal.aborted || state === 'ending') return;
    // Nobody can come back to an answer that is no longer stored.
    const withinMs = state === 'given up' ? 0 : context.unreadMs;
    unread = setTimeout(() => ended.abort(new AnswerUnread('Nobody reads the answer.')), withinMs);
  };
  const readerLeft = (): void => {
    isDirect = false;
    waitForReader();
  };
  const stop = () => ended.abort(new AnswerStopped('The reader stopped the answer.'));
  const forget = signals.listen(key.chat, key.answerId, (kind) => {
    if (kind === 'stop') stop();
    else if (kind === 'left') readerLeft();
    else waitForReader();
  });
  if (signals.wasStopped(key.chat, answer.askedAtMs)) stop();

  let wake = (): void => {};
  const sleep = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, signOfLifeMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  async function storeParts(): Promise<void> {
    while (state === 'open') {
      if (waiting.count === 0 && !mayLack && performance.now() - lastPartAt < signOfLifeMs) await sleep();
      else {
        await tryToStore();
        await delay(partEveryMs);
      }
    }
  }

  async function tryToStore(): Promise<boolean> {
    try {
      await storeRest();
      return true;
    } catch (error) {
      if (error instanceof Unavailable) await delay(retryEveryMs);
      else {
        state = 'given up';
        if (!(error instanceof NoRoom)) logger.warn({ err: error }, 'an answer is no longer resumable');
      }
      return false;
    }
  }
  const storing = storeParts();

  return {
    ended: ended.signal,
    write(events, number) {
      if (state !== 'open') return;
      if (waiting.text.length + events.length > mostBytes) state = 'given up';
      // The object is replaced, because a part that is being stored has the one before.
      waiting = { text: waiting.text + events, count: waiting.count + number };
      wake();
    },
    readerLeft,
    async end() {
      clearTimeout(unread);
      const mayEnd = state === 'open';
      if (mayEnd) state = 'ending';
      wake();
      await storing;
      const until = performance.now() + endWithinMs;
      let isStored = !mayEnd;
      while (!isStored && state === 'ending' && performance.now() < until) isStored = await tryToStore();
      forget();
    },
  };
}

/** Size of a text in a stored part: a character has up to six bytes there. */
const storedBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** The organization's storage for answers of ten minutes is used up, or a message of the bus cannot hold the answer. */
class NoRoom extends Error {
  override name = 'NoRoom';
}
