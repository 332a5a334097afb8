import { request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { exportCommit, exportState } from '../../../test/support/make-commit.ts';

const { jobId } = exportState();

/** Stands for the assistant and the publisher: its answers begin and do not end. */
let behind: FastifyInstance;
let answers: FastifyReply[];
let gateway: GatewayHarness;
let acme: TestOrganization;
let url: string;
let key: { id: string; key: string };

beforeEach(async () => {
  answers = [];
  behind = Fastify({ forceCloseConnections: true });
  behind.removeAllContentTypeParsers();
  behind.addContentTypeParser('*', (_request, payload, done) => done(null, payload.resume()));
  behind.all('/internal/*', (_request, reply) => {
    answers.push(reply);
    if (_request.method !== 'POST') return;
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n');
  });
  const behindUrl = await behind.listen({ host: '127.0.0.1', port: 0 });
  gateway = await gatewayHarness({ BINDERY_ASSISTANT_URL: behindUrl, BINDERY_PUBLISHER_URL: behindUrl });
  acme = await createOrganization(gateway);
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  key = (await asAdmin('POST', '/v1/api-keys', { kind: 'admin' })).json();
  const state = exportState({ organization: acme.id, phase: 'rendering' });
  await gateway.bus.exports.append(exportCommit(state), { sequence: 0 });
  await gateway.bus.projected();
});

afterEach(async () => {
  gateway.app.server.closeAllConnections();
  await gateway.close();
  await behind.close();
});

const asAdmin = (method: 'POST' | 'DELETE', path: string, payload?: object) =>
  gateway.app.inject({ method, url: path, headers: bearer(acme.adminKey), ...(payload ? { payload } : {}) });

const revoke = () => asAdmin('DELETE', `/v1/api-keys/${key.id}`);

/** Reads until the stream ends or breaks off. */
async function ended(stream: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const toTheEnd = async () => {
    try {
      while (!(await stream.read()).done);
    } catch {}
  };
  await withDeadline(toTheEnd(), 5_000, () => new Error('The stream goes on.'));
}

/** Opens a stream and reads its first part. */
async function open(path: string, init: Omit<RequestInit, 'headers'> & { headers: Record<string, string> }) {
  const answer = await fetch(`${url}${path}`, { ...init, headers: { ...bearer(key.key), ...init.headers } });
  expect(answer.status).toBe(200);
  const stream = answer.body!.getReader();
  await stream.read();
  return stream;
}

const streams: Record<string, () => Promise<ReadableStreamDefaultReader<Uint8Array>>> = {
  'events of a job': () => open(`/v1/static-export/jobs/${jobId}`, { headers: { accept: 'text/event-stream' } }),
  'an answer of the assistant': () =>
    open('/discovery/v2/assistant/docs/message', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    }),
};

describe.each(Object.entries(streams))('%s', (_name, openStream) => {
  test.each([
    ['is revoked', () => void revoke()],
    ['is rotated without an overlap', () => asAdmin('POST', `/v1/api-keys/${key.id}/rotate`, { overlapHours: 0 })],
  ])('end when their key %s, and those of other keys go on', async (_how, end) => {
    const stream = await openStream();
    const other = (await asAdmin('POST', '/v1/api-keys', { kind: 'admin' })).json();
    const mine = key;
    key = other;
    const others = await openStream();
    key = mine;
    await end();
    await ended(stream);
    const goesOn = others.read().then(
      () => 'ended',
      () => 'ended',
    );
    expect(await Promise.race([goesOn, delay(0, 'goes on')])).toBe('goes on');
    await others.cancel();
  });

  test('end when their key expires', async () => {
    key = (await asAdmin('POST', '/v1/api-keys', { kind: 'admin', expiresInDays: 1 })).json();
    const stream = await openStream();
    gateway.clock.time = new Date(gateway.clock.time.getTime() + 86_400_000 - 1);
    // A change of the organization rewrites the documents of its keys.
    const change = { method: 'PATCH', url: `/v1/organizations/${acme.id}`, headers: bearer(operatorToken) } as const;
    await gateway.app.inject({ ...change, payload: { plan: 'pro' } });
    await ended(stream);
  });
});

test('an upload ends when its key is revoked, and nothing of it is published', async () => {
  const upload = httpRequest(`${url}/v1/domains/docs/content`, {
    method: 'PUT',
    headers: { ...bearer(key.key), 'content-type': 'application/gzip' },
  });
  const { promise: status, resolve } = Promise.withResolvers<number | string>();
  upload.on('response', (answer) => resolve(answer.statusCode ?? 0)).on('error', (error) => resolve(error.message));
  upload.write('the first part');
  await expect.poll(() => answers.length).toBe(1);
  await revoke();
  expect(await withDeadline(status, 5_000, () => new Error('The upload goes on.'))).toBe(401);
  await expect.poll(() => answers[0]?.raw.destroyed).toBe(true);
  upload.destroy();
});

test('the request that revokes its own key is answered', async () => {
  const answer = await fetch(`${url}/v1/api-keys/${key.id}`, { method: 'DELETE', headers: bearer(key.key) });
  expect(answer.status).toBe(200);
});
