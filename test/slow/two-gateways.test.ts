import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { apiClient } from '#services/cli/api-client.ts';
import type { CreatedApiKey } from '#shared/interfaces/http/directory.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { bearer, operatorToken } from '../support/gateway-harness.ts';
import { exportCommit, exportState } from '../support/make-commit.ts';
import { newFolder } from '../support/new-folder.ts';
import { environmentOn, type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { startTestBus, type TestBus } from '../support/start-bus.ts';
import { type RedisServer, startRedis } from '../support/start-redis.ts';

const json = { 'content-type': 'application/json' };
const { jobId } = exportState();

describeWithServers(['nats-server', 'redis-server'], 'two gateway processes on one bus, with one Redis', () => {
  let bus: TestBus;
  let redis: RedisServer;
  let projector: ServiceProcess;
  let gateways: ServiceProcess[];
  let environment: Record<string, string>;
  /** Fake assistant whose answers to questions begin and never end, and whose searches find nothing. */
  let assistant: Server;

  beforeAll(async () => {
    assistant = createServer((request, response) => {
      request.resume();
      if (request.url?.startsWith('/internal/search')) {
        response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
      } else response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n');
    }).listen(0, '127.0.0.1');
    await once(assistant, 'listening');
    [bus, redis] = await Promise.all([startTestBus(), startRedis()]);
    environment = {
      ...environmentOn(bus, newFolder()),
      BINDERY_ASSISTANT_URL: `http://127.0.0.1:${(assistant.address() as AddressInfo).port}`,
      BINDERY_REDIS_URL: redis.url,
      BINDERY_LIMIT_ASSISTANT_PER_HOUR: 'pro=100,enterprise=10000000',
      BINDERY_LIMIT_ASSISTANT_PER_ADDRESS_PER_DAY: '10000000',
      BINDERY_LIMIT_KEYS_PER_HOUR: '1000',
    };
    [projector, ...gateways] = await Promise.all([
      startServiceProcess('projector', environment),
      startServiceProcess('gateway', environment),
      startServiceProcess('gateway', environment),
    ]);
  });

  afterAll(async () => {
    await Promise.all([...gateways, projector].map((service) => service.stop()));
    assistant.closeAllConnections();
    assistant.close();
    await Promise.all([bus.stop(), redis.stop()]);
  });

  test('they know of each other', async () => {
    for (const { insideUrl } of gateways)
      await expect
        .poll(async () => (await fetch(`${insideUrl}/metrics`)).text())
        .toMatch(/^bindery_gateways_live\{service="gateway"\} 2$/m);
  });

  /** An organization with the domain `docs`, and its first key. */
  async function organization(name: string, plan: string): Promise<string> {
    const operator = apiClient(gateways[0]?.url ?? '', operatorToken);
    const { organization: made, adminKey } = await operator.json<{
      organization: { id: string };
      adminKey: { key: string };
    }>('/v1/organizations', { method: 'POST', json: { name, plan } });
    await operator.json(`/v1/organizations/${made.id}/domains`, { method: 'POST', json: { domain: 'docs' } });
    return adminKey.key;
  }

  test('a revoked key is refused by both, and its open streams end, within a second', async () => {
    const rounds = 10;
    const boundMs = 1_000;
    const adminKey = await organization('Acme', 'enterprise');
    const { exports } = await bus.connect('gateway');
    await exports.append(exportCommit(exportState({ organization: 'acme', phase: 'rendering' })), { sequence: 0 });
    const job = `/v1/static-export/jobs/${jobId}`;
    const message = '/discovery/v2/assistant/docs/message';
    const refusedMs: number[] = [];
    const endedMs: number[] = [];

    for (let round = 0; round < rounds; round += 1) {
      const [one, other] = round % 2 === 0 ? gateways : gateways.toReversed();
      const admin = apiClient(one?.url ?? '', adminKey);
      const { id, key } = await admin.json<CreatedApiKey>('/v1/api-keys', { method: 'POST', json: { kind: 'admin' } });
      const streams = await Promise.all(
        [one, other].flatMap((gateway) => [
          opened(`${gateway?.url}${job}`, { headers: { ...bearer(key), accept: 'text/event-stream' } }),
          opened(`${gateway?.url}${message}`, { method: 'POST', headers: { ...bearer(key), ...json }, body: '{}' }),
        ]),
      );
      const revokedAt = performance.now();
      await admin.raw(`/v1/api-keys/${id}`, { method: 'DELETE' });
      const within = (what: string) => () => new Error(`After ${boundMs} ms, ${what}.`);
      const refused = async (gateway: ServiceProcess | undefined) => {
        while ((await statusOf(`${gateway?.url}/v1/api-keys`, key)) !== 401);
        refusedMs.push(performance.now() - revokedAt);
      };
      const ended = async (stream: ReadableStreamDefaultReader) => {
        await endOf(stream);
        endedMs.push(performance.now() - revokedAt);
      };
      await Promise.all([
        ...[one, other].map((gateway) => withDeadline(refused(gateway), boundMs, within('a gateway takes the key'))),
        ...streams.map((stream) => withDeadline(ended(stream), boundMs, within('a stream of the key is open'))),
      ]);
      // A key that was refused once is never accepted again.
      for (const { url } of gateways) expect(await statusOf(`${url}/v1/api-keys`, key)).toBe(401);
    }
    console.log(
      `${rounds} keys revoked: refused by both gateways after ${longest(refusedMs)} ms at most, their ${endedMs.length} streams ended after ${longest(endedMs)} ms at most, from the request that revokes`,
    );
  });

  test('a gateway that loses the bus accepts a revoked key for at most a second, and ends its open streams when the bus is back', async () => {
    const line = await mutableLine(bus.server.port);
    const cutOff = await startServiceProcess('gateway', {
      ...environment,
      BINDERY_NATS_URL: `nats://127.0.0.1:${line.port}`,
    });
    onTestFinished(async () => {
      line.speak();
      await cutOff.stop();
      line.close();
    });
    const admin = apiClient(gateways[0]?.url ?? '', await organization('Globex', 'enterprise'));
    const { id, key } = await admin.json<CreatedApiKey>('/v1/api-keys', { method: 'POST', json: { kind: 'admin' } });
    const stream = await opened(`${cutOff.url}/discovery/v2/assistant/docs/message`, {
      method: 'POST',
      headers: { ...bearer(key), ...json },
      body: '{}',
    });
    // The gateway knows the key already, so this answer does not need the bus.
    const resumes = () => statusOf(`${cutOff.url}/discovery/v2/assistant/docs/message/x/stream`, key);
    expect(await resumes()).toBe(204);

    line.fallSilent();
    const silentAt = performance.now();
    await admin.raw(`/v1/api-keys/${id}`, { method: 'DELETE' });
    /** Time from the loss of the bus until the last request that was still answered. */
    let takenForMs = 0;
    for (;;) {
      const sentAfterMs = performance.now() - silentAt;
      const status = await resumes();
      if (status === 503) break;
      expect(status).toBe(204);
      takenForMs = sentAfterMs;
    }
    line.speak();
    const spokenAt = performance.now();
    await withDeadline(endOf(stream), 20_000, () => new Error('The stream of a revoked key does not end.'));
    await expect.poll(resumes).toBe(401);
    console.log(
      `without the bus, a gateway took the revoked key for ${Math.round(takenForMs)} ms; once the bus was back, its stream ended after ${Math.round(performance.now() - spokenAt)} ms`,
    );
    expect(takenForMs).toBeLessThan(1_500);
  });

  describe.each([
    ['is killed', () => redis.kill(), () => redis.restart()],
    ['stands still', () => redis.pause(), () => redis.resume()],
  ] as const)('when Redis %s under load', (how, lose, regain) => {
    const boundMs = 200;
    const answersBefore = 500;
    const answersMeanwhile = 2_000;

    test('requests are answered within 200 ms, each gateway counts its share, and both recover automatically', async () => {
      const [load, alone, again] = await Promise.all([
        organization(`Load ${how}`, 'enterprise'),
        organization(`Alone ${how}`, 'pro'),
        organization(`Again ${how}`, 'pro'),
      ]);
      const isOver = new AbortController();
      onTestFinished(() => isOver.abort());
      /** Times of answers in milliseconds: to requests that Redis counts, and to others. */
      const counted: number[] = [];
      const others: number[] = [];
      const statuses = new Set<number>();
      const ask = async (into: number[], path: string, init: RequestInit, at: number) => {
        for (let next = at; !isOver.signal.aborted; next += 1) {
          const askedAt = performance.now();
          const answer = await fetch(`${gateways[next % 2]?.url}${path}`, init);
          await answer.arrayBuffer();
          into.push(performance.now() - askedAt);
          statuses.add(answer.status);
        }
      };
      const asking = Promise.all([
        ...Array.from({ length: 8 }, (_, at) => ask(counted, search, searchWith(load), at)),
        ...Array.from({ length: 2 }, (_, at) => ask(others, '/livez', {}, at)),
      ]);
      await expect.poll(() => counted.length, { timeout: 60_000 }).toBeGreaterThan(answersBefore);

      await lose();
      const lostAt = counted.length;
      for (const { insideUrl } of gateways)
        await expect
          .poll(async () => (await readiness(insideUrl)).degraded)
          .toEqual({ 'rate limits': expect.stringContaining('counts alone, with 1/2 of each limit') });
      expect(await passed(alone, 150)).toEqual([50, 50]);
      await expect.poll(() => counted.length - lostAt, { timeout: 60_000 }).toBeGreaterThan(answersMeanwhile);
      const meanwhile = counted.length - lostAt;

      await regain();
      for (const { insideUrl } of gateways)
        await expect.poll(() => readiness(insideUrl)).toEqual(expect.objectContaining({ ready: true, degraded: {} }));
      isOver.abort();
      await asking;
      const [first = 0, second = 0] = await passed(again, 100);
      expect(first + second).toBe(100);

      console.log(
        `Redis ${how}: ${counted.length} requests, ${meanwhile} of them without it; the longest took ${longest(counted)} ms, of ${others.length} that are not counted ${longest(others)} ms`,
      );
      expect([...statuses]).toEqual([200]);
      // The uncounted requests show how slow the machine is without Redis.
      expect(longest(counted)).toBeLessThan(boundMs + longest(others));
    });
  });

  const search = '/discovery/v1/search/docs';
  const searchWith = (key: string): RequestInit => ({
    method: 'POST',
    headers: { ...bearer(key), ...json },
    body: '{"query":"how"}',
  });

  /** Number of accepted requests out of this number to each gateway. */
  const passed = (key: string, times: number): Promise<number[]> =>
    Promise.all(
      gateways.map(async ({ url }) => {
        let passing = 0;
        for (let at = 0; at < times; at += 1) {
          const answer = await fetch(`${url}${search}`, searchWith(key));
          await answer.arrayBuffer();
          if (answer.status === 200) passing += 1;
          else expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([429, true]);
        }
        return passing;
      }),
    );
});

/** Proxy on loopback. While it is silent, connections stay open, and no data passes. */
async function mutableLine(serverPort: number) {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const line = createTcpServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => to.write(bytes));
      from
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
      if (isSilent) from.pause();
    }
  }).listen(0, '127.0.0.1');
  await once(line, 'listening');
  return {
    port: (line.address() as AddressInfo).port,
    fallSilent(): void {
      isSilent = true;
      for (const socket of sockets) socket.pause();
    },
    speak(): void {
      isSilent = false;
      for (const socket of sockets) socket.resume();
    },
    close(): void {
      for (const socket of sockets) socket.destroy();
      line.close();
    },
  };
}

const longest = (times: readonly number[]): number => Math.round(Math.max(...times));

const readiness = async (insideUrl: string) =>
  (await (await fetch(`${insideUrl}/readyz`)).json()) as { ready: boolean; degraded: Record<string, string> };

async function statusOf(url: string, key: string): Promise<number> {
  const answer = await fetch(url, { headers: bearer(key) });
  await answer.arrayBuffer();
  return answer.status;
}

/** A stream whose first part has been read. */
async function opened(url: string, init: RequestInit): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const answer = await fetch(url, init);
  expect(answer.status).toBe(200);
  const stream = answer.body!.getReader();
  await stream.read();
  return stream;
}

/** Resolves when a stream ends or breaks off. */
async function endOf(stream: ReadableStreamDefaultReader): Promise<void> {
  try {
    while (!(await stream.read()).done);
  } catch {
    // The stream was cut off.
  }
}
