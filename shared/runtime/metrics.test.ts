import { Readable } from 'node:stream';
import Fastify from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { addHealthRoutes } from './health-routes.ts';
import { type Metrics, serviceMetrics } from './metrics.ts';

const apps: { close(): Promise<void> }[] = [];
afterEach(async () => void (await Promise.all(apps.splice(0).map((app) => app.close()))));

function appWith(metrics: Metrics, isPublic = false) {
  const app = Fastify({ logger: false });
  apps.push(app);
  addHealthRoutes(app, 'test', { checks: {}, draining: () => false, metrics, isPublic });
  app.get('/things/:id', async (request) => request.params);
  app.get('/broken', async () => {
    throw new Error('no');
  });
  return app;
}

const scrape = async (app: ReturnType<typeof appWith>) => (await app.inject('/metrics')).body;

test("requests are measured by the declared route, never by a client's path", async () => {
  const app = appWith(serviceMetrics('test'));
  await Promise.all(
    ['/things/acme', '/things/globex?x=1', '/broken', '/no/such', '/neither', '/readyz'].map((url) => app.inject(url)),
  );
  const text = await scrape(app);
  const counts = text.match(/^bindery_http_request_duration_seconds_count.*$/gm);
  expect(counts?.toSorted()).toEqual([
    'bindery_http_request_duration_seconds_count{service="test",method="GET",route="/broken",status="500"} 1',
    'bindery_http_request_duration_seconds_count{service="test",method="GET",route="/things/:id",status="200"} 2',
    'bindery_http_request_duration_seconds_count{service="test",method="other",route="none",status="404"} 2',
  ]);
  expect(text).not.toMatch(/acme|globex|such/);
  // The request that reads the metrics is in flight itself.
  expect(text).toContain('bindery_http_requests_in_flight{service="test"} 1');
});

test('a client that disconnects during a stream is counted as aborted, and nothing of it stays', async () => {
  const app = appWith(serviceMetrics('test'));
  app.get('/stream', (_request, reply) => reply.send(Readable.from(endless())));
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const leaving = new AbortController();
  const answer = await fetch(`${url}/stream`, { signal: leaving.signal });
  await answer.body?.getReader().read();
  expect(await scrape(app)).toContain('bindery_http_requests_in_flight{service="test"} 2');
  leaving.abort();
  await expect
    .poll(() => scrape(app))
    .toMatch(/^bindery_http_request_duration_seconds_count\{.*route="\/stream",status="aborted"\} 1$/m);
  expect(await scrape(app)).toContain('bindery_http_requests_in_flight{service="test"} 1');
});

async function* endless() {
  for (;;) yield await Promise.resolve('x'.repeat(1_000));
}

test('numbers are read at each scrape', async () => {
  const metrics = serviceMetrics('test');
  const app = appWith(metrics);
  let slots = 1;
  let out = 5;
  metrics.gauge('bindery_slots', 'Slots.', () => slots);
  metrics.total('bindery_sent_total', 'Sent.', 'direction', () => ({ out }));
  const refused = metrics.counter('bindery_refused_total', 'Refused.', 'limit', ['starts', 'keys']);
  [slots, out] = [3, 7];
  refused('keys');
  for (let asked = 0; asked < 2; asked += 1) {
    const text = await scrape(app);
    expect(text).toContain('bindery_slots{service="test"} 3');
    expect(text).toContain('bindery_sent_total{direction="out",service="test"} 7');
    expect(text).toContain('bindery_refused_total{limit="starts",service="test"} 0');
    expect(text).toContain('bindery_refused_total{limit="keys",service="test"} 1');
  }
});

test('a number that cannot be read does not hide the others', async () => {
  const metrics = serviceMetrics('test');
  const app = appWith(metrics);
  let isAway = false;
  metrics.gauges('bindery_lag', 'Lag.', 'log', async () => {
    if (isAway) throw new Error('The bus is unavailable.');
    return { exports: 3, content: 0 };
  });
  metrics.histogram('bindery_work_seconds', 'Work.', [1, 10])(4);
  expect(await scrape(app)).toContain('bindery_lag{log="exports",service="test"} 3');
  isAway = true;
  const text = await scrape(app);
  expect(text).not.toContain('bindery_lag{');
  expect(text).toContain('bindery_work_seconds_bucket{le="10",service="test"} 1');
});

test('the process is reported once, with any number of services in it', async () => {
  appWith(serviceMetrics('one'));
  const text = await scrape(appWith(serviceMetrics('other')));
  expect(text.match(/^process_resident_memory_bytes /gm)).toHaveLength(1);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
});

test('a server that clients reach measures, and has no /metrics', async () => {
  const metrics = serviceMetrics('test');
  const app = appWith(metrics, true);
  expect((await app.inject('/metrics')).statusCode).toBe(404);
  expect(await metrics.text()).toContain('route="none",status="404"');
});
