import { ApiError } from '#shared/http/errors.ts';
import type { BusConnection } from '#shared/messaging/bus.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';

/** Detects outages of the bus, so that no client waits for it. */
export type BusOutage = {
  /**
   * The result of `ask`. Rejects with `unavailable` as soon as the bus is unreachable, and without calling `ask` if it already is. The signal of
   * `cut` aborts in the first case.
   */
  orGone<T>(ask: (cut: () => AbortSignal) => Promise<T>, about?: AskedAbout): Promise<T>;
};

type AskedAbout = {
  /** True for a change: if it was cut off, it may have been stored, and the error says so. */
  changes?: boolean;
  /** Resolves when the client has sent everything. Until then the request may outlast an outage. */
  arrived?: Promise<unknown>;
};

const pauseMs = 100;
/** Time limit for a ping, enough for a busy machine. */
const answerWithinMs = 1_200;
/** Length of an outage after which requests fail. A shorter one, such as the restart of a server, only delays them. */
const goneAfterMs = 1_000;
const retryAfterSeconds = 2;

/** Pings the bus up to ten times a second, until `stopping` aborts. */
export function watchBus(bus: Pick<BusConnection, 'ping'>, logger: Logger, stopping: AbortSignal): BusOutage {
  let gone = false;
  const waiting = new Set<() => void>();

  let failingSince: number | undefined;
  async function look(): Promise<void> {
    const askedAt = performance.now();
    const late = () => new Error(`no answer within ${answerWithinMs} ms`);
    const answers = await withDeadline(bus.ping(), answerWithinMs, late).then(
      () => true,
      () => false,
    );
    if (answers) {
      if (gone) logger.info('the bus answers again');
      gone = false;
      failingSince = undefined;
    } else {
      failingSince ??= askedAt;
      if (!gone && performance.now() - failingSince >= goneAfterMs) {
        gone = true;
        logger.warn({ requests: waiting.size }, 'the bus is unreachable: requests that need it are answered with 503');
        for (const cutOff of waiting) cutOff();
      }
    }
    if (!stopping.aborted) setTimeout(() => void look(), pauseMs).unref();
  }
  void look();

  return {
    async orGone(ask, { changes = false, arrived } = {}) {
      if (gone) throw new ApiError('unavailable', undefined, { retryAfterSeconds });
      let cut: AbortController | undefined;
      let cutOff: () => void = () => {};
      const isGone = new Promise<never>((_, reject) => {
        cutOff = () => {
          const error = new ApiError('unavailable', changes ? mayBeStored : undefined, { retryAfterSeconds });
          reject(error);
          cut?.abort(error);
        };
      });
      let isAnswered = false;
      const mayBeCutOff = (): void => {
        if (isAnswered) return;
        waiting.add(cutOff);
        if (gone) cutOff();
      };
      if (arrived === undefined) waiting.add(cutOff);
      else void arrived.then(mayBeCutOff);
      try {
        return await Promise.race([ask(() => (cut ??= new AbortController()).signal), isGone]);
      } finally {
        isAnswered = true;
        waiting.delete(cutOff);
      }
    },
  };
}

const mayBeStored =
  'A needed system became unavailable while the change was being stored. It may have been stored or not: check when the system is back, or repeat the request.';

const changing = new Set<PropertyKey>(['append', 'record', 'put', 'remove']);
/** Methods that continue through outages, or concern the connection itself. */
const lasting = new Set<PropertyKey>(['watch', 'check', 'ping', 'close']);

/** Wraps a part of the bus. Its promises and histories fail with `unavailable` when the bus is unreachable. */
export function failingFast<T extends object>(part: T, outage: BusOutage): T {
  return new Proxy(part, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member === 'object' && member !== null) return failingFast(member, outage);
      if (typeof member !== 'function' || lasting.has(name)) return member;
      return (...given: unknown[]): unknown => {
        if (changing.has(name))
          return outage.orGone(async () => await Reflect.apply(member, target, given), { changes: true });
        const answer: unknown = Reflect.apply(member, target, given);
        if (answer instanceof Promise) {
          // When the bus is unreachable, nothing else handles the rejection.
          answer.catch(() => {});
          return outage.orGone(() => answer);
        }
        return isIterable(answer) ? eachOrGone(answer, outage) : answer;
      };
    },
  });
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

async function* eachOrGone(items: AsyncIterable<unknown>, outage: BusOutage): AsyncGenerator {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await outage.orGone(() => iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // This is not awaited, because it would hang as well.
    void iterator.return?.()?.catch(() => {});
  }
}
