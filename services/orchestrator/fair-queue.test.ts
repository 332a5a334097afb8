import { describe, expect, test } from 'vitest';
import type { OrganizationPlan } from '#shared/contracts/identifiers.ts';
import { type FairQueue, fairQueue, type WaitingJob } from './fair-queue.ts';

type Job = WaitingJob & { id: string };
const job = (id: string, organization: string): Job => ({ id, organization, servedAt: 0 });
type Plans = Record<string, OrganizationPlan>;

/** The organizations that are served while `waiting` returns those with work, with one job each. */
function serve(turns: number, waiting: (turn: number) => Plans): string[] {
  const queue = fairQueue<Job>();
  const jobs = new Map<string, Job>();
  return Array.from({ length: turns }, (_, turn) => {
    const plans = waiting(turn);
    for (const [name, plan] of Object.entries(plans)) {
      const own = jobs.get(name) ?? job(name, name);
      jobs.set(name, own);
      queue.put(own, plan);
    }
    for (const [name, own] of jobs) if (plans[name] === undefined) queue.remove(own);
    return queue.next()?.organization ?? '';
  });
}

const count = (served: string[], organization: string) => served.filter((name) => name === organization).length;

test('an empty queue serves nobody', () => {
  const queue = fairQueue<Job>();
  expect(queue.next()).toBeUndefined();
  const only = job('only', 'acme');
  queue.put(only, 'pro');
  queue.remove(only);
  expect([queue.next(), queue.size]).toEqual([undefined, 0]);
});

test('a new organization first gets its share in a row, then equal shares take turns, one chunk each', () => {
  expect(serve(12, () => ({ a: 'pro', b: 'pro' })).join('')).toBe('aabbabababab');
});

test('shares decide how much each gets', () => {
  const served = serve(700, () => ({ free: 'free', pro: 'pro', enterprise: 'enterprise' }));
  expect(['free', 'pro', 'enterprise'].map((name) => count(served, name))).toEqual([100, 200, 400]);
});

test('an organization with a larger share is served more often, not in longer rows', () => {
  const served = serve(65, () => ({ L: 'enterprise', s: 'free' })).slice(5);
  expect(count(served, 's')).toBe(12);
  expect(served.join('')).not.toMatch(/LLLLL|ss/);
});

test('a new organization is served next although another of its plan has much work', () => {
  const served = serve(
    20,
    (turn): Plans => (turn < 9 ? { large: 'enterprise' } : { large: 'enterprise', small: 'enterprise' }),
  );
  expect(served.indexOf('small')).toBe(9);
});

test('those that come together are served one after the other', () => {
  const left: Record<string, number> = { a: 3, b: 3, c: 3 };
  const queue = fairQueue<Job>();
  for (const name of Object.keys(left)) queue.put(job(name, name), 'enterprise');
  const served: string[] = [];
  for (let next = queue.next(); next !== undefined; next = queue.next()) {
    served.push(next.id);
    left[next.id] = (left[next.id] ?? 0) - 1;
    if (left[next.id] === 0) queue.remove(next);
  }
  expect(served.join('')).toBe('aaabbbccc');
});

test('an organization without work saves nothing up', () => {
  const served = serve(
    48,
    (turn): Plans => (turn > 0 && turn < 40 ? { b: 'enterprise' } : { a: 'enterprise', b: 'enterprise' }),
  );
  expect(count(served.slice(40), 'a')).toBe(4);
});

test('jobs of one organization take turns, the oldest first, and a new one is next', () => {
  const queue = fairQueue<Job>();
  queue.put(job('1', 'acme'), 'pro');
  queue.put(job('2', 'acme'), 'pro');
  const served = [queue.next(), queue.next(), queue.next()];
  queue.put(job('3', 'acme'), 'pro');
  served.push(queue.next(), queue.next(), queue.next(), queue.next());
  expect(served.map((each) => each?.id).join('')).toBe('1213213');
});

