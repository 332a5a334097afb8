import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { messageOf } from '#shared/runtime/failures.ts';
import { failingFast, watchBus } from './bus-outage.ts';

const logger = pino({ level: 'silent' });
let stop: AbortController;
/** Behaviour of a ping of the bus. */
let ping: () => Promise<void>;
const never = () => new Promise<void>(() => {});
const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);

beforeEach(() => {
  vi.useFakeTimers();
  stop = new AbortController();
  ping = async () => {};
});

afterEach(() => {
  stop.abort();
  vi.useRealTimers();
});

const watched = () => watchBus({ ping: () => ping() }, logger, stop.signal);

test.each([
  ['does not answer', never],
  ['refuses', () => Promise.reject(new Error('disconnected'))],
] as const)(
  'a bus that %s for a second is gone: what waits is cut off, what is new is not even asked',
  async (_how, away) => {
    const outage = watched();
    const asked: AbortSignal[] = [];
    const waiting = outage.orGone((cut) => {
      asked.push(cut());
      return never();
    });
    const refused = waiting.catch((error: unknown) => error);
    ping = away;
    await seconds(2);
    expect(await refused).toMatchObject({ code: 'unavailable', retryAfterSeconds: 2 });
    expect(asked[0]?.aborted).toBe(true);
    await expect(outage.orGone(async () => 'asked')).rejects.toMatchObject({ code: 'unavailable' });
    ping = async () => {};
    await seconds(1);
    expect(await outage.orGone(async () => 'asked')).toBe('asked');
  },
);

test('a bus that is away for a moment is waited for', async () => {
  const outage = watched();
  const { promise, resolve } = Promise.withResolvers<string>();
  const waiting = outage.orGone(() => promise);
  ping = () => new Promise((resolve) => setTimeout(resolve, 1_100));
  await seconds(2.4);
  ping = () => Promise.reject(new Error('disconnected'));
  await seconds(0.6);
  ping = async () => {};
  await seconds(5);
  resolve('here');
  expect(await waiting).toBe('here');
});

test('an upload outlasts an outage; one that has arrived is cut off and may be stored', async () => {
  const outage = watched();
  const uploads = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const answered = Promise.withResolvers<string>();
  const asked = [answered.promise, never(), never()].map((answer, at) =>
    outage
      .orGone<unknown>(() => answer, { changes: true, arrived: uploads[at]?.promise ?? never() })
      .catch((error: unknown) => messageOf(error)),
  );
  uploads[2]?.resolve();
  ping = never;
  await seconds(3);
  expect(await asked[2]).toContain('stored or not');
  // The upload is complete while the bus is away.
  uploads[1]?.resolve();
  expect(await asked[1]).toContain('stored or not');
  ping = async () => {};
  await seconds(2);
  uploads[0]?.resolve();
  answered.resolve('published');
  expect(await asked[0]).toBe('published');
});

test('parts of the bus fail fast: answers, histories and what nests, but not watches; cut changes say that they may be stored', async () => {
  const outage = watched();
  const appended: string[] = [];
  const part = failingFast(
    {
      name: 'log',
      last: () => never(),
      append: async (text: string) => {
        appended.push(text);
        await never();
      },
      async *history() {
        yield 1;
        await never();
      },
      async *watch() {
        yield 'going on';
      },
      fail: () => Promise.reject(new Error('late')),
      nested: { get: () => never() },
    },
    outage,
  );
  expect(part.name).toBe('log');
  const history = part.history();
  expect(await history.next()).toEqual({ done: false, value: 1 });
  const failed = async (asked: Promise<unknown>) => await asked.then(() => 'answered', messageOf);
  const cut = [part.last(), part.nested.get(), history.next()].map(failed);
  const change = failed(part.append('a'));
  ping = never;
  await seconds(2);
  for (const each of cut) expect(await each).toContain('no partial effect');
  expect(await change).toContain('stored or not');
  await expect(part.append('b')).rejects.toMatchObject({ message: expect.stringContaining('no partial effect') });
  expect(appended).toEqual(['a']);
  await expect(part.fail()).rejects.toMatchObject({ code: 'unavailable' });
  expect(await part.watch().next()).toEqual({ done: false, value: 'going on' });
});
