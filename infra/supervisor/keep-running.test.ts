import { expect, test } from 'vitest';
import { keepRunning, restartDelayMs } from './keep-running.ts';

test('the delay of restarts grows up to a bound', () => {
  expect([1, 2, 3, 4, 20].map(restartDelayMs)).toEqual([100, 200, 400, 800, 5_000]);
});

test('a process that dies is restarted, and a stopped one is not', async () => {
  let restarts = 0;
  let sawSecondEnd: () => void = () => {};
  const secondEnd = new Promise<void>((resolve) => {
    sawSecondEnd = resolve;
  });
  const kept = keepRunning(
    { name: 'short', command: process.execPath, args: ['-e', 'process.exit(3)'], options: { stdio: 'ignore' } },
    (news) => {
      expect(news).toContain('exit code 3');
      restarts += 1;
      if (restarts === 2) sawSecondEnd();
    },
  );
  await secondEnd;
  await kept.stop(1_000);
  expect(kept.pid()).toBeUndefined();
});

test('a requested restart happens at once, and its reason is reported', async () => {
  const news: string[] = [];
  const args = ['-e', 'setInterval(() => {}, 1_000)'];
  const kept = keepRunning({ name: 'long', command: process.execPath, args, options: { stdio: 'ignore' } }, (line) =>
    news.push(line),
  );
  const first = kept.pid();
  await kept.restart(5_000, 'it forgot how to write');
  expect(news).toEqual(['it forgot how to write']);
  expect(kept.pid()).toBeGreaterThan(0);
  expect(kept.pid()).not.toBe(first);
  await kept.stop(5_000);
  await kept.restart(5_000, 'too late');
  expect(kept.pid()).toBeUndefined();
  expect(news).toHaveLength(1);
});

test('a process that says what is wrong with its settings is ended, and its sentence is kept until it is ready', async () => {
  const news: string[] = [];
  const program = `process.send({ wrongSettings: 'X_PORT is wrong.' }); setInterval(() => {}, 1_000)`;
  const kept = keepRunning(
    {
      name: 'misled',
      command: process.execPath,
      args: ['-e', program],
      options: { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] },
    },
    (line) => news.push(line),
  );
  await expect.poll(() => news).toContain('misled ended (X_PORT is wrong.) and is started again in 100 ms');
  expect(kept.wrongSettings()).toBe('X_PORT is wrong.');
  await kept.stop(1_000);
});
