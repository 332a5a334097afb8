import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateApiKey } from '#shared/http/api-key.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  type TestOrganization,
} from '../../test/support/gateway-harness.ts';

const jobs = '/v1/static-export/jobs';
const someJob = `se_${'0'.repeat(22)}`;
const json = { 'content-type': 'application/json' };

let gateway: GatewayHarness;
let acme: TestOrganization;
let free: TestOrganization;
let readOnlyKey: string;
let elsewhereKey: string;
let siteKey: string;

beforeAll(async () => {
  gateway = await gatewayHarness();
  acme = await createOrganization(gateway);
  free = await createOrganization(gateway, 'Free', 'free');
  const create = async (payload: object) =>
    (await gateway.app.inject({ method: 'POST', url: '/v1/api-keys', headers: bearer(acme.adminKey), payload })).json()
      .key;
  readOnlyKey = await create({ kind: 'admin', scopes: ['read'] });
  elsewhereKey = await create({ kind: 'admin', allowedAddresses: ['192.0.2.0/24'] });
  siteKey = await create({ kind: 'assistant', allowedOrigins: ['https://docs.acme.test'] });
});

afterAll(() => gateway.close());

/** The part of a request that makes it wrong; the admin key is sent unless it says otherwise. */
type Wrong = Omit<InjectOptions, 'headers'> & { headers?: Record<string, string> };
const admin = () => bearer(acme.adminKey);
const start = (payload: object, headers: Record<string, string> = {}): Wrong => ({
  method: 'POST',
  url: jobs,
  headers: { ...admin(), ...headers },
  payload,
});
const get = (url: string, headers: Record<string, string> = admin()): Wrong => ({ method: 'GET', url, headers });
const message = (payload: unknown, headers: Record<string, string> = bearer(acme.assistantKey)): Wrong => ({
  method: 'POST',
  url: '/discovery/v2/assistant/docs/message',
  headers: { ...json, ...headers },
  payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
});
const operator = (url: string, payload: object, method: 'POST' | 'PATCH' = 'POST'): Wrong => ({
  method,
  url,
  headers: bearer(operatorToken),
  payload,
});

