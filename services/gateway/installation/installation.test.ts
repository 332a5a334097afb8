import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { signPersonToken } from '#shared/interfaces/http/person-token.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { Poison } from '#shared/runtime/failures.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  personTokenKey,
} from '../../../test/support/gateway-harness.ts';
import {
  type InstallationServices,
  installationServices,
  letterReader,
} from '../../../test/support/installation-services.ts';
import { exportCommit, exportState } from '../../../test/support/make-commit.ts';

const jobId = `se_${'a'.repeat(22)}`;
const subject = exportLogSubject('acme', jobId);
const letters = '/v1/installation/dead-letters';
const id = 'deployer.EXPORTS.1';

let gateway: GatewayHarness;
let services: InstallationServices;
let opened: FastifyInstance[];

// The first call loads the client, which takes long on a busy machine.
beforeAll(() => import('undici'));
beforeEach(async () => {
  opened = [];
  gateway = await gatewayHarness({}, async (parts) => (services = await installationServices(parts)));
});
afterEach(async () => {
  await gateway.close();
  await Promise.all(opened.map((app) => app.close()));
});

const asked = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object, credential = operatorToken) => {
  const answer = await gateway.app.inject({ method, url, headers: bearer(credential), ...(payload && { payload }) });
  return { status: answer.statusCode, body: answer.json() };
};

test('the work in progress comes from the orchestrator', async () => {
  gateway.bus.depths = [{ queue: 'render-r-1', pending: 3, inFlight: 2, redelivered: 1 }];
  services.renderers.heard({
    ...{ service: 'page-renderer', instance: 'page-renderer-1', time: '2026-03-01T10:00:00.000Z' },
    ...{ slots: 1, freeSlots: 0, tasks: [`${jobId}.0.1`], heldMs: [0], draining: false },
  });
  expect((await asked('GET', '/v1/installation/work')).body).toEqual({
    queues: [{ queue: 'render-r-1', service: 'page-renderer', pending: 3, inFlight: 2, redelivered: 1 }],
    leases: expect.arrayContaining([{ role: 'projector.exports', holder: 'test' }]),
    activeExports: 0,
    workers: [
      {
        ...{ service: 'page-renderer', instance: 'page-renderer-1', slots: 1, freeSlots: 0, draining: false },
        tasks: [{ jobId, work: 'chunk', chunk: 0, attempt: 1, since: '2026-03-01T10:00:00.000Z' }],
      },
    ],
    problems: [],
  });
});

describe('a dead letter', () => {
  const person = () =>
    signPersonToken(personTokenKey, { name: 'ada@acme.test', role: 'operator' }, gateway.clock.now());
  const setAside = async (again: () => Promise<void>) => {
    await gateway.bus.exports.append(exportCommit(exportState({ jobId })), { sequence: 0 });
    const reader = letterReader(gateway.bus, again);
    await reader.setAside(subject, 1, new Poison('It is too large.'));
    return reader;
  };

  test('is listed and shown, and handled again in the name of the person; a repeated request changes nothing', async () => {
    const reader = await setAside(async () => {});
    expect((await asked('GET', letters)).body).toMatchObject({ deadLetters: [{ id, reason: 'It is too large.' }] });
    expect((await asked('GET', `${letters}/${id}`)).body).toMatchObject({ id, attempts: 1, waiting: 0, problems: [] });
    const retried = await asked('POST', `${letters}/${id}/retry`, { why: 'repaired' }, await person());
    const decision = { action: 'retry', by: 'ada@acme.test', why: 'repaired', at: '2026-03-01T10:00:00.000Z' };
    expect(retried.body).toEqual({ id, outcome: 'retried', decision, already: false });
    const again = await asked('POST', `${letters}/${id}/retry`, {});
    expect(again.body).toEqual({ id, outcome: 'retried', decision, already: true });
    expect(gateway.bus.recorded.deadLetters.map(({ outcome, decision: by }) => [outcome, by?.by])).toEqual([
      ['set-aside', undefined],
      ['retried', 'ada@acme.test'],
    ]);
    expect((await asked('GET', `${letters}/${id}`)).body).toMatchObject({ state: 'settled', history: [{}, {}] });
    await reader.stop();
  });

  test('is dropped in the name of the operator, and stays dropped', async () => {
    const reader = await setAside(async () => {});
    const dropped = await asked('DELETE', `${letters}/${id}?why=lost`);
    expect(dropped.body).toMatchObject({
      outcome: 'dropped',
      decision: { by: 'operator', why: 'lost' },
      already: false,
    });
    expect((await asked('DELETE', `${letters}/${id}`)).body).toMatchObject({ outcome: 'dropped', already: true });
    expect((await asked('GET', letters)).body.deadLetters).toEqual([]);
    expect((await asked('GET', `${letters}?state=dropped`)).body.deadLetters).toMatchObject([{ id }]);
    await reader.stop();
  });

  test('that fails again says why', async () => {
    const reader = await setAside(() => Promise.reject(new Poison('It is still too large.')));
    expect((await asked('POST', `${letters}/${id}/retry`, {})).body).toMatchObject({
      ...{ outcome: 'failed-again', reason: 'It is still too large.' },
      decision: { why: 'no reason was given' },
    });
    await reader.stop();
  });

  test('waits for its service, and another decision waits for the first', async () => {
    const reader = await setAside(async () => {});
    await reader.stop();
    const pending = await asked('POST', `${letters}/${id}/retry`, { why: 'first' });
    expect(pending.body).toMatchObject({ outcome: 'pending', reason: expect.stringContaining('No deployer') });
    expect(await asked('DELETE', `${letters}/${id}`)).toMatchObject({ status: 409, body: { code: 'in_use' } });
  });

  test('and another are decided about by one request, which says of each what became of it', async () => {
    const reader = await setAside(async () => {});
    const all = { letters: [id, 'projector.EXPORTS.99', id], why: 'repaired' };
    const decided = await asked('POST', `${letters}/decisions`, { action: 'retry', ...all }, await person());
    expect(decided.body).toMatchObject({
      settled: [{ id, outcome: 'retried', decision: { by: 'ada@acme.test', why: 'repaired' } }],
      refused: [{ id: 'projector.EXPORTS.99', reason: 'There is no dead letter "projector.EXPORTS.99".' }],
    });
    for (const wrong of [
      { ...all, action: 'keep' },
      { action: 'drop', letters: [] },
      { action: 'drop', letters: ['x'] },
    ])
      expect(await asked('POST', `${letters}/decisions`, wrong)).toMatchObject({ status: 400 });
    await reader.stop();
  });

  test('that nobody set aside is not found', async () => {
    for (const method of ['GET', 'DELETE'] as const)
      expect(await asked(method, `${letters}/projector.EXPORTS.99`)).toMatchObject({ status: 404 });
    expect((await asked('GET', `${letters}/of another form`)).status).toBe(404);
  });
});

