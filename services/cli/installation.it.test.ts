import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireServer } from '#infra/setup/find-server.ts';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { type ServiceName, serviceNames } from '#infra/supervisor/services.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { secretVariables } from '../../test/support/needed-secrets.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { type ServerProcess, startServerProcess } from '../../test/support/server-process.ts';
import { runCommand } from '../../test/support/start-installation.ts';
import { startVersityGateway, type VersityGateway } from '../../test/support/start-versitygw.ts';

describeWithServers(['nats-server', 'versitygw'], 'an installation that is set up by commands', () => {
  let folder: string;
  let natsUrl: string;
  let s3: VersityGateway;
  const running: ServerProcess[] = [];
  const main = join(import.meta.dirname, 'bindery.mjs');
  const environment = () => ({
    BINDERY_NATS_URL: natsUrl,
    BINDERY_OBJECT_STORE: 's3',
    BINDERY_S3_ENDPOINT: s3.endpoint,
    BINDERY_S3_FORCE_PATH_STYLE: '1',
    BINDERY_S3_ACCESS_KEY_ID: s3.accessKeyId,
    BINDERY_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  });

  beforeAll(async () => {
    folder = newFolder();
    s3 = await startVersityGateway();
    await runCommand(['secrets', folder]);
    const [port = 0, monitorPort = 0] = await freePorts(2);
    natsUrl = `nats://127.0.0.1:${port}`;
    const config = ['-c', join(folder, 'nats', 'nats.conf'), '-p', `${port}`, '-m', `${monitorPort}`];
    const args = [...config, '--store_dir', join(folder, 'store')];
    running.push(await startServerProcess({ program: requireServer('nats-server'), args }, /Server is ready/));
  });

  afterAll(async () => {
    for (const each of running.toReversed()) await each.kill();
    await s3.stop();
  });

  test('a service finds in its folder the secrets that it needs, and no others; only their user reads them', async () => {
    const elasticsearch = ['BINDERY_ELASTICSEARCH_PASSWORD'];
    const ofServers: Partial<Record<ServiceName, string[]>> = {
      gateway: ['BINDERY_REDIS_PASSWORD'],
      indexer: elasticsearch,
      assistant: elasticsearch,
    };
    for (const name of serviceNames) {
      const files = await readdir(join(folder, name));
      const expected = [...secretVariables(name), 'BINDERY_S3_SECRET_ACCESS_KEY', ...(ofServers[name] ?? [])];
      expect(files.toSorted()).toEqual(expected.toSorted());
      for (const file of files) expect((await stat(join(folder, name, file))).mode & 0o777).toBe(0o600);
    }
  });

  test('hosts of sites find the only key that they need, which is one of those that the gateway knows', async () => {
    expect(await readdir(join(folder, 'sites'))).toEqual(['BINDERY_SITES_KEY']);
    const [ofHosts, known] = await Promise.all([
      readFile(join(folder, 'sites', 'BINDERY_SITES_KEY'), 'utf8'),
      readFile(join(folder, 'gateway', 'BINDERY_SITES_KEYS'), 'utf8'),
    ]);
    expect(ofHosts).toMatch(/^svc_site_/);
    expect(known.trim().split(',')).toContain(ofHosts.trim());
  });

  test('the console finds its secrets, and signs for people with the key that the gateway knows', async () => {
    expect((await readdir(join(folder, 'console'))).toSorted()).toEqual([
      'BINDERY_CONSOLE_SECRET',
      'BINDERY_PERSON_TOKEN_KEY',
      'BINDERY_REDIS_PASSWORD',
    ]);
    const [ofConsole, ofGateway] = await Promise.all(
      ['console', 'gateway'].map((name) => readFile(join(folder, name, 'BINDERY_PERSON_TOKEN_KEY'), 'utf8')),
    );
    expect(ofConsole?.trim()).toMatch(/^[\w-]{32,}$/);
    expect(ofGateway).toBe(ofConsole);
  });

  test('secrets that are there stay', async () => {
    const file = join(folder, 'gateway', 'BINDERY_OPERATOR_TOKEN');
    const before = await readFile(file, 'utf8');
    expect(await runCommand(['secrets', folder])).toMatchObject({ code: 0 });
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  test('each server of a NATS cluster gets a configuration that it takes', async () => {
    const hosts = ['nats-0.nats', 'nats-1.nats', 'nats-2.nats'];
    expect(await runCommand(['secrets', folder, '--nats', ...hosts])).toMatchObject({ code: 0 });
    for (const host of hosts) {
      const file = join(folder, 'nats', `${host}.conf`);
      await promisify(execFile)(requireServer('nats-server'), ['-t', '-c', file]);
      const config = await readFile(file, 'utf8');
      expect(config).toContain(`server_name: "${host}"`);
      expect(config.match(/nats-\d\.nats:6222/g)).toHaveLength(hosts.length);
    }
  });

  test('the bus and the store are set up, also a second time, and a service starts with nothing but its folder', async () => {
    const provision = () =>
      runCommand(['provision'], { ...environment(), BINDERY_SECRETS: join(folder, 'provisioner') });
    const said = /has its streams, buckets and consumers\.\nThe object store has the bucket "bindery"\.\n$/;
    expect(await provision()).toMatchObject({ code: 0, stdout: expect.stringMatching(said) });
    expect(await provision()).toMatchObject({ code: 0, stdout: expect.stringMatching(said) });

    const env = {
      ...environment(),
      PATH: process.env.PATH,
      BINDERY_SECRETS: join(folder, 'link-signer'),
      BINDERY_LINK_SIGNER_PORT: '0',
    };
    const signer = { program: execPath, args: [main, 'run', 'link-signer'], env };
    const started = await startServerProcess(signer, /listening at (http:\/\/127\.0\.0\.1:\d+)/);
    running.push(started);
    const ready = await fetch(`${started.greeting[1]}/readyz`);
    expect(await ready.json()).toMatchObject({ ready: true });
  });

  test('with tls:// there is TLS, and a command that waits for the bus says why', async () => {
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const selfSigned = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject];
    await promisify(execFile)('openssl', [...selfSigned, '-keyout', key, '-out', certificate]);
    const [port = 0, monitorPort = 0] = await freePorts(2);
    const config = ['-c', join(folder, 'nats', 'nats.conf'), '-p', `${port}`, '-m', `${monitorPort}`];
    const tls = ['--tls', '--tlscert', certificate, '--tlskey', key, '--store_dir', join(folder, 'secure')];
    running.push(
      await startServerProcess({ program: requireServer('nats-server'), args: [...config, ...tls] }, /Server is ready/),
    );
    const secure = {
      ...environment(),
      BINDERY_SECRETS: join(folder, 'provisioner'),
      BINDERY_NATS_URL: `tls://127.0.0.1:${port}`,
    };
    expect(await runCommand(['provision'], { ...secure, NODE_EXTRA_CA_CERTS: certificate })).toMatchObject({ code: 0 });

    const waiting = (more: Record<string, string>, why: RegExp) =>
      startServerProcess(
        { program: execPath, args: [main, 'provision'], env: { PATH: process.env.PATH, ...secure, ...more } },
        why,
      );
    const plain = natsUrl.replace('nats:', 'tls:');
    const both = await Promise.all([
      waiting({}, /waiting for the bus at tls:.*self-signed certificate.*set NODE_EXTRA_CA_CERTS to a file/),
      waiting({ BINDERY_NATS_URL: plain }, /waiting for the bus at tls:.*server does not support 'tls'/),
    ]);
    for (const each of both) await each.kill();
  });

  test('a bus that does not know the password is a sentence that names the variable', async () => {
    const outcome = await runCommand(['provision'], {
      ...environment(),
      BINDERY_SECRETS: join(folder, 'provisioner'),
      BINDERY_NATS_PASSWORD_PROVISIONER: 'another-password',
    });
    expect(outcome).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^bindery: The bus at nats:\S+ does not know the user "provisioner", or its password differs\. Set BINDERY_NATS_PASSWORD_PROVISIONER/,
      ),
    });
  });

  test('a service that starts before anything is provisioned says what to run', async () => {
    const config = join(folder, 'nats', 'nats.conf');
    const [port = 0, monitorPort = 0] = await freePorts(2);
    const args = ['-c', config, '-p', `${port}`, '-m', `${monitorPort}`, '--store_dir', join(folder, 'empty')];
    running.push(await startServerProcess({ program: requireServer('nats-server'), args }, /Server is ready/));
    const bus = { ...environment(), BINDERY_NATS_URL: `nats://127.0.0.1:${port}` };
    const started = (service: string) =>
      runCommand(['run', service], { ...bus, BINDERY_SECRETS: join(folder, service) });
    const outcomes = await Promise.all([started('bundler'), started('indexer')]);
    for (const { code, stderr } of outcomes) {
      expect(code).toBe(1);
      expect(stderr).toMatch(/The bus has no (?:bucket|consumer) ".+Run "bindery provision" of this version/);
    }
  });

  test('replicas that a cluster cannot have are a sentence', async () => {
    const outcome = await runCommand(['provision'], {
      ...environment(),
      BINDERY_SECRETS: join(folder, 'provisioner'),
      BINDERY_NATS_REPLICAS: '2',
    });
    expect(outcome).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('BINDERY_NATS_REPLICAS is wrong (must be 1, 3 or 5)'),
    });
  });
});
