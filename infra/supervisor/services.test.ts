import { expect, test } from 'vitest';
import { callPairs, callTokenVariable } from '#shared/interfaces/internal/internal-calls.ts';
import { passwordVariable, secretVariables } from '../../test/support/needed-secrets.ts';
import {
  consoleEnvironment,
  consoleHealthPort,
  processEnvironment,
  processesOf,
  type ServiceName,
  serviceNames,
  siteHostEnvironment,
  siteHostHealthPort,
} from './services.ts';

const plan = {
  dataFolder: '/data',
  publicUrl: 'http://127.0.0.1:8080',
  host: '127.0.0.1',
  gatewayPort: 8080,
  natsUrl: 'nats://127.0.0.1:4222',
  ports: Object.fromEntries(serviceNames.map((name, index) => [name, 9000 + index])) as Record<
    (typeof serviceNames)[number],
    number
  >,
  secrets: {
    natsPasswords: Object.fromEntries(serviceNames.map((name) => [name, `password-of-${name}`])),
    callTokens: Object.fromEntries(
      callPairs.map(({ caller, service }) => [callTokenVariable(caller, service), `token-of-${caller}-for-${service}`]),
    ),
    operatorToken: 'operator-token-operator-token',
    hashKey: 'hash-key-hash-key-hash-key',
    linkSigningKey: 'link-key-link-key-link-key',
    auditKey: 'audit-key-audit-key-audit-key',
    siteKey: 'site-key-site-key-site-key',
    consoleSecret: 'console-key-console-key-console-key',
    personTokenKey: 'person-key-person-key-person-key',
    natsRoutePassword: 'r'.repeat(32),
    s3SecretAccessKey: 'audit-key-audit-key-audit-key',
    redisPassword: 'audit-key-audit-key-audit-key',
    elasticsearchPassword: 'audit-key-audit-key-audit-key',
  },
  rendererSlots: 2,
};

const environmentOf = (name: ServiceName, environment: Record<string, string>) =>
  processEnvironment({ services: [name], copy: 0 }, plan, environment);

const isSecret = (value: string) => /^(password-of|token-of|\w+-key|operator-token)-/.test(value);

test.each(serviceNames)('the %s gets the secrets that it needs, and no other', (name) => {
  const env = environmentOf(name, { BINDERY_OPERATOR_TOKEN: 'from outside', SECRET: 'x' });
  const secrets = Object.keys(env).filter((variable) => isSecret(env[variable] ?? ''));
  expect(secrets.toSorted()).toEqual(secretVariables(name));
  expect(env[passwordVariable(name)]).toBe(`password-of-${name}`);
  expect(Object.values(env)).not.toContain('from outside');
  expect(Object.values(env)).not.toContain('x');
});

test('secrets that the user chose reach those that need them, too', () => {
  const chosen = {
    BINDERY_HASH_KEY: 'chosen hash',
    BINDERY_LINK_SIGNING_KEY: 'chosen link',
    BINDERY_MISTRAL_API_KEY: 'chosen model',
    BINDERY_S3_SECRET_ACCESS_KEY: 'chosen store',
    BINDERY_AUDIT_KEY: 'chosen audit',
    BINDERY_SERVICE_TOKEN: 'chosen token',
    BINDERY_TOKEN_GATEWAY_TO_PUBLISHER: 'chosen token',
    BINDERY_KEY: 'chosen key of the command line',
  };
  const got = (name: (typeof serviceNames)[number]) =>
    Object.values(environmentOf(name, chosen)).filter((value) => value.startsWith('chosen'));
  expect(got('page-renderer')).toEqual(['chosen store']);
  expect(got('indexer').toSorted()).toEqual(['chosen model', 'chosen store']);
  expect(got('assistant').toSorted()).toEqual(['chosen hash', 'chosen model', 'chosen store']);
  expect(got('gateway').toSorted()).toEqual(['chosen hash', 'chosen link', 'chosen store']);
});

test('services that need a secret from a file get the name of the file', () => {
  const env = { BINDERY_HASH_KEY_FILE: '/run/hash', BINDERY_REDIS_PASSWORD: 'chosen redis' };
  expect(environmentOf('assistant', env)).toMatchObject({ BINDERY_HASH_KEY_FILE: '/run/hash' });
  expect(environmentOf('assistant', env)).not.toHaveProperty('BINDERY_HASH_KEY');
  expect(environmentOf('assistant', env)).not.toHaveProperty('BINDERY_REDIS_PASSWORD');
  expect(environmentOf('gateway', env)).toMatchObject({ BINDERY_REDIS_PASSWORD: 'chosen redis' });
});

test('settings of the user override those of the supervisor, except for addresses and folders', () => {
  const env = environmentOf('gateway', {
    BINDERY_LANGUAGE_MODEL: 'mistral',
    BINDERY_RENDERER_SLOTS: '8',
    BINDERY_PORT: '1',
  });
  expect(env).toMatchObject({ BINDERY_LANGUAGE_MODEL: 'mistral', BINDERY_RENDERER_SLOTS: '8', BINDERY_PORT: '8080' });
});

test.each(['shared', 'separate'] as const)(
  'every service runs once in %s processes, or as often as `copies` says',
  (layout) => {
    const times = (copies = {}) => {
      const running = processesOf(layout, copies).flatMap(({ services }) => services);
      return Object.fromEntries(serviceNames.map((name) => [name, running.filter((other) => other === name).length]));
    };
    const once = Object.fromEntries(serviceNames.map((name) => [name, 1]));
    expect(times()).toEqual(once);
    expect(times({ projector: 0, bundler: 3 })).toEqual({ ...once, projector: 0, bundler: 3 });
  },
);

