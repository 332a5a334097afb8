import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '#shared/http/api-key.ts';
import type { RateLimiter } from '#shared/http/rate-limit.ts';
import { siteAggregate, type SiteEvent } from '#shared/aggregates/site/site.ts';
import { hasRole, personRoles, type PersonRole, signPersonToken } from '#shared/interfaces/http/person-token.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  personTokenKey,
  type TestOrganization,
} from '../../test/support/gateway-harness.ts';
import { contentCommit, exportCommit, exportState } from '../../test/support/make-commit.ts';
import { buildGateway, publicRoutes } from './build-gateway.ts';
import { publicRoute, scopeOf } from './public-route.ts';

const dayMs = 86_400_000;
const contentVersion = `cv_${'1'.repeat(32)}`;
const { jobId } = exportState();

const siteKey = generateApiKey('site');

let gateway: GatewayHarness;
let acme: TestOrganization;
let globex: TestOrganization;
let keys: Record<'revoked' | 'expired' | 'readOnly' | 'exportOnly' | 'elsewhere' | 'ofSite', string>;
/** Fixtures of acme: an API key, a job, and content of its domain. */
let acmeKeyId: string;

beforeAll(async () => {
  gateway = await gatewayHarness({ BINDERY_SITES_KEYS: siteKey });
  acme = await createOrganization(gateway);
  globex = await createOrganization(gateway, 'Globex', 'enterprise', { domain: 'blog' });
  const create = async (payload: object) => {
    const url = '/v1/api-keys';
    const made = await gateway.app.inject({ method: 'POST', url, headers: bearer(acme.adminKey), payload });
    return made.json<{ id: string; key: string }>();
  };
  acmeKeyId = (await create({ kind: 'admin' })).id;
  const revoked = await create({ kind: 'admin' });
  await gateway.app.inject({ method: 'DELETE', url: `/v1/api-keys/${revoked.id}`, headers: bearer(acme.adminKey) });
  keys = {
    revoked: revoked.key,
    expired: (await create({ kind: 'admin', expiresInDays: 1 })).key,
    readOnly: (await create({ kind: 'admin', scopes: ['read'] })).key,
    exportOnly: (await create({ kind: 'admin', scopes: ['export'] })).key,
    elsewhere: (await create({ kind: 'admin', allowedAddresses: ['192.0.2.0/24'] })).key,
    ofSite: (await create({ kind: 'assistant', allowedOrigins: ['https://docs.acme.test'] })).key,
  };
  await gateway.bus.exports.append(exportCommit(exportState({ organization: acme.id, phase: 'rendering' })), {
    sequence: 0,
  });
  const published = { organization: acme.id, domain: 'docs', contentVersion, pageCount: 1, fileCount: 1, sizeBytes: 1 };
  await gateway.bus.content.append(contentCommit({ type: 'ContentPublished', version: 1, data: published }), {
    sequence: 0,
  });
  await openSite();
  gateway.clock.time = new Date(gateway.clock.time.getTime() + 2 * dayMs);
});

async function openSite(): Promise<void> {
  const url = '/v1/domains/docs/site';
  await gateway.app.inject({ method: 'PUT', url, headers: bearer(acme.adminKey), payload: {} });
  await deployTwice();
  await gateway.bus.projected();
}

/** Two deployments of acme's site, so that a rollback to the first is possible. */
async function deployTwice(): Promise<void> {
  const site = { organization: acme.id, domain: 'docs' };
  await handleCommand({ log: gateway.bus.sites, clock: gateway.clock, random: randomBase62 }, siteAggregate, {
    subject: siteLogSubject(acme.id, 'docs'),
    decide: () =>
      [1, 2].flatMap((deployment): SiteEvent[] => [
        {
          type: 'DeploymentRequested',
          version: 1,
          data: { ...site, deployment, contentVersion, jobId, cause: 'published' },
        },
        { type: 'DeploymentLive', version: 1, data: { ...site, deployment, sha256: 'a'.repeat(64), sizeBytes: 1 } },
      ]),
    origin: { source: 'test', actor: { kind: 'service', id: 'deployer' }, causationId: 'c', correlationId: 'c' },
  });
}

