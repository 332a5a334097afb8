import { expect, test } from 'vitest';
import { Unavailable } from '#shared/runtime/failures.ts';
import { organizationTurns } from './organization-turns.ts';

const signal = new AbortController().signal;

/** Pieces of work that the test ends. `begun`: those that have begun, in order. */
function piecesOfWork(atOnce: number, mostOfOne: number) {
  const inTurn = organizationTurns(atOnce, mostOfOne);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    end: (name: string) => ends.get(name)?.(),
    start: (name: string, own: AbortSignal = signal) =>
      inTurn(name.slice(0, 1), own, () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      }),
  };
}

test('one organization has one place, and those that waited longest come next', async () => {
  const { start, end, begun } = piecesOfWork(2, 3);
  const a1 = start('a1');
  const others = [start('a2'), start('b1'), start('c1'), start('b2')];
  await expect.poll(() => begun).toEqual(['a1', 'b1']);
  end('b1');
  await expect.poll(() => begun).toEqual(['a1', 'b1', 'c1']);
  end('c1');
  await expect.poll(() => begun).toEqual(['a1', 'b1', 'c1', 'b2']);
  end('a1');
  await a1;
  await expect.poll(() => begun.at(-1)).toBe('a2');
  end('a2');
  end('b2');
  await Promise.all(others);
});

test('more work of an organization than may wait is refused for now', async () => {
  const { start, end } = piecesOfWork(2, 2);
  const [first, second] = [start('a1'), start('a2')];
  await expect(start('a3')).rejects.toBeInstanceOf(Unavailable);
  end('a1');
  await first;
  const third = start('a3');
  end('a2');
  await second;
  end('a3');
  await third;
});

test('work that waits is given up, and leaves its place to others', async () => {
  const { start, end, begun } = piecesOfWork(1, 3);
  const first = start('a1');
  const gone = new AbortController();
  const second = start('b1', gone.signal);
  const third = start('c1');
  gone.abort(new Error('the service stops'));
  await expect(second).rejects.toThrow('the service stops');
  end('a1');
  await first;
  end('c1');
  await third;
  expect(begun).toEqual(['a1', 'c1']);
});

test('an error is passed on, and the place is free again', async () => {
  const inTurn = organizationTurns(1, 1);
  await expect(inTurn('a', signal, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await inTurn('b', signal, () => Promise.resolve(7))).toBe(7);
});