test('each further copy of a service has a process and a free port of its own', () => {
  const [first, second] = processesOf('shared', { 'page-renderer': 2 }).filter(({ services }) =>
    services.includes('page-renderer'),
  );
  if (first === undefined || second === undefined) throw new Error('There are no two processes.');
  const ports = [first, second].map((process) => processEnvironment(process, plan, {}).BINDERY_PAGE_RENDERER_PORT);
  expect(ports).toEqual([String(plan.ports['page-renderer']), '0']);
  expect(second.services).toEqual(['page-renderer']);
});

test.each([
  ['of the sites, if no other is set', {}, undefined, '8090'],
  ['that the user set', { BINDERY_DOCS_HOST_HEALTH_PORT: '9999' }, '9999', '9999'],
  ['that is free, if the user set 0', { BINDERY_DOCS_HOST_HEALTH_PORT: '0' }, '7777', '7777'],
  ['of the sites, if the user set nothing', { BINDERY_DOCS_HOST_HEALTH_PORT: '' }, '', '8090'],
])('the health of the host of sites is asked for at the port %s', (_, chosen, set, asked) => {
  const environment = siteHostEnvironment({ ...plan, sitesPort: 8090, freeSitesHealthPort: 7777 }, chosen);
  expect(environment['BINDERY_DOCS_HOST_HEALTH_PORT']).toBe(set);
  expect(siteHostHealthPort(environment)).toBe(asked);
});

test('the host of sites gets the secrets of logins that a user has set, and no other', () => {
  const logins = { BINDERY_OIDC_CLIENT_SECRET: 'of-oidc', BINDERY_LOGIN_SESSION_SECRET: 'of-sessions' };
  const others = { BINDERY_HASH_KEY: 'other-1', BINDERY_KEY: 'other-2', BINDERY_OPERATOR_TOKEN: 'other-3' };
  const at = { ...plan, sitesPort: 8090, freeSitesHealthPort: 7777 };
  const environment = siteHostEnvironment(at, { ...logins, ...others });
  expect(environment).toMatchObject({ ...logins, BINDERY_SITES_BASE: 'localhost:8090' });
  for (const value of Object.values(others)) expect(Object.values(environment)).not.toContain(value);
  expect(siteHostEnvironment(at, { BINDERY_SITES_BASE: 'https://docs.test' })).toMatchObject({
    BINDERY_SITES_BASE: 'https://docs.test',
  });
});

const withConsole = { ...plan, consolePort: 8070 };

test('the console gets its secrets, and of those that a user has set only its own', () => {
  const others = { BINDERY_HASH_KEY: 'other-1', BINDERY_KEY: 'other-2', BINDERY_OPERATOR_TOKEN: 'other-3' };
  const environment = consoleEnvironment(withConsole, { ...others, BINDERY_REDIS_PASSWORD: 'of-redis' });
  const secrets = Object.keys(environment).filter((variable) => isSecret(environment[variable] ?? ''));
  expect(secrets).toEqual(['BINDERY_CONSOLE_SECRET', 'BINDERY_PERSON_TOKEN_KEY']);
  expect(environment).toMatchObject({
    BINDERY_REDIS_PASSWORD: 'of-redis',
    BINDERY_PLATFORM_URL: 'http://127.0.0.1:8080',
    BINDERY_CONSOLE_URL: 'http://127.0.0.1:8070',
  });
  for (const value of Object.values(others)) expect(Object.values(environment)).not.toContain(value);
});

test.each([
  ['a chosen one', { BINDERY_PERSON_TOKEN_KEY: 'chosen' }, 'chosen'],
  ['one in a file', { BINDERY_PERSON_TOKEN_KEY_FILE: '/run/key' }, undefined],
  ['one of the data folder', {}, plan.secrets.personTokenKey],
])('the console and the gateway sign and check the requests of people with the same key: %s', (_, chosen, key) => {
  const gateway = processEnvironment({ services: ['gateway'], copy: 0 }, withConsole, chosen);
  for (const environment of [gateway, consoleEnvironment(withConsole, chosen)]) {
    expect(environment['BINDERY_PERSON_TOKEN_KEY']).toBe(key);
    expect(environment).toMatchObject({ ...chosen, BINDERY_CONSOLE_URL: 'http://127.0.0.1:8070' });
  }
});

test('accounts for logins of sites are none of the console, unless it has grants for them', () => {
  const provider = { BINDERY_OIDC_ISSUER: 'https://login.test', BINDERY_OIDC_CLIENT_SECRET: 'of-oidc' };
  expect(Object.keys(consoleEnvironment(withConsole, provider))).not.toEqual(
    expect.arrayContaining(Object.keys(provider)),
  );
  const grants = { BINDERY_CONSOLE_GRANTS: 'staff=acme:viewer' };
  expect(consoleEnvironment(withConsole, { ...provider, ...grants })).toMatchObject({ ...provider, ...grants });
});

test('the health of the console is asked for at its own port, unless the user set another one', () => {
  const asked = (chosen: Record<string, string>) => consoleHealthPort(consoleEnvironment(withConsole, chosen));
  expect([asked({}), asked({ BINDERY_CONSOLE_HEALTH_PORT: '9999' })]).toEqual(['8070', '9999']);
});