afterAll(() => gateway.close());

/** A value for each path parameter of the routes. Where acme can have the thing, the value names one that it has. */
const samples = () => ({
  jobId,
  domain: 'docs',
  contentVersion,
  id: acmeKeyId,
  org: acme.id,
  chatId: 'c1',
  deployment: '1',
  host: 'docs.localhost',
  threadId: `th_${'0'.repeat(22)}`,
  label: 'v1',
  letter: 'projector.EXPORTS.7',
  digest: '0123456789abcdef',
});

const declarations = publicRoutes.map(({ declaration }) => declaration);

/** The routes that the scope `export` opens. */
const exportsOpen = ({ path }: { path: string }): boolean =>
  path.startsWith('/v1/static-export/') || path === '/v1/whoami';

/** The answer of these routes does not end. Other tests open them. */
const isEndless = ({ id }: { id: string }): boolean => id === 'followSites' || id === 'followEvents';

const countedDay = {
  ...{ site: 'acme/docs', day: '2026-03-01', views: 1, paths: [['/', 1]], referred: 0, referrers: [] },
  ...{ searches: 0, emptySearches: 0, queries: [] },
};

/** Valid bodies of routes that do not accept the usual one. */
const bodies: Record<string, object> = {
  'POST /v1/organizations': { name: 'Initech' },
  'PATCH /v1/organizations/:org': { plan: 'enterprise' },
  'POST /v1/organizations/:org/api-keys': {},
  'POST /v1/api-keys': { kind: 'assistant' },
  'POST /v1/api-keys/:id/rotate': {},
  'PUT /v1/domains/:domain/site': {},
  'POST /v1/audit/verification': {},
  'POST /v1/installation/verification': {},
  'POST /v1/installation/dead-letters/decisions': { action: 'retry', letters: ['projector.EXPORTS.7'] },
  'POST /v1/sites/links': { site: 'acme/docs', jobId },
  'POST /v1/sites/views': { source: 'a'.repeat(16), sequence: 1, days: [countedDay] },
  'POST /v1/sites/readers/:org/:domain/search': { query: 'install' },
};

const personToken = (role: PersonRole, key = personTokenKey, organization = acme.id): Promise<string> =>
  signPersonToken(key, { name: 'ada@acme.test', role, organization }, gateway.clock.now());

/** The operator's token opens no route for hosts of sites, and their key all of them. */
const bySiteHost = (name: string, byOperator: string): string => {
  if (name === 'the key of a host of sites') return 'open';
  if (name.startsWith('a person')) return '401 invalid_key';
  return byOperator === 'open' ? '401 invalid_key' : byOperator;
};

/** Status and code of the answer to a request for acme's resources. */
async function answer(
  declaration: (typeof declarations)[number],
  credential: string | undefined,
  from: { origin?: string; 'x-forwarded-for'?: string } = {},
) {
  const { method, path, body } = declaration;
  const values: Record<string, string> = samples();
  const got = await gateway.app.inject({
    method,
    url: path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? ''),
    headers: { ...from, ...(credential === undefined ? {} : bearer(credential)) },
    ...(body === undefined || body === 'archive' ? {} : { payload: bodies[`${method} ${path}`] ?? { domain: 'docs' } }),
  });
  return { outcome: `${got.statusCode} ${got.body.startsWith('{') ? (got.json().code ?? '') : ''}`.trim(), got };
}