test('removable objects are counted, and stay', async () => {
  await createOrganization(gateway);
  gateway.clock.time = new Date(Date.now() + 200 * 86_400_000);
  const key = `bundles/acme/${'0'.repeat(64)}.tar.gz`;
  await gateway.objectStore.put(key, Buffer.from('12345'));
  expect((await asked('GET', '/v1/installation/housekeeping')).body).toMatchObject({
    totals: { objects: [{ kind: 'bundles', objects: 1, bytes: 5 }], contents: 0 },
    organizations: [{ organization: 'acme' }],
  });
  expect(await gateway.objectStore.head(key)).toBeDefined();
});

describe('a service that cannot answer leaves its part unknown', () => {
  const listening = async (answer: (app: FastifyInstance) => void): Promise<string> => {
    const app = Fastify({ forceCloseConnections: true });
    opened.push(app);
    answer(app);
    return await app.listen({ port: 0, host: '127.0.0.1' });
  };
  const answerOf = async (env: Record<string, string>) => {
    const token = { BINDERY_TOKEN_GATEWAY_TO_HOUSEKEEPER: 'the-token-of-the-housekeeper' };
    const other = await gatewayHarness({ ...token, ...env });
    const answer = await other.app.inject({ url: letters, headers: bearer(operatorToken) });
    await other.close();
    return [answer.statusCode, answer.json().error];
  };
  const sentence = (reason: RegExp) => expect.stringMatching(reason);

  test('without an address', async () => {
    expect(await answerOf({})).toEqual([
      503,
      'The gateway cannot ask the housekeeper: BINDERY_HOUSEKEEPER_URL is not set.',
    ]);
  });

  test.each<[string, (app: FastifyInstance) => void, RegExp]>([
    ['of an earlier version', (app) => void app.get('/readyz', async () => ({})), /housekeeper answered 404/],
    [
      'of a version whose server knows other calls',
      (app) =>
        void app.setNotFoundHandler((_request, reply) =>
          reply.code(404).send({ error: 'The housekeeper has no GET.', code: 'not_found', requestId: 'r' }),
        ),
      /another version of Bindery/,
    ],
    ['with another answer', (app) => void app.get('/*', async () => ({ letters: 1 })), /answered with a wrong body/],
    ['that does not answer', (app) => void app.get('/*', () => new Promise(() => {})), /did not answer within 1.9 s/],
    [
      'that does not know the token',
      (app) =>
        void app.get('/*', (_request, reply) =>
          reply.code(401).send({ error: 'no', code: 'invalid_key', requestId: 'r' }),
        ),
      /answered 401/,
    ],
  ])('%s', async (_name, answer, reason) => {
    expect(await answerOf({ BINDERY_HOUSEKEEPER_URL: await listening(answer) })).toEqual([503, sentence(reason)]);
  });

  test('that is down', async () => {
    expect(await answerOf({ BINDERY_HOUSEKEEPER_URL: 'http://127.0.0.1:1' })).toEqual([
      503,
      sentence(/did not answer/),
    ]);
  });
});
