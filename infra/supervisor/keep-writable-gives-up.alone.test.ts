import { expect, test, vi } from 'vitest';
import { openServerHealth } from '#shared/messaging/nats/server-health.ts';
import { keepWritable } from './keep-writable.ts';

vi.mock('#shared/messaging/nats/server-health.ts');
// Pauses end at the next turn of the event loop.
vi.mock('node:timers/promises', () => ({ setTimeout: () => new Promise(setImmediate) }));

test('the watch gives up on a server that restarts do not repair, also when it does not answer while it starts', async () => {
  const stop = new AbortController();
  const restarts: string[] = [];
  const news: string[] = [];
  let asked = 0;
  vi.mocked(openServerHealth).mockResolvedValue({
    async problem() {
      asked += 1;
      if (asked === 100) stop.abort();
      if (asked % 2 === 0) throw new Error('timeout');
      return 'its last write failed';
    },
    close: async () => {},
  });
  await keepWritable(
    {
      url: 'nats://127.0.0.1:1',
      password: 'secret',
      folder: '/',
      kept: { restart: async (_graceMs, why) => void restarts.push(why) },
      onNews: (line) => news.push(line),
    },
    stop.signal,
  );
  expect(restarts).toHaveLength(5);
  expect(news).toEqual([expect.stringContaining('/nats.log says why')]);
});