describe.each(declarations.map((declaration) => [`${declaration.method} ${declaration.path}`, declaration] as const))(
  '%s',
  (name, declaration) => {
    const { key, scope = scopeOf(declaration.method) } = declaration;
    const isOpen = /^(?!401|403|500)/;

    test('opens only for the credentials that it declares', async () => {
      // An earlier test has closed it.
      if (declaration.publicSites) await openSite();
      const wrongKind = '403 wrong_key_kind';
      const shown: Record<string, [credential: string | undefined, byKey: string, byOperator: string]> = {
        'no key': [undefined, declaration.publicSites ? 'open' : '401 missing_key', '401 missing_key'],
        junk: ['hello', '401 invalid_key', '401 invalid_key'],
        'a key that nobody has': [generateApiKey('admin'), '401 invalid_key', wrongKind],
        'an assistant key': [acme.assistantKey, key === 'assistant' ? 'open' : wrongKind, wrongKind],
        'the operator token': [operatorToken, '401 invalid_key', 'open'],
        'a revoked key': [keys.revoked, '401 invalid_key', wrongKind],
        'an expired key': [keys.expired, '401 expired_key', wrongKind],
        'a key that only reads': [keys.readOnly, scope === 'read' ? 'open' : '403 missing_scope', wrongKind],
        'a key that only exports': [
          keys.exportOnly,
          exportsOpen(declaration) ? 'open' : '403 missing_scope',
          wrongKind,
        ],
        'a key from another address': [keys.elsewhere, '403 address_not_allowed', wrongKind],
        'the key of a host of sites': [siteKey, '401 invalid_key', '401 invalid_key'],
        'the key of a site': [keys.ofSite, key === 'assistant' ? 'open' : wrongKind, wrongKind],
        'a person of another installation': [
          await personToken('operator', 'another-key-of-tokens-of-people-in-tests'),
          '401 invalid_key',
          '401 invalid_key',
        ],
        'a person of no organization': [await personToken('admin', personTokenKey, 'umbrella'), '401 invalid_key', ''],
      };
      delete shown[key === 'operator' ? 'a person of no organization' : ''];
      for (const role of personRoles) {
        const byRole = hasRole(role, declaration.role ?? (scope === 'read' ? 'viewer' : 'editor'));
        const [byKey, byOperator] = [byRole, role === 'operator'].map((may) => (may ? 'open' : '403 missing_scope'));
        shown[`a person who is ${role}`] = [await personToken(role), byKey ?? '', byOperator ?? ''];
      }
      const seen: [string, string][] = [];
      const expected: [string, string][] = [];
      for (const [name, [credential, byKey, byOperator]] of Object.entries(shown)) {
        const wanted =
          key === 'none'
            ? 'open'
            : key === 'operator'
              ? byOperator
              : key === 'site'
                ? bySiteHost(name, byOperator)
                : byKey;
        if (wanted === 'open' && isEndless(declaration)) continue;
        const { outcome } = await answer(declaration, credential);
        seen.push([name, wanted === 'open' && isOpen.test(outcome) ? 'open' : outcome]);
        expected.push([name, wanted]);
      }
      expect(seen).toEqual(expected);
    });

    test('believes no header about where a request comes from, and serves only the origins of a key', async () => {
      const claimed = await answer(declaration, keys.elsewhere, { 'x-forwarded-for': '192.0.2.1' });
      if (key === 'admin' || key === 'assistant') expect(claimed.outcome).toBe('403 address_not_allowed');
      const own = await answer(declaration, keys.ofSite, { origin: 'https://docs.acme.test' });
      const foreign = await answer(declaration, keys.ofSite, { origin: 'https://evil.test' });
      const allows = ({ got }: typeof own) => got.headers['access-control-allow-origin'];
      if (declaration.crossOrigin) {
        expect([allows(own), foreign.outcome, allows(foreign)]).toEqual([
          'https://docs.acme.test',
          '403 origin_not_allowed',
          undefined,
        ]);
        expect(own.outcome).toMatch(isOpen);
      } else {
        const everyone = declaration.isPublicFile && own.got.statusCode === 200 ? '*' : undefined;
        expect([allows(own), allows(foreign)]).toEqual([everyone, everyone]);
      }
    });

    test.skipIf(key === 'none' || key === 'operator' || key === 'site' || isEndless(declaration))(
      'shows an organization nothing of another one',
      async () => {
        const foreign = await answer(declaration, globex.adminKey);
        const namesOne = declaration.params !== undefined || name === 'POST /v1/static-export/jobs';
        if (namesOne) expect(foreign.outcome).toBe('404 not_found');
        else
          for (const secret of [acme.id, jobId, contentVersion, acmeKeyId])
            expect(foreign.got.body).not.toContain(secret);
        // People who may close the site have closed it.
        if (declaration.id === 'closeSite') await openSite();
        // The request of the resource's owner is accepted, so the refusal above is due to the organization.
        expect((await answer(declaration, acme.adminKey)).outcome).toMatch(/^(?!401|403|404 not_found$)/);
      },
    );
  },
);

