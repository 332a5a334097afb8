import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { describe, expect, type TestContext, test } from 'vitest';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { createOrganization, gatewayHarness } from '../../test/support/gateway-harness.ts';

type Answer = (request: FastifyRequest, reply: FastifyReply) => unknown;

/**
 * A gateway that listens, and a service behind it that answers with `answer` for the assistant and the publisher. Each test has its own, because
 * the tests wait for deadlines side by side.
 */
async function start({ onTestFinished }: TestContext, settings: Record<string, string>, answer: Answer = () => ({})) {
  const behind = Fastify({ forceCloseConnections: true });
  behind.removeAllContentTypeParsers();
  behind.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  behind.all('/internal/*', (request, reply) => answer(request, reply));
  const url = await behind.listen({ host: '127.0.0.1', port: 0 });
  const gateway = await gatewayHarness({ BINDERY_ASSISTANT_URL: url, BINDERY_PUBLISHER_URL: url, ...settings });
  const { adminKey } = await createOrganization(gateway);
  await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    gateway.app.server.closeAllConnections();
    await gateway.close();
    await behind.close();
  });

  /** A connection, the text that it has received, and a promise for its end. */
  async function open() {
    const socket = connect((gateway.app.server.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.on('error', () => {});
    // A write to a closed connection fails, which closes it too.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await once(socket, 'connect');
    return {
      socket,
      text: () => text,
      ended: () => withDeadline(closed, 8_000, () => new Error(`The connection goes on: ${text}`)),
      head: (method: string, path: string, headers: Record<string, string | number> = {}) => {
        const lines = { host: 'x', authorization: `Bearer ${adminKey}`, ...headers };
        const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.write(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n`);
      },
    };
  }
  return { app: gateway.app, adminKey, open };
}

const message = '/discovery/v2/assistant/docs/message';
const json = { 'content-type': 'application/json' };

describe.concurrent('an idle connection', () => {
  const stalled = { BINDERY_STALLED_AFTER_SECONDS: '1' };

  test('is ended: a body that stops arriving', async (context) => {
    const { open } = await start(context, stalled);
    const client = await open();
    client.head('POST', '/v1/api-keys', { ...json, 'content-length': 100 });
    client.socket.write('{"kind":');
    await client.ended();
    expect(client.text()).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request_timeout"/);
    expect(client.text()).toContain('stopped arriving');
  });

  test('is ended: an upload that is passed on, also where it is passed on to', async (context) => {
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
    const { open } = await start(context, stalled, (request, reply) => {
      request.raw.on('error', () => {}).resume();
      reply.hijack();
      resolve(request.raw);
    });
    const client = await open();
    client.head('PUT', '/v1/domains/docs/content', { 'content-type': 'application/gzip', 'content-length': 1_000 });
    client.socket.write('the first part');
    const passedOn = await promise;
    const over = new Promise((done) => passedOn.once('close', done));
    await client.ended();
    expect(client.text()).toContain('stopped arriving');
    await withDeadline(over, 8_000, () => new Error('The upload goes on behind the gateway.'));
    expect(passedOn.complete).toBe(false);
  });

  test('is ended: a stream that its reader does not read, also where it comes from', async (context) => {
    const { promise, resolve } = Promise.withResolvers<ServerResponse>();
    const { open } = await start(context, stalled, (_request, reply) => {
      reply.hijack();
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = () => {
        while (!reply.raw.destroyed && reply.raw.write('x'.repeat(65_536)));
      };
      reply.raw.on('drain', more);
      more();
      resolve(reply.raw);
    });
    const client = await open();
    client.socket.pause();
    client.head('POST', message, { ...json, 'content-length': 2 });
    client.socket.write('{}');
    const stream = await promise;
    const over = new Promise((done) => stream.once('close', done));
    await withDeadline(over, 8_000, () => new Error('The stream goes on behind the gateway.'));
    client.socket.resume();
    await client.ended();
  });

  test('is ended: a connection that says nothing', async (context) => {
    const { open } = await start(context, stalled);
    await (await open()).ended();
  });

  test('is not ended: a request that has arrived and is being worked on', async (context) => {
    const { app, open } = await start(context, stalled, async (_request, reply) => {
      await once(app.server, 'timeout');
      return reply.send([]);
    });
    const client = await open();
    client.head('POST', '/discovery/v1/search/docs', { ...json, 'content-length': 2, connection: 'close' });
    client.socket.write('{}');
    await client.ended();
    expect(client.text()).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('is not ended: an upload that we do not take because the service behind is busy', async (context) => {
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
    const { app, open } = await start(context, stalled, (request, reply) => {
      reply.hijack();
      resolve(request.raw);
    });
    const client = await open();
    const bytes = 20_000_000;
    client.head('PUT', '/v1/domains/docs/content', { 'content-type': 'application/gzip', 'content-length': bytes });
    client.socket.write(Buffer.alloc(bytes));
    const upload = await promise;
    await once(app.server, 'timeout');
    const taken = once(upload.resume(), 'end');
    await withDeadline(taken, 8_000, () => new Error('The upload does not go on.'));
    expect(upload.complete).toBe(true);
  });
});

describe.concurrent('a request that arrives too slowly', () => {
  const slow = { BINDERY_BODY_WITHIN_SECONDS: '1', BINDERY_LIMIT_STARTS_PER_HOUR: '3' };

  /** Sends a byte every few milliseconds until it is stopped. */
  const trickle = ({ socket }: { socket: Socket }, bytes = 'x') => {
    const timer = setInterval(() => socket.write(bytes), 20);
    socket.once('close', () => clearInterval(timer));
    return () => clearInterval(timer);
  };

  test.for<[string, string, string, object]>([
    ['JSON', 'POST', '/v1/api-keys', json],
    ['what is passed on to the assistant', 'POST', message, json],
    ['what no route wants', 'GET', '/v1/api-keys', json],
    ['the body beside a signed link', 'GET', '/_objects/x', json],
    ['what is sent to no route', 'POST', '/nowhere', json],
    ['the body of a request without a right key', 'PUT', '/v1/domains/docs/content', { authorization: 'Bearer x' }],
  ])('is ended: %s', async ([_name, method, path, headers], context) => {
    const { open } = await start(context, slow);
    const client = await open();
    client.head(method, path, { 'content-length': 100_000, ...headers });
    trickle(client);
    await client.ended();
    // An answer that did not wait for the body was sent earlier.
    expect(client.text()).toMatch(/^HTTP\/1\.1 (408 [^]*"code":"request_timeout"|200 |401 |404 )/);
    expect(client.text().match(/^HTTP/gm)).toHaveLength(1);
  });

  test('counts for the limit of its route', async (context) => {
    const { app, adminKey, open } = await start(context, slow);
    const statusOfSlow = async () => {
      const client = await open();
      client.head('POST', '/v1/static-export/jobs', { ...json, 'content-length': 100 });
      trickle(client);
      await client.ended();
      return client.text().slice(9, 12);
    };
    expect(await Promise.all([statusOfSlow(), statusOfSlow(), statusOfSlow()])).toEqual(['408', '408', '408']);
    const counted = async () => {
      const right = { method: 'POST', url: '/v1/static-export/jobs', payload: { domain: 'docs' } } as const;
      return (await app.inject({ ...right, headers: { authorization: `Bearer ${adminKey}` } })).statusCode;
    };
    await context.expect.poll(counted).toBe(429);
  });

  test('is not ended: an upload that goes on', async (context) => {
    let received = 0;
    const { open } = await start(context, slow, async (request, reply) => {
      for await (const chunk of request.raw) received += (chunk as Buffer).length;
      return reply.code(400).send({ error: 'It is no project.', code: 'invalid_project', requestId: 'req_1' });
    });
    const client = await open();
    client.head('PUT', '/v1/domains/docs/content', {
      'content-type': 'application/gzip',
      'transfer-encoding': 'chunked',
      connection: 'close',
    });
    const stop = trickle(client, '1\r\nx\r\n');
    const other = await open();
    other.head('POST', '/v1/api-keys', { ...json, 'content-length': 100 });
    trickle(other, ' ');
    await other.ended();
    expect(other.text()).toMatch(/^HTTP\/1\.1 408 /);
    const before = received;
    await context.expect.poll(() => received).toBeGreaterThan(before);
    stop();
    client.socket.write('0\r\n\r\n');
    await client.ended();
    expect(client.text()).toMatch(/^HTTP\/1\.1 400 [^]*invalid_project/);
    expect(received).toBeGreaterThan(before);
  });
});

describe('connections of one address', () => {
  test('have a cap, which says so; those that end make room', async (context) => {
    const { open } = await start(context, { BINDERY_LIMIT_CONNECTIONS_PER_ADDRESS: '3' });
    const some = [await open(), await open(), await open()];
    const refused = await open();
    await refused.ended();
    expect(refused.text()).toMatch(/^HTTP\/1\.1 429 [^]*retry-after: [^]*"code":"rate_limited"/);
    some[0]?.socket.destroy();
    await some[0]?.ended();
    await expect
      .poll(async () => {
        const again = await open();
        again.head('GET', '/livez', { connection: 'close' });
        await again.ended();
        return again.text().slice(0, 12);
      })
      .toBe('HTTP/1.1 200');
  });

  test('behind a trusted proxy are the requests of one client at a time', async (context) => {
    const settings = { BINDERY_LIMIT_CONNECTIONS_PER_ADDRESS: '3', BINDERY_TRUST_PROXY: '10.0.0.0/8, loopback' };
    const { open } = await start(context, settings, (_request, reply) => {
      reply.hijack();
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n');
    });
    const ask = async (address: string) => {
      const client = await open();
      client.head('POST', message, { ...json, 'content-length': 2, 'x-forwarded-for': address });
      client.socket.write('{}');
      await once(client.socket, 'data');
      return client;
    };
    const streams = [await ask('192.0.2.1'), await ask('192.0.2.1'), await ask('192.0.2.1')];
    expect((await ask('192.0.2.1')).text()).toMatch(/^HTTP\/1\.1 429 [^]*"code":"rate_limited"/);
    const others = [await ask('192.0.2.2'), await ask('2001:db8::1'), await ask('192.0.2.3')];
    for (const { text } of others) expect(text()).toMatch(/^HTTP\/1\.1 200 /);
    streams[0]?.socket.destroy();
    await expect.poll(async () => (await ask('192.0.2.1')).text().slice(0, 12)).toBe('HTTP/1.1 200');
  });
});
