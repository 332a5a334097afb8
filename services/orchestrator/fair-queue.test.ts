import { expect, test } from 'vitest';
import type { OrganizationPlan } from '#shared/contracts/identifiers.ts';
import { fairQueue, type WaitingJob } from './fair-queue.ts';

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
