import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { changeWait, heartbeatMs, newestRevisions } from './newest-revisions.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type View = { revision: number; commitId: string; lost?: { commitId: string }[] };
const view = (revision: number, more: Partial<View> = {}): View => ({ revision, commitId: `c${revision}`, ...more });

/** A stream whose changes and reads a test decides. */
function stream(first?: View) {
  const stop = new AbortController();
  const state = {
    tell: (_view: View): void => {},
    watches: 0,
    read: async (): Promise<View | undefined> => undefined,
  };
  const watch = (listener: (seen: View) => void) => {
    state.watches += 1;
    state.tell = listener;
    return () => void (state.watches -= 1);
  };
  const views = newestRevisions<View>({ first, watch, read: () => state.read() }, stop.signal);
  const next = async () => {
    const { value, done } = await views.next();
    return done === true ? 'ended' : value === 'quiet' ? value : value.revision;
  };
  return { stop, state, next, views };
}

test('changes while one is sent are not missed: the newest of them follows', async () => {
  const { next, state } = stream(view(1));
  expect(await next()).toBe(1);
  state.tell(view(2));
  state.tell(view(4));
  state.tell(view(3));
  expect(await next()).toBe(4);
  const waiting = next();
  state.tell(view(5));
  expect(await waiting).toBe(5);
});

test('after each silence it is read again, and a change that was lost on the way follows', async () => {
  const { next, state } = stream(view(1));
  expect(await next()).toBe(1);
  state.read = () => Promise.reject(new Error('the bus is unavailable'));
  const first = next();
  await vi.advanceTimersByTimeAsync(heartbeatMs);
  expect(await first).toBe('quiet');
  state.read = async () => view(7);
  const second = next();
  await vi.advanceTimersByTimeAsync(heartbeatMs);
  expect([await second, await next()]).toEqual(['quiet', 7]);
});

test('the first read fails the stream only if nothing is known yet', async () => {
  const refused = () => Promise.reject(new Error('the bus is unavailable'));
  const known = stream(view(1));
  known.state.read = refused;
  expect(await known.next()).toBe(1);
  const unknown = stream();
  unknown.state.read = refused;
  await expect(unknown.next()).rejects.toThrow('unavailable');
  expect(unknown.state.watches).toBe(0);
});

test('an abort ends a stream that waits, and nothing is watched afterwards', async () => {
  const { next, state, stop } = stream(view(1));
  expect(await next()).toBe(1);
  const waiting = next();
  await vi.advanceTimersByTimeAsync(1);
  expect(state.watches).toBe(1);
  stop.abort();
  expect([await waiting, state.watches]).toEqual(['ended', 0]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a wait ends at once for a change that was told before it, and once for each', async () => {
  const { signal } = new AbortController();
  const changes = changeWait(signal);
  changes.tell();
  changes.tell();
  expect(await changes.wait(10)).toBe(true);
  const second = changes.wait(10);
  await vi.advanceTimersByTimeAsync(10);
  expect(await second).toBe(false);
});