describe('a route that changes something', () => {
  const changing = declarations.filter(({ method }) => method !== 'GET');
  const ended = `se_${'e'.repeat(22)}`;
  let counting: RateLimiter;

  beforeAll(async () => {
    const state = exportState({
      organization: acme.id,
      jobId: ended,
      phase: 'completed',
      completedAt: '2026-03-01T10:01:00.000Z',
    });
    await gateway.bus.exports.append(exportCommit(state), { sequence: 0 });
    // An earlier test has closed it.
    await openSite();
    counting = gateway.context.rateLimiter;
    const take = async () => ({ allowed: false, remaining: 0, resetSeconds: 7 });
    gateway.context.rateLimiter = { ...counting, take };
  });
  afterAll(() => {
    gateway.context.rateLimiter = counting;
  });

  test.each(changing.map((declaration) => [`${declaration.method} ${declaration.path}`, declaration] as const))(
    'is counted: %s',
    async (name, { method, path, key, body }) => {
      const values: Record<string, string> = { ...samples(), jobId: ended };
      const isArchive = body === 'archive';
      const payload = isArchive ? Buffer.from('x') : (bodies[name] ?? { domain: 'docs' });
      const refused = await gateway.app.inject({
        method,
        url: path.replaceAll(/:(\w+)/g, (_, parameter: string) => values[parameter] ?? ''),
        headers: {
          ...bearer(key === 'operator' ? operatorToken : key === 'site' ? siteKey : acme.adminKey),
          ...(isArchive ? { 'content-type': 'application/gzip' } : {}),
        },
        ...(body === undefined ? {} : { payload }),
      });
      expect([refused.statusCode, refused.json()]).toMatchObject([429, { code: 'rate_limited' }]);
      expect(refused.headers['retry-after']).toBe('7');
    },
  );
});

test('a route that changes something cannot be declared without a limit', () => {
  const shared = { id: 'makeNew', path: '/v1/new', summary: 'New.', key: 'admin' } as const;
  publicRoute({ ...shared, method: 'GET' }, async () => {});
  // @ts-expect-error: the compiler wants `limits`.
  publicRoute({ ...shared, method: 'POST' }, async () => {});
  // @ts-expect-error: and one limit at least.
  publicRoute({ ...shared, method: 'DELETE', limits: [] }, async () => {});
  expect(declarations.filter(({ method, limits = [] }) => method !== 'GET' && limits.length === 0)).toEqual([]);
});

test.each(declarations.map(({ path, params }) => [path, params] as const))(
  '%s declares its parameters, and this file has a sample of each',
  (path, params) => {
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    expect(Object.keys(params?.shape ?? {})).toEqual(names);
    const values: Record<string, string> = samples();
    const unfit = names.filter((name = '') => params?.shape[name]?.safeParse(values[name]).success !== true);
    expect(unfit, 'samples() in this file has no fitting value of these parameters').toEqual([]);
  },
);

test('a route that is not declared cannot be added', async () => {
  const app = await buildGateway({ ...gateway.context, metrics: serviceMetrics('gateway') });
  expect(() => app.get('/v1/secret', async () => 'x')).toThrow('GET /v1/secret is not declared');
});

test('the description is valid OpenAPI 3.1 and has every documented route', async () => {
  const served = await gateway.app.inject({ url: '/openapi.json' });
  const description = served.json();
  const { valid, errors } = await new Validator().validate(structuredClone(description));
  expect(errors ?? []).toEqual([]);
  expect([valid, description.openapi]).toEqual([true, '3.1.0']);
  const described = Object.entries<object>(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const documented = declarations.filter(({ undocumented }) => !undocumented);
  expect(described.toSorted()).toEqual(
    documented.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`).toSorted(),
  );
  const refs = [...served.body.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
  expect(refs.filter((name) => !(String(name) in description.components.schemas))).toEqual([]);
});