test.each<[string, () => Wrong, number, string, string?]>([
  ['no key', () => get('/v1/api-keys', {}), 401, 'missing_key'],
  ['a key that is none', () => get('/v1/api-keys', bearer('hello')), 401, 'invalid_key'],
  ['another scheme', () => get('/v1/api-keys', { authorization: `Basic ${acme.adminKey}` }), 401, 'invalid_key'],
  ['a cut key', () => get('/v1/api-keys', bearer(acme.adminKey.slice(0, -1))), 401, 'invalid_key'],
  ['a well-formed key that nobody has', () => get('/v1/api-keys', bearer(generateApiKey('admin'))), 401, 'invalid_key'],
  ['an assistant key for the export', () => get(jobs, bearer(acme.assistantKey)), 403, 'wrong_key_kind'],
  [
    'a key that only reads',
    () => ({ ...start({ domain: 'docs' }), headers: bearer(readOnlyKey) }),
    403,
    'missing_scope',
  ],
  ['a key from the wrong address', () => get(jobs, bearer(elsewhereKey)), 403, 'address_not_allowed'],
  [
    'a client that only says it is elsewhere',
    () => get(jobs, { ...bearer(elsewhereKey), 'x-forwarded-for': '192.0.2.1' }),
    403,
    'address_not_allowed',
  ],
  [
    'an export on the free plan',
    () => ({ ...start({ domain: 'docs' }), headers: bearer(free.adminKey) }),
    403,
    'plan_required',
    '"free"',
  ],
  [
    'a replay on the free plan',
    () => ({ method: 'POST', url: `${jobs}/${someJob}/replay`, headers: bearer(free.adminKey) }),
    403,
    'plan_required',
  ],

  ['no body', () => ({ method: 'POST', url: jobs, headers: admin() }), 400, 'invalid_request', 'JSON body'],
  [
    'an empty JSON body',
    () => ({ method: 'POST', url: jobs, headers: { ...admin(), ...json } }),
    400,
    'invalid_request',
  ],
  [
    'broken JSON',
    () => ({ method: 'POST', url: jobs, headers: { ...admin(), ...json }, payload: '{' }),
    400,
    'invalid_json',
  ],
  [
    'a poisoned prototype',
    () => ({ method: 'POST', url: jobs, headers: { ...admin(), ...json }, payload: '{"__proto__":{"domain":"docs"}}' }),
    400,
    'invalid_json',
  ],
  [
    'JSON that is no object',
    () => ({ method: 'POST', url: jobs, headers: { ...admin(), ...json }, payload: '[]' }),
    400,
    'invalid_request',
  ],
  [
    'deep JSON',
    () => ({
      method: 'POST',
      url: jobs,
      headers: { ...admin(), ...json },
      payload: `{"domain":${'['.repeat(400_000)}${']'.repeat(400_000)}}`,
    }),
    413,
    'too_large',
    'nested deeper than 100 levels',
  ],
  [
    'a body of 60,000 fields that nobody knows',
    () => start(Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, at]))),
    413,
    'too_large',
    'more than 20000 values',
  ],
  [
    'a message of 300,000 wrong parts',
    () => message({ fp: 'x', messages: [{ id: 'a', role: 'user', parts: Array(300_000).fill(1) }] }),
    413,
    'too_large',
    'more than 20000 values',
  ],
  [
    '20 MB of JSON',
    () => ({
      method: 'POST',
      url: jobs,
      headers: { ...admin(), ...json },
      payload: JSON.stringify({ domain: 'x'.repeat(20_000_000) }),
    }),
    413,
    'too_large',
  ],
  [
    'a form',
    () => ({
      method: 'POST',
      url: jobs,
      headers: { ...admin(), 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'domain=docs',
    }),
    415,
    'unsupported_media_type',
  ],
  ['no domain', () => start({}), 400, 'invalid_request', '"domain"'],
  ['a domain that is no text', () => start({ domain: 7 }), 400, 'invalid_request', '"domain"'],
  ['an unknown domain', () => start({ domain: 'nowhere' }), 404, 'not_found', '"nowhere"'],
  ['a domain without content', () => start({ domain: 'docs' }), 404, 'not_found', 'Nothing is published'],
  [
    'a deployment that there is not',
    () => start({ domain: 'docs', deployment: 'mars' }),
    400,
    'invalid_request',
    '"deployment"',
  ],
  ['no paths at all', () => start({ domain: 'docs', paths: [] }), 400, 'invalid_request', '"paths"'],
  ['a path that is no text', () => start({ domain: 'docs', paths: ['a', 1] }), 400, 'invalid_request', '"paths.1"'],
  ['a version that is no label', () => start({ domain: 'docs', version: 'a b' }), 400, 'invalid_request', '"version"'],
  [
    'an idempotency key with spaces',
    () => start({ domain: 'docs' }, { 'idempotency-key': 'a b' }),
    400,
    'invalid_request',
    'Idempotency-Key',
  ],

  ['a job that there is not', () => get(`${jobs}/${someJob}`), 404, 'not_found', someJob],
  ['a job id that is none', () => get(`${jobs}/..%2f..%2f*`), 404, 'not_found'],
  ['a job id with wildcards', () => get(`${jobs}/%3E`), 404, 'not_found'],
  ['events of no job', () => get(`${jobs}/${someJob}/events`), 404, 'not_found'],
  [
    'the bundle of no job',
    () => ({ method: 'POST', url: `${jobs}/${someJob}/bundle`, headers: admin() }),
    404,
    'not_found',
  ],
  [
    'cancelling no job',
    () => ({ method: 'POST', url: `${jobs}/${someJob}/cancel`, headers: admin() }),
    404,
    'not_found',
  ],
  ['a limit of 1,000', () => get(`${jobs}?limit=1000`), 400, 'invalid_request', '"limit"'],
  ['a status that there is not', () => get(`${jobs}?status=done`), 400, 'invalid_request', '"status"'],
  [
    'a misspelt parameter',
    () => get(`${jobs}?stauts=failed`),
    400,
    'invalid_request',
    'The parameter "stauts" is not known here; did you mean "status".',
  ],
  ['a misspelt time of a job', () => get(`${jobs}/${someJob}?att=1`), 400, 'invalid_request', '"att"'],
  ['a misspelt parameter of the audit', () => get('/v1/audit?acton=key'), 400, 'invalid_request', '"acton"'],
  ['a misspelt parameter of the usage', () => get('/v1/usage?monht=2026-03'), 400, 'invalid_request', '"month"'],
  ['since yesterday', () => get(`${jobs}?since=yesterday`), 400, 'invalid_request', '"since"'],
  ['a list of an unknown domain', () => get(`${jobs}?domain=nowhere`), 404, 'not_found'],

  ['the audit without a key', () => get('/v1/audit', {}), 401, 'missing_key'],
  ['the audit with an assistant key', () => get('/v1/audit', bearer(acme.assistantKey)), 403, 'wrong_key_kind'],
  ['the audit of an unknown domain', () => get('/v1/audit?domain=nowhere'), 404, 'not_found', '"nowhere"'],
  ['the audit of a job that there is not', () => get(`/v1/audit?jobId=${someJob}`), 404, 'not_found', someJob],
  ['the audit of what is no job', () => get('/v1/audit?jobId=%3E'), 400, 'invalid_request', '"jobId"'],
  ['the audit of an action that there is not', () => get('/v1/audit?action=keys'), 400, 'invalid_request', '"action"'],
  [
    'the audit until a day that there is not',
    () => get('/v1/audit?until=2026-02-30'),
    400,
    'invalid_request',
    '"until"',
  ],
  [
    'the audit of a time that ends before it begins',
    () => get('/v1/audit?since=2026-03-02&until=2026-03-01'),
    400,
    'invalid_request',
    '"until"',
  ],
  ['an audit without end', () => get('/v1/audit?limit=501'), 400, 'invalid_request', '"limit"'],
  ['a cursor that is none', () => get('/v1/audit?cursor=hello'), 400, 'invalid_request', '"cursor"'],
  ['usage without a key', () => get('/v1/usage', {}), 401, 'missing_key'],
  ['usage with an assistant key', () => get('/v1/usage', bearer(acme.assistantKey)), 403, 'wrong_key_kind'],
  ['usage of the thirteenth month', () => get('/v1/usage?month=2026-13'), 400, 'invalid_request', '"month"'],
  ['usage of months that are none', () => get('/v1/usage?months=3'), 400, 'invalid_request', '"months"'],
  ['usage backwards', () => get('/v1/usage?months=2026-03..2026-01'), 400, 'invalid_request', '"months"'],
  ['usage of a century', () => get('/v1/usage?months=1926-03..2026-03'), 400, 'invalid_request', '"months"'],
  [
    'usage of a month and of months',
    () => get('/v1/usage?month=2026-01&months=2026-01..2026-03'),
    400,
    'invalid_request',
    '"months"',
  ],

  ['content of an unknown domain', () => get('/v1/domains/nowhere/content'), 404, 'not_found'],
  [
    'promoting what cannot be content',
    () => ({ method: 'POST', url: '/v1/domains/docs/content/latest/promote', headers: admin() }),
    404,
    'not_found',
  ],
  [
    'publishing without a body',
    () => ({ method: 'PUT', url: '/v1/domains/docs/content', headers: admin() }),
    400,
    'invalid_project',
  ],
  [
    'a label with spaces',
    () => ({
      method: 'PUT',
      url: '/v1/domains/docs/content?version=a%20b',
      headers: { ...admin(), 'content-type': 'application/gzip' },
      payload: 'x',
    }),
    400,
    'invalid_request',
    '"version"',
  ],
  [
    '600 MB announced',
    () => ({
      method: 'PUT',
      url: '/v1/domains/docs/content',
      headers: { ...admin(), 'content-type': 'application/gzip', 'content-length': '629145600' },
      payload: 'x',
    }),
    413,
    'too_large',
  ],
  [
    'publishing while the publisher is down',
    () => ({
      method: 'PUT',
      url: '/v1/domains/docs/content',
      headers: { ...admin(), 'content-type': 'application/gzip' },
      payload: 'x',
    }),
    503,
    'unavailable',
  ],

  [
    'a key of no kind',
    () => ({ method: 'POST', url: '/v1/api-keys', headers: admin(), payload: {} }),
    400,
    'invalid_request',
    '"kind"',
  ],
  [
    'an address that is none',
    () => ({
      method: 'POST',
      url: '/v1/api-keys',
      headers: admin(),
      payload: { kind: 'admin', allowedAddresses: ['10.0.0.0/99'] },
    }),
    400,
    'invalid_request',
    'allowedAddresses.0',
  ],
  [
    'an origin with a path',
    () => ({
      method: 'POST',
      url: '/v1/api-keys',
      headers: admin(),
      payload: { kind: 'assistant', allowedOrigins: ['https://a.test/x'] },
    }),
    400,
    'invalid_request',
    'allowedOrigins.0',
  ],
  ['rotating no key', () => ({ method: 'POST', url: '/v1/api-keys/key_x/rotate', headers: admin() }), 404, 'not_found'],
  ['revoking no key', () => ({ method: 'DELETE', url: '/v1/api-keys/key_x', headers: admin() }), 404, 'not_found'],

  [
    'an operator route with an admin key',
    () => ({ method: 'POST', url: '/v1/organizations', headers: admin(), payload: { name: 'X' } }),
    403,
    'wrong_key_kind',
  ],
  [
    'an operator route with a wrong token',
    () => ({ method: 'POST', url: '/v1/organizations', headers: bearer('nonsense'), payload: { name: 'X' } }),
    401,
    'invalid_key',
  ],
  [
    'an organization without a name',
    () => operator('/v1/organizations', { name: ' ' }),
    400,
    'invalid_request',
    '"name"',
  ],
  [
    'a plan that there is not',
    () => operator('/v1/organizations', { name: 'X', plan: 'gold' }),
    400,
    'invalid_request',
    '"plan"',
  ],
  ['changing nothing', () => operator(`/v1/organizations/${acme.id}`, {}, 'PATCH'), 400, 'invalid_request'],
  [
    'changing no organization',
    () => operator('/v1/organizations/nobody', { plan: 'pro' }, 'PATCH'),
    404,
    'not_found',
    'There is no organization "nobody".',
  ],
  [
    'a domain of no organization',
    () => operator('/v1/organizations/nobody/domains', { domain: 'x' }),
    404,
    'not_found',
    '"nobody"',
  ],
  [
    'an organization id that cannot be one',
    () => operator('/v1/organizations/A%20B/domains', { domain: 'x' }),
    404,
    'not_found',
  ],
  [
    'a domain in capitals',
    () => operator(`/v1/organizations/${acme.id}/domains`, { domain: 'DOCS' }),
    400,
    'invalid_request',
    '"domain"',
  ],
  [
    'a domain that Windows cannot have as a folder',
    () => operator(`/v1/organizations/${acme.id}/domains`, { domain: 'com1' }),
    400,
    'invalid_request',
    'Windows reserves',
  ],
  [
    'a host that is none',
    () => operator(`/v1/organizations/${acme.id}/domains`, { domain: 'x', hosts: ['localhost'] }),
    400,
    'invalid_request',
    'hosts.0',
  ],

  ['a message without a key', () => message({}, {}), 401, 'missing_key'],
  [
    'a message to an unknown domain',
    () => ({ ...message({}), url: '/discovery/v2/assistant/nowhere/message' }),
    404,
    'not_found',
  ],
  ['a message that is no JSON', () => message('{'), 400, 'invalid_json'],
  ['a message without a body', () => message(''), 400, 'invalid_json'],
  ['a message of 2 MB', () => message({ fp: 'x'.repeat(2_000_000) }), 413, 'too_large'],
  [
    'a message as text',
    () => message('hi', { ...bearer(acme.assistantKey), 'content-type': 'text/plain' }),
    415,
    'unsupported_media_type',
  ],
  [
    'a message from a wrong origin',
    () => message({}, { ...bearer(siteKey), origin: 'https://evil.test' }),
    403,
    'origin_not_allowed',
  ],
  ['a message while the assistant is down', () => message({}), 503, 'unavailable'],

  ['an unknown path', () => get('/v1/nothing'), 404, 'not_found'],
  ['an unknown method', () => ({ method: 'PUT', url: jobs, headers: admin() }), 404, 'not_found'],
  ['a path that cannot be decoded', () => get('/v1/%E0%A4%A'), 404, 'not_found'],
  ['a parameter without an end', () => get(`${jobs}/${'x'.repeat(5_000)}`), 404, 'not_found'],
  ['an unsigned object link', () => get('/_objects/bundles/acme/docs/x.tar.gz', {}), 404, 'not_found'],
])('%s', async (_name, wrong, status, code, named = '') => {
  const { method, url, headers, payload } = wrong();
  const answer = await gateway.app.inject({
    ...(method === undefined ? {} : { method }),
    ...(url === undefined ? {} : { url }),
    ...(headers === undefined ? {} : { headers }),
    ...(payload === undefined ? {} : { payload }),
  });
  const body = answer.json();
  expect([answer.statusCode, body.code]).toEqual([status, code]);
  expect(answer.headers['content-type']).toContain('application/json');
  expect(body.requestId).toMatch(/^req_[0-9A-Za-z]{22}$/);
  expect(answer.headers).toMatchObject({
    'x-request-id': body.requestId,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  expect(body.error).toMatch(/^[A-Z].*[.…]$/s);
  expect(`${body.error} ${JSON.stringify(body.fields)}`).toContain(named);
  expect('fields' in body).toBe(code === 'invalid_request' && body.fields !== undefined);
  expect(answer.headers['retry-after'] !== undefined).toBe(status === 503);
  const challenge = code === 'missing_key' ? 'Bearer realm="Bindery"' : 'Bearer realm="Bindery", error="invalid_token"';
  expect(answer.headers['www-authenticate']).toBe(status === 401 ? challenge : undefined);
});

test('the service goes on', async () => {
  expect((await gateway.app.inject({ url: '/livez' })).statusCode).toBe(200);
  expect((await gateway.app.inject({ url: '/readyz' })).json()).toMatchObject({ ready: true });
});