test('a job at its last step goes first, and the organizations keep their places', () => {
  const queue = fairQueue<Job>();
  const [large, small] = [job('large', 'globex'), job('small', 'acme')];
  queue.put(large, 'free');
  queue.put(small, 'free');
  expect([queue.next()?.id, queue.next()?.id, queue.next()?.id]).toEqual(['large', 'small', 'large']);
  queue.put(large, 'free', { lastStep: true });
  expect(queue.next()?.id).toBe('large');
  queue.remove(large);
  expect([queue.next()?.id, queue.size]).toEqual(['small', 1]);
});

test('ten thousand jobs of a thousand organizations all have their turns', () => {
  const queue = fairQueue<Job>();
  for (let at = 0; at < 10_000; at += 1) queue.put(job(String(at), `org${at % 1_000}`), 'free');
  const served = Array.from({ length: 10_000 }, () => queue.next());
  expect(new Set(served.slice(0, 10_000)).size).toBe(10_000);
  expect(new Set(served.slice(0, 1_000).map((each) => each?.organization)).size).toBe(1_000);
});

describe('an organization whose units take many turns', () => {
  /** The organizations that are served, where each unit of `slow` takes eleven turns. */
  function serveSlow(
    turns: number,
    left: Record<string, number>,
    afterUnit: (queue: FairQueue<Job>) => void = () => {},
  ) {
    const queue = fairQueue<Job>();
    const jobs = Object.keys(left).map((name) => job(name, name));
    for (const each of jobs) queue.put(each, 'free');
    const served: string[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const next = queue.next();
      if (next === undefined) break;
      served.push(next.organization);
      left[next.organization] = (left[next.organization] ?? 0) - 1;
      if ((left[next.organization] ?? 0) <= 0) queue.remove(next);
      if (next.organization === 'slow') queue.charge('slow', 'free', 10);
      afterUnit(queue);
    }
    return served;
  }

  test('gets its share of the time, not of the units', () => {
    const served = serveSlow(120, { slow: 100, quick: 1_000 });
    expect(count(served, 'quick')).toBe(110);
    expect(count(served, 'slow')).toBe(10);
  });

  test('gets all of it while nobody else waits, and owes nothing for that', () => {
    expect(serveSlow(9, { slow: 100 })).toHaveLength(9);
    const queue = fairQueue<Job>();
    const slow = job('1', 'slow');
    queue.put(slow, 'free');
    queue.next();
    queue.remove(slow);
    queue.charge('slow', 'free', 1_000);
    queue.put(job('2', 'quick'), 'free');
    queue.put(job('3', 'slow'), 'free');
    expect([queue.next(), queue.next(), queue.next()].map((each) => each?.organization)).toEqual([
      'quick',
      'slow',
      'quick',
    ]);
  });

  test('is not served first when it comes back, nor at the last step of a job', () => {
    const queue = fairQueue<Job>();
    const quick = job('q', 'quick');
    const slow = job('s1', 'slow');
    queue.put(slow, 'free');
    queue.put(quick, 'free');
    expect([queue.next()?.id, queue.next()?.id]).toEqual(['s1', 'q']);
    queue.remove(slow);
    queue.charge('slow', 'free', 4);
    queue.put(job('s2', 'slow'), 'free');
    queue.put(job('s3', 'slow'), 'free', { lastStep: true });
    const served = Array.from({ length: 8 }, () => queue.next()?.organization ?? '');
    expect(served.slice(0, 4)).toEqual(['quick', 'quick', 'quick', 'quick']);
    expect(count(served, 'slow')).toBeGreaterThan(0);
  });

  test('that leaves before it is charged comes back with that debt', () => {
    const served: string[] = [];
    const queue = fairQueue<Job>();
    queue.put(job('q', 'quick'), 'free');
    for (let turn = 0; turn < 60; turn += 1) {
      // Each job has one unit, and leaves the queue as soon as that is handed out.
      const one = job(String(turn), 'slow');
      if (served.at(-1) !== 'slow') queue.put(one, 'free');
      const next = queue.next();
      served.push(next?.organization ?? '');
      if (next?.organization !== 'slow') continue;
      queue.remove(next);
      queue.charge('slow', 'free', 9);
    }
    expect(count(served, 'quick')).toBeGreaterThan(50);
  });
});
