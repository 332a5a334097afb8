import { expect, test } from 'vitest';
import { deploymentQueue } from './deployment-queue.ts';

/** A queue whose deployments end when the test says so. */
function queueOf() {
  const queue = deploymentQueue();
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    queue,
    add: (site: string, isLarge = false): void => {
      const [organization = ''] = site.split('/');
      const run = () =>
        new Promise<void>((resolve) => {
          started.push(site);
          ends.set(site, resolve);
        });
      queue.add({ site, organization, isLarge, run });
    },
    end: async (site: string): Promise<void> => {
      ends.get(site)?.();
      // The queue continues in promises that resolve after that of the deployment.
      for (let at = 0; at < 5; at += 1) await Promise.resolve();
    },
  };
}

test('three deployments of usual size and one large one run at once', async () => {
  const { add, end, started } = queueOf();
  for (const site of ['a/1', 'b/1', 'c/1', 'f/1']) add(site);
  for (const site of ['d/1', 'e/1']) add(site, true);
  expect(started).toEqual(['a/1', 'b/1', 'c/1', 'd/1']);
  await end('d/1');
  expect(started.slice(4)).toEqual(['e/1']);
  await end('b/1');
  expect(started.slice(5)).toEqual(['f/1']);
});

test('an organization with many sites does not delay another one', async () => {
  const { add, end, started } = queueOf();
  for (let at = 0; at < 100; at += 1) add(`a/${at}`);
  expect(started).toEqual(['a/0', 'a/1']);
  add('b/1');
  expect(started.slice(2)).toEqual(['b/1']);
  add('b/2');
  add('c/1');
  await end('a/1');
  expect(started.slice(3)).toEqual(['c/1']);
  await end('b/1');
  expect(started.slice(4)).toEqual(['b/2']);
  await end('c/1');
  expect(started.slice(5)).toEqual(['a/2']);
});

test('an organization with many large deployments delays those of usual size not at all, and a large one by one', async () => {
  const { add, end, started } = queueOf();
  for (let at = 0; at < 10; at += 1) add(`a/${at}`, true);
  add('b/1');
  add('a/small');
  add('b/large', true);
  expect(started).toEqual(['a/0', 'b/1', 'a/small']);
  await end('a/0');
  expect(started.slice(3)).toEqual(['b/large']);
});

test('a site runs once at a time, and once more if it was added meanwhile', async () => {
  const { add, end, started, queue } = queueOf();
  add('a/1');
  add('a/1');
  add('a/1');
  expect([started, queue.isRunning('a/1')]).toEqual([['a/1'], true]);
  await end('a/1');
  expect(started).toEqual(['a/1', 'a/1']);
  await end('a/1');
  expect([started.length, queue.counts()]).toEqual([2, { waiting: 0, running: 0 }]);
});

test('a site that was removed does not run', async () => {
  const { add, end, started, queue } = queueOf();
  for (const site of ['a/1', 'a/2', 'a/3', 'a/1']) add(site);
  queue.remove('a/3');
  queue.remove('a/1');
  await end('a/1');
  await end('a/2');
  expect([started, queue.counts()]).toEqual([['a/1', 'a/2'], { waiting: 0, running: 0 }]);
});
