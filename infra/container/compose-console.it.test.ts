import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFirstOrganization } from '#services/cli/commands/organizations.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { type ServerProcess, startServerProcess } from '../../test/support/server-process.ts';
import { startNatsServer } from '../../test/support/start-bus.ts';
import { runCommand } from '../../test/support/start-installation.ts';
import { startRedis } from '../../test/support/start-redis.ts';
import { startVersityGateway } from '../../test/support/start-versitygw.ts';

type Variables = Record<string, unknown>;
type Service = { environment?: Variables; command?: string[] };
type Compose = { services: Record<string, Service> };

const root = join(import.meta.dirname, '../..');
const main = join(root, 'services/cli/bindery.mjs');

/** Variables with those that `<<` takes over. */
function merged({ '<<': others, ...own }: Variables = {}): Variables {
  return { ...Object.assign({}, ...[others ?? []].flat()), ...own };
}

/** The services run with the variables of the Compose file and the image, and with secrets of `bindery secrets`; only host names are other ones. */
describeWithServers(['nats-server', 'redis-server', 'versitygw'], 'the console as the Compose file starts it', () => {
  const folder = newFolder();
  const stops: (() => Promise<unknown>)[] = [];
  let consoleUrl: string;
  let gatewayUrl: string;
  let operatorToken: string;
  let adminKey: string;

  const secretOf = async (service: string, name: string) =>
    (await readFile(join(folder, service, name), 'utf8')).trim();

  beforeAll(async () => {
    const made = await runCommand(['secrets', folder]);
    if (made.code !== 0) throw new Error(made.stderr);
    operatorToken = await secretOf('operator', 'BINDERY_OPERATOR_TOKEN');
    const config = await readFile(join(folder, 'nats', 'nats.conf'), 'utf8');
    const nats = await startNatsServer({ configText: config.replaceAll(/^(?:http|port|host|listen)\b.*$/gm, '') });
    const redis = await startRedis(['--requirepass', await secretOf('console', 'BINDERY_REDIS_PASSWORD')]);
    const secretAccessKey = await secretOf('s3', 'BINDERY_S3_SECRET_ACCESS_KEY');
    const s3 = await startVersityGateway({ accessKeyId: 'bindery', secretAccessKey });
    for (const server of [nats, redis, s3]) stops.push(() => server.stop());
    const hosts: Record<string, string> = {
      'nats:4222': `127.0.0.1:${nats.port}`,
      'redis:6379': `127.0.0.1:${redis.port}`,
      'http://s3:7070': s3.endpoint,
    };
    const compose = load(await readFile(join(root, 'docker-compose.yml'), 'utf8')) as Compose;
    const dockerfile = await readFile(join(root, 'infra/Dockerfile'), 'utf8');
    const image = Object.fromEntries(
      [...dockerfile.matchAll(/^(?:ENV|   ) +(BINDERY_\w+)=(\S+?)(?: \\)?$/gm)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    );

    /** Variables of a service, with free ports on loopback. */
    const environmentOf = (name: string): Record<string, string> => {
      const given = Object.entries(merged(compose.services[name]?.environment)).map(([variable, text]) => {
        const value = String(text).replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
        return [variable, Object.entries(hosts).reduce((shown, [host, own]) => shown.replace(host, own), value)];
      });
      const environment: Record<string, string> = {
        ...image,
        ...Object.fromEntries(given),
        BINDERY_SECRETS: join(folder, name === 'provision' ? 'provisioner' : name),
        BINDERY_DATA: newFolder(),
        BINDERY_CACHE: process.env['BINDERY_CACHE'] ?? '',
      };
      for (const variable of Object.keys(environment)) {
        if (variable.endsWith('_PORT')) environment[variable] = '0';
        if (variable.endsWith('_HOST')) environment[variable] = '127.0.0.1';
      }
      if (environment['BINDERY_CACHE'] === '') delete environment['BINDERY_CACHE'];
      return environment;
    };
    const start = async (name: string): Promise<ServerProcess> => {
      const env = { ...environmentOf(name), PATH: process.env['PATH'], BINDERY_LOG_LEVEL: 'info' };
      const args = [main, ...(compose.services[name]?.command ?? [])];
      const listens = 'listening at (http:[^"\\s]+)';
      const ready = new RegExp(name === 'projector' ? listens : `${listens}[^]*${listens}`);
      const started = await startServerProcess({ program: process.execPath, args, env }, ready);
      stops.push(() => started.kill('SIGTERM'));
      return started;
    };

    const provisioned = await runCommand(['provision'], environmentOf('provision'));
    if (provisioned.code !== 0) throw new Error(provisioned.stderr);
    await start('projector');
    gatewayUrl = (await start('gateway')).greeting[1] ?? '';
    hosts['http://gateway:8080'] = gatewayUrl;
    // The port of its health is opened first.
    consoleUrl = (await start('console')).greeting[2] ?? '';
    ({ adminKey } = await createFirstOrganization(gatewayUrl, operatorToken));
  });
  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  async function signIn(credential: string) {
    const answer = await fetch(`${consoleUrl}/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ credential }).toString(),
      redirect: 'manual',
    });
    const cookie = answer.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ');
    const get = async (path: string) => (await fetch(consoleUrl + path, { headers: { cookie } })).text();
    return { status: answer.status, get };
  }

  test('an operator signs in, and acts at the gateway under their name', async () => {
    const { status, get } = await signIn(operatorToken);
    expect(status).toBe(303);
    const organizations = await get('/organizations');
    expect(organizations).toContain('<h1>Organizations</h1>');
    const path = /href="(\/o\/[^"/]+)"/.exec(organizations)?.[1] ?? '';
    expect(await get(`${path}/keys`)).toContain('<h1>API keys</h1>');
  });

  test('an admin key signs in, and another text does not', async () => {
    const { status, get } = await signIn(adminKey);
    expect(status).toBe(303);
    expect(await get('/')).toMatch(/<h1>[^<]+<\/h1>/);
    expect((await signIn(`svc_${'x'.repeat(36)}`)).status).toBe(403);
  });

  test('the start page of the gateway leads to it', async () => {
    const welcome = await fetch(gatewayUrl, { headers: { accept: 'application/json' } });
    expect(await welcome.json()).toMatchObject({ console: 'http://localhost:8070' });
  });
});
