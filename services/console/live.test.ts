import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import { exportJob } from '../../test/support/export-job.ts';
import { testLogger } from '../../test/support/test-logger.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { type Live, type LiveEvent, type LiveTimes, liveUpdates } from './live.ts';
import { openPlatform } from './platform.ts';

const times = {
  heartbeatMs: 40,
  silentMs: 300,
  checkedMs: 0,
  idleCheckedMs: 0,
  retries: { firstPauseMs: 10, longestPauseMs: 20 },
};

/** A platform with an organization "acme" whose events a test sends. */
let server: Server;
let port = 0;
let streams: Map<ServerResponse, string>;
let opened: string[];
let validKeys: Set<string>;
let live: Live;
let stops: AbortController[];

const answer = (request: IncomingMessage, response: ServerResponse): void => {
  const key = request.headers.authorization?.replace('Bearer ', '') ?? '';
  if (!validKeys.has(key)) {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: 'The key is invalid.', code: 'invalid_key' }));
  } else if (request.url === '/v1/events') {
    opened.push(key);
    streams.set(response, key);
    response.on('close', () => streams.delete(response));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: following\ndata: {"since":"2026-03-01T10:00:00.000Z"}\n\n`);
  } else {
    const organization = { id: 'acme', name: 'Acme', plan: 'enterprise' };
    const caller = { kind: 'key', id: `key_${'0'.repeat(16)}`, name: key, scopes: ['read'] };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ organization, domains: [], caller }));
  }
};

async function listen(): Promise<void> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
}

async function halt(): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

const liveWith = (some: LiveTimes): Live =>
  liveUpdates(
    openPlatform({ platformUrl: `http://127.0.0.1:${port}`, personTokenKey: undefined }, systemClock),
    testLogger,
    some,
  );

beforeEach(async () => {
  [streams, opened, stops] = [new Map(), [], []];
  validKeys = new Set(['one', 'two']);
  port = 0;
  await listen();
  live = liveWith(times);
});
afterEach(async () => {
  for (const stop of stops) stop.abort();
  await halt();
});

/** An open page of a session. */
function open(key = 'one', lasts: () => boolean = () => true) {
  const stop = new AbortController();
  stops.push(stop);
  const seen: LiveEvent['event'][] = [];
  const page = { seen, isOver: false, close: () => stop.abort() };
  const membership = { organization: 'acme', role: 'admin' as const };
  const asker = {
    identity: { kind: 'key' as const, key, name: key, membership },
    organization: 'acme',
    address: '127.0.0.1',
  };
  void (async () => {
    for await (const { event } of live.follow({ asker, session: key, lasts: async () => lasts() }, stop.signal))
      seen.push(event);
    page.isOver = true;
  })();
  return page;
}

const send = (digit: string): void => {
  for (const stream of streams.keys())
    stream.write(`event: export\ndata: ${JSON.stringify(exportJob({ jobId: `se_${digit.repeat(22)}` }))}\n\n`);
};
const exportsSeen = ({ seen }: { seen: string[] }): number => seen.filter((event) => event === 'export').length;

test('200 pages share one connection, which is closed after the last of them', async () => {
  live = liveWith({ ...times, heartbeatMs: 15_000, silentMs: 45_000, checkedMs: 5_000, idleCheckedMs: 60_000 });
  const pages = Array.from({ length: 200 }, () => open());
  await waitUntil(() => pages.every(({ seen }) => seen.includes('read-again')));
  send('a');
  await waitUntil(() => pages.every((page) => exportsSeen(page) === 1));
  expect([opened.length, streams.size]).toEqual([1, 1]);
  for (const page of pages.slice(1)) page.close();
  send('b');
  await waitUntil(() => pages[0] !== undefined && exportsSeen(pages[0]) === 2);
  expect(streams.size).toBe(1);
  pages[0]?.close();
  await waitUntil(() => streams.size === 0);
  // A later page opens it again.
  const later = open();
  await waitUntil(() => later.seen.includes('read-again'));
  expect(opened.length).toBe(2);
});

test('a page that does not read what happens reads everything again later, instead of keeping all events', async () => {
  live = liveWith({ ...times, heartbeatMs: 15_000, silentMs: 45_000, checkedMs: 60_000 });
  const stop = new AbortController();
  stops.push(stop);
  const membership = { organization: 'acme', role: 'admin' as const };
  const asker = {
    ...{ identity: { kind: 'key' as const, key: 'one', name: 'one', membership } },
    ...{ organization: 'acme', address: '127.0.0.1' },
  };
  const slow = live.follow({ asker, session: 'one', lasts: async () => true }, stop.signal);
  expect((await slow.next()).value).toEqual({ event: 'read-again' });
  const quick = open();
  await waitUntil(() => quick.seen.includes('read-again'));
  const many = 1_500;
  const idOf = (at: number) => `se_${String(at).padStart(22, '0')}`;
  for (let at = 0; at < many; at += 1)
    for (const stream of streams.keys())
      stream.write(`event: export\ndata: ${JSON.stringify(exportJob({ jobId: idOf(at) }))}\n\n`);
  await vi.waitUntil(() => exportsSeen(quick) === many, { timeout: 60_000 });
  const seen: LiveEvent['event'][] = [];
  for await (const each of slow) {
    seen.push(each.event);
    if (each.event === 'export' && each.data.jobId === idOf(many - 1)) break;
  }
  expect(seen).toContain('read-again');
  expect(seen.length).toBeLessThan(many);
});

test('a restart of the platform is survived, and pages read again what they missed', async () => {
  const page = open();
  await waitUntil(() => page.seen.includes('read-again'));
  await halt();
  await listen();
  await waitUntil(() => page.seen.filter((event) => event === 'read-again').length === 2);
  send('a');
  await waitUntil(() => exportsSeen(page) === 1);
});

test('a silent connection is replaced', async () => {
  const page = open();
  await waitUntil(() => opened.length >= 2);
  await waitUntil(() => page.seen.filter((event) => event === 'read-again').length >= 2);
});

test('a session that ends cuts its pages, and learns nothing more; others go on', async () => {
  let lasts = true;
  const [own, other] = [open('one', () => lasts), open('two')];
  await waitUntil(() => [own, other].every(({ seen }) => seen.includes('read-again')));
  lasts = false;
  send('a');
  await waitUntil(() => own.isOver && exportsSeen(other) === 1);
  expect([exportsSeen(own), other.isOver]).toEqual([0, false]);
});

test('a key that is revoked cuts its pages, also while nothing happens, and another page takes over', async () => {
  const own = open('one');
  await waitUntil(() => own.seen.includes('read-again'));
  const other = open('two');
  await waitUntil(() => other.seen.includes('read-again'));
  validKeys.delete('one');
  await waitUntil(() => own.isOver);
  // The gateway cuts the connection of a key that ends.
  for (const [stream, key] of streams) if (key === 'one') stream.destroy();
  await waitUntil(() => [...streams.values()].includes('two'));
  send('a');
  await waitUntil(() => exportsSeen(other) === 1);
});
