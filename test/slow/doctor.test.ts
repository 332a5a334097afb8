import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DeadLetter, deadLetterKey } from '#shared/contracts/dead-letters.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { requireServer } from '#infra/setup/find-server.ts';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { newFolder } from '../support/new-folder.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { slowProxy } from '../support/slow-proxy.ts';
import { standInServices } from '../support/stand-in-services.ts';
import { runCommand } from '../support/start-installation.ts';
import { type RedisServer, startRedis } from '../support/start-redis.ts';
import { startVersityGateway, type VersityGateway } from '../support/start-versitygw.ts';
import { passwordVariable } from '#services/cli/bus-connection.ts';
import { examinationText } from '#services/cli/commands/doctor.ts';
import { examine } from '#services/cli/doctor/examine.ts';
import { noPaint } from '#services/cli/terminal.ts';

describeWithServers(['nats-server', 'versitygw', 'redis-server'], 'bindery doctor', () => {
  let folder: string;
  let nats: ServerProcess;
  let natsMonitor: string;
  let s3: VersityGateway;
  let redis: RedisServer;
  let gateway: Server;
  /** The readiness that the gateway reports. */
  let readiness: Record<string, unknown>;
  /** The response to the list of models. */
  let models: { status: number; body: unknown };
  let healthy: Record<string, string>;
  const listening: Server[] = [];
  let stopServices: () => Promise<void>;

  const passwordOf = async (user: string): Promise<string> =>
    (await readFile(join(folder, user, passwordVariable(user)), 'utf8')).trim();
  const startServices = () => standInServices(healthy.BINDERY_NATS_URL ?? '', passwordOf);

  const serve = async (listener: RequestListener): Promise<Server> => {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    listening.push(server);
    return server;
  };
  const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  beforeAll(async () => {
    folder = newFolder();
    await runCommand(['secrets', folder]);
    const [port = 0, monitorPort = 0] = await freePorts(2);
    const config = ['-c', join(folder, 'nats', 'nats.conf'), '-p', `${port}`, '-m', `${monitorPort}`];
    const args = [...config, '--store_dir', join(folder, 'store')];
    const program = requireServer('nats-server');
    [nats, s3, redis] = await Promise.all([
      startServerProcess({ program, args }, /Server is ready/),
      startVersityGateway(),
      readFile(join(folder, 'doctor', 'BINDERY_REDIS_PASSWORD'), 'utf8').then((password) =>
        startRedis(['--requirepass', password.trim(), '--maxmemory', '64mb', '--maxmemory-policy', 'noeviction']),
      ),
    ]);
    natsMonitor = `http://127.0.0.1:${monitorPort}`;
    readiness = { service: 'gateway', ready: true, missing: {} };
    models = { status: 200, body: { data: [{ id: 'mistral-small-latest' }, { id: 'mistral-embed' }] } };
    gateway = await serve((_, answer) => void answer.end(JSON.stringify(readiness)));
    const model = await serve((_, answer) => void answer.writeHead(models.status).end(JSON.stringify(models.body)));
    healthy = {
      BINDERY_SECRETS: join(folder, 'doctor'),
      BINDERY_NATS_URL: `nats://127.0.0.1:${port}`,
      BINDERY_OBJECT_STORE: 's3',
      BINDERY_S3_ENDPOINT: s3.endpoint,
      BINDERY_S3_FORCE_PATH_STYLE: '1',
      BINDERY_S3_ACCESS_KEY_ID: s3.accessKeyId,
      BINDERY_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      BINDERY_REDIS_URL: redis.url,
      BINDERY_LANGUAGE_MODEL: 'mistral',
      BINDERY_MISTRAL_API_KEY: 'a-key',
      BINDERY_MISTRAL_BASE_URL: addressOf(model),
    };
    await runCommand(['provision'], { ...healthy, BINDERY_SECRETS: join(folder, 'provisioner') });
    stopServices = await startServices();
  });

  afterAll(async () => {
    for (const server of listening) server.close();
    await stopServices?.();
    await Promise.all([nats?.kill(), s3?.stop(), redis?.stop()]);
  });

  /** The doctor's report when these variables are changed. */
  const saidWith = async (
    changed: Record<string, string>,
    services: Parameters<typeof examine>[0]['services'] = [],
  ) => {
    const environment = { ...healthy, ...changed };
    const about = { dataFolder: join(folder, 'none'), gateway: addressOf(gateway), natsMonitors: [natsMonitor] };
    return examinationText(await examine({ environment, services, ...about }), noPaint);
  };

  test('says of a healthy installation that all is well, and leaves nothing behind', async () => {
    const outcome = await runCommand(
      ['doctor', '--url', addressOf(gateway), '--data', join(folder, 'none'), '--nats-monitor', natsMonitor],
      healthy,
    );
    expect(outcome.stdout).toMatch(/^All is well\.\n$/m);
    expect(outcome.code).toBe(0);
    for (const sentence of [
      /nats-server \d+\.\d+\.\d+ at nats:\S+ knows the user "provisioner"/,
      /\d+ streams and buckets and \d+ consumers have the settings of this version/,
      /writes each message to its disk before it acknowledges it/,
      /Each stream stored its last message/,
      /Each service that works on messages is running/,
      /No message is set aside/,
      /The object store at http:\S+ \(bucket bindery\) wrote and read an object in \d+ ms/,
      /The object store does not overwrite existing objects/,
      /A signed link to http:\S+ works from here/,
      /Redis \d+\.\d+\.\d+ at redis:\S+ usually answers within/,
      /The model "mistral-small-latest" is at/,
      /The model "mistral-embed" is at/,
      /The gateway at http:\S+ is ready/,
    ]) {
      expect(outcome.stdout).toMatch(sentence);
    }
    expect(outcome.stdout).not.toMatch(/[!✗]/);
    const again = await runCommand(['doctor', '--json'], { ...healthy, BINDERY_URL: addressOf(gateway) });
    expect(JSON.parse(again.stdout)).toMatchObject({ healthy: true });
  });

  const elsewhere = 'http://127.0.0.1:1';

  test.each<[name: string, changed: Record<string, string>, said: RegExp, advice: RegExp]>([
    ['no bus', { BINDERY_NATS_URL: 'nats://127.0.0.1:1' }, /There is no bus at nats:/, /set BINDERY_NATS_URL/],
    [
      'a wrong password of the bus',
      { BINDERY_NATS_PASSWORD_PROVISIONER: 'another-password' },
      /does not know the user "provisioner", or its password differs/,
      /BINDERY_NATS_PASSWORD_PROVISIONER/,
    ],
    [
      'no password at all',
      { BINDERY_SECRETS: '' },
      /No password for the bus is known here/,
      /BINDERY_SECRETS to the folder "doctor"/,
    ],
    [
      'no store',
      { BINDERY_S3_ENDPOINT: elsewhere },
      /the object store cannot open the bucket/,
      /set BINDERY_S3_ENDPOINT to its address/,
    ],
    [
      'an address of a store without its scheme',
      { BINDERY_S3_ENDPOINT: 'localhost:7070' },
      /BINDERY_S3_ENDPOINT is wrong \(must be http:/,
      /Correct the setting/,
    ],
    [
      'no bucket',
      { BINDERY_S3_BUCKET: 'another' },
      /refused to open the bucket another: NotFound, status 404[.]/,
      /bindery provision.*BINDERY_S3_BUCKET/,
    ],
    [
      'a wrong key of the store',
      { BINDERY_S3_SECRET_ACCESS_KEY: 'another' },
      /refused to open the bucket bindery: status 403[.]/,
      /Set BINDERY_S3_ACCESS_KEY_ID and BINDERY_S3_SECRET_ACCESS_KEY/,
    ],
    [
      'a folder of secrets that is not there',
      { BINDERY_SECRETS: '/nowhere' },
      /BINDERY_SECRETS is wrong: there is no folder "\/nowhere"/,
      /Correct the setting|Look at/,
    ],
    [
      'a file of authorities that is not there',
      { BINDERY_REDIS_CA_FILE: '/nowhere.pem' },
      /BINDERY_REDIS_CA_FILE is wrong: the file "\/nowhere.pem" cannot be read/,
      /Correct the setting/,
    ],
    [
      'links that nobody can follow',
      { BINDERY_S3_PUBLIC_ENDPOINT: elsewhere },
      /Signed links lead to http:\/\/127\.0\.0\.1:1, which cannot be reached from here/,
      /BINDERY_S3_PUBLIC_ENDPOINT/,
    ],
    [
      'no Redis',
      { BINDERY_REDIS_URL: 'redis://127.0.0.1:1' },
      /Redis at redis:\S+ cannot be reached/,
      /BINDERY_REDIS_URL/,
    ],
    [
      'a wrong password of Redis',
      { BINDERY_REDIS_PASSWORD: 'no' },
      /does not accept the password/,
      /BINDERY_REDIS_PASSWORD/,
    ],
    [
      'no search engine',
      { BINDERY_SEARCH_ENGINE: 'elasticsearch', BINDERY_ELASTICSEARCH_URL: elsewhere },
      /The search engine at http:\S+ cannot be used/,
      /BINDERY_ELASTICSEARCH_URL/,
    ],
    [
      'half of the settings of a search engine',
      { BINDERY_SEARCH_ENGINE: 'elasticsearch' },
      /needs BINDERY_ELASTICSEARCH_URL/,
      /Correct the setting/,
    ],
    [
      'a model that is not there',
      { BINDERY_MISTRAL_MODEL: 'large' },
      /There is no model "large"/,
      /mistral-small-latest/,
    ],
    [
      'a model of vectors that is not there',
      { BINDERY_EMBEDDING_MODEL: 'embed-large' },
      /There is no model "embed-large"/,
      /BINDERY_EMBEDDING_MODEL to one of: .*mistral-embed/,
    ],
    ['no model at all', { BINDERY_MISTRAL_BASE_URL: elsewhere }, /No model answers at/, /BINDERY_MISTRAL_BASE_URL/],
    [
      'a misspelt variable',
      { BINDERY_S3_ENDPONT: 'x' },
      /BINDERY_S3_ENDPONT is set, and nothing reads it; did you mean "BINDERY_S3_ENDPOINT"/,
      /Correct or remove it/,
    ],
  ])('says what is wrong, and what to do: %s', async (_, changed, said, advice) => {
    const text = await saidWith(changed);
    const line = text.split('\n').findIndex((each) => said.test(each));
    expect(text).toMatch(said);
    expect(text.split('\n')[line + 1]).toMatch(advice);
    expect(text).not.toContain('All is well');
  });

  test('names the settings that a service lacks', async () => {
    const text = await saidWith({}, ['gateway']);
    expect(text).toContain('The gateway does not start: BINDERY_HASH_KEY is not set');
    expect(await saidWith({ BINDERY_SECRETS: join(folder, 'link-signer') }, ['link-signer'])).toContain(
      'The link-signer has the settings that it needs.',
    );
  });

  test('passes on what the gateway says of itself', async () => {
    readiness = {
      ...{ service: 'gateway', ready: false, setAside: 3 },
      ...{ missing: { publisher: 'did not answer.' }, degraded: { limits: 'Redis is unavailable.' } },
    };
    const text = await saidWith({});
    expect(text).toContain('reports a problem with publisher: did not answer.');
    expect(text).toContain('Redis is unavailable.');
    expect(text).toContain('3 messages are set aside.');
    readiness = { service: 'gateway', ready: true, missing: {} };
  });

  test('says whether the collector of traces takes spans', async () => {
    const seen: unknown[] = [];
    const collector = await serve((request, answer) => {
      seen.push([request.method, request.url, request.headers['x-team'], request.headers['content-type']]);
      answer.writeHead(request.headers['x-team'] === 'docs team' ? 200 : 401).end();
    });
    const at = { OTEL_EXPORTER_OTLP_ENDPOINT: `${addressOf(collector)}/` };
    const refused = await saidWith(at);
    expect(refused).toContain('does not accept spans (401): traces are lost.');
    expect(refused).toContain('→ Set OTEL_EXPORTER_OTLP_HEADERS');
    const taken = await saidWith({ ...at, OTEL_EXPORTER_OTLP_HEADERS: 'x-other=1,x-team=docs%20team' });
    expect(taken).toContain(`The collector at ${addressOf(collector)}/v1/traces accepts spans.`);
    expect(seen.at(-1)).toEqual(['POST', '/v1/traces', 'docs team', 'application/x-protobuf']);
    const away = await saidWith({ OTEL_EXPORTER_OTLP_ENDPOINT: elsewhere });
    expect(away).toMatch(/! No collector answers at http:\S+:1\/v1\/traces: .+ Traces are lost\./);
    expect(away).not.toContain('All is well');
  });

  test('asks a gateway below a path of its address, and shows no password of an address', async () => {
    const below = await serve((request, answer) =>
      answer.writeHead(request.url === '/docs/api/readyz' ? 200 : 404).end(JSON.stringify(readiness)),
    );
    const inspected = async (gatewayAddress: string) => {
      const about = { environment: healthy, services: [], dataFolder: join(folder, 'none'), natsMonitors: [] };
      return examinationText(await examine({ ...about, gateway: gatewayAddress }), noPaint);
    };
    for (const end of ['', '/'])
      expect(await inspected(`${addressOf(below)}/docs/api${end}`)).toMatch(/The gateway at http:\S+ is ready/);
    const withPassword = await inspected(addressOf(below).replace('//', '//user:hunter2@'));
    expect(withPassword).toContain('The address of the gateway is not valid.');
    expect(withPassword).not.toContain('hunter2');
  });

  test('says which setting leads to a search engine that never answers, or is too old', async () => {
    const mute = await serve(() => {});
    const old = await serve((_, answer) => {
      answer.setHeader('x-elastic-product', 'Elasticsearch').setHeader('content-type', 'application/json');
      answer.end(JSON.stringify({ version: { number: '7.17.0' }, tagline: 'You Know, for Search' }));
    });
    const engine = (server: Server) => ({
      BINDERY_SEARCH_ENGINE: 'elasticsearch',
      BINDERY_ELASTICSEARCH_URL: addressOf(server),
    });
    const silent = await saidWith(engine(mute));
    expect(silent).toMatch(
      /The search engine at http:\S+ cannot be used: Elasticsearch did not say its version within/,
    );
    expect(silent).toContain('set BINDERY_ELASTICSEARCH_URL');
    expect(await saidWith(engine(old))).toMatch(
      /Elasticsearch 7\.17\.0 at http:\S+ is too old\.\n +→ Bindery needs version 8\.14 or later/,
    );
  }, 40_000);

  test('says which setting is wrong when a search engine speaks HTTPS, HTTP or for another product', async () => {
    const elasticsearch = await serve((_, answer) => {
      answer.setHeader('x-elastic-product', 'Elasticsearch').setHeader('content-type', 'application/json');
      answer.end(JSON.stringify({ version: { number: '9.4.3' }, tagline: 'You Know, for Search' }));
    });
    // A server that expects TLS closes the connection like this.
    const closing = await serve((request) => request.socket.destroy());
    const said = (url: string, engine = 'elasticsearch') =>
      saidWith({ BINDERY_SEARCH_ENGINE: engine, BINDERY_ELASTICSEARCH_URL: url });
    expect(await said(addressOf(elasticsearch).replace('http:', 'https:'))).toMatch(
      /It seems to speak HTTP without TLS: set BINDERY_ELASTICSEARCH_URL to its address with http:/,
    );
    expect(await said(addressOf(closing))).toContain('set BINDERY_ELASTICSEARCH_URL to its address with https://');
    expect(await said(addressOf(elasticsearch), 'opensearch')).toMatch(
      /does not say that it is OpenSearch\.\n +→ If it is Elasticsearch, set BINDERY_SEARCH_ENGINE=elasticsearch/,
    );
  }, 40_000);

  test('says when there are no vectors', async () => {
    expect(await saidWith({ BINDERY_EMBEDDING_MODEL: 'none' })).toContain('There are no vectors');
    const opensearch = { BINDERY_SEARCH_ENGINE: 'opensearch', BINDERY_ELASTICSEARCH_URL: elsewhere };
    expect(await saidWith(opensearch)).toContain('OpenSearch keeps no vectors');
  });

  test('says that the model does not take the key', async () => {
    models = { status: 401, body: {} };
    expect(await saidWith({})).toContain('does not accept the key (401)');
  });

  test('sees a stream that was changed, and a consumer that is gone', async () => {
    const password = (await readFile(join(folder, 'provisioner', 'BINDERY_NATS_PASSWORD_PROVISIONER'), 'utf8')).trim();
    const servers = healthy.BINDERY_NATS_URL ?? '';
    const connection = await connect({
      servers,
      user: 'provisioner',
      pass: password,
      inboxPrefix: '_INBOX_provisioner',
    });
    const jsm = await jetstreamManager(connection, { checkAPI: false });
    await jsm.streams.update('FACTS', { max_age: 1_000_000_000 * 3_600 });
    await connection.close();
    const text = await saidWith({});
    expect(text).toContain('The stream FACTS differs from the settings of this version: max_age.');
    expect(text).toContain('Run "bindery provision" of this version.');
  });

  test('names a paused consumer, and "bindery provision --resume" resumes it', async () => {
    const variables = { ...healthy, BINDERY_SECRETS: join(folder, 'provisioner') };
    const password = await passwordOf('provisioner');
    const access = { servers: healthy.BINDERY_NATS_URL ?? '', user: 'provisioner', pass: password };
    const connection = await connect({ ...access, inboxPrefix: '_INBOX_provisioner' });
    const jsm = await jetstreamManager(connection, { checkAPI: false });
    const until = new Date(Date.now() + 86_400_000);
    await jsm.consumers.pause('FACTS', 'orchestrator-facts', until);
    const isPaused = async () => (await jsm.consumers.info('FACTS', 'orchestrator-facts')).paused === true;
    const sentence = 'The consumer orchestrator-facts of FACTS was paused by hand: its service gets no message until ';
    const text = await saidWith({});
    expect(text).toContain(`! ${sentence}${until.toISOString().slice(0, 19)}`);
    expect(text).toContain('→ If the service should not wait, run "bindery provision --resume".');
    expect(text).not.toContain('All is well');
    // A pause may be deliberate, so an ordinary start keeps it, and says so.
    const kept = await runCommand(['provision'], variables);
    expect(kept).toMatchObject({ code: 0, stderr: expect.stringContaining(sentence) });
    expect(await isPaused()).toBe(true);
    const resumed = await runCommand(['provision', '--resume'], variables);
    expect(resumed).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/orchestrator-facts of FACTS .*is resumed/),
    });
    expect(await isPaused()).toBe(false);
    expect(await saidWith({})).not.toContain('paused');
    await connection.close();
  });

  test('names the services that do not work, although the gateway is ready', async () => {
    // On a busy machine a service may announce itself late.
    await expect.poll(() => saidWith({})).toContain('✓ Each service that works on messages is running.');
    await stopServices();
    try {
      let text = '';
      const named = async () => {
        text = await saidWith({});
        return text.match(/No \S+ works here/g)?.length;
      };
      await expect.poll(named).toBe(7);
      for (const [service, effect] of [
        ['orchestrator', 'no export starts or continues'],
        ['projector', 'statuses, lists, figures and keys do not change'],
        ['deployer', 'publications do not reach sites'],
        ['housekeeper', 'nothing is archived or removed'],
        ['page-renderer', 'no page is rendered'],
        ['bundler', 'no bundle is joined'],
        ['indexer', 'publications cannot be searched'],
      ]) {
        expect(text).toContain(`✗ No ${service} works here: ${effect}.\n    → Start one`);
      }
    } finally {
      stopServices = await startServices();
    }
  });

  test('says that messages are set aside, and what each kind waits for', async () => {
    expect(await saidWith({})).toContain('✓ No message is set aside.');
    const bus = await connectBus({
      ...{ url: healthy.BINDERY_NATS_URL ?? '', service: 'operator', instance: 'test' },
      password: await passwordOf('operator'),
    });
    const letter = (
      sequence: number,
      cause: DeadLetter['cause'],
      state: DeadLetter['state'] = 'aside',
    ): DeadLetter => ({
      ...{ service: 'projector', stream: 'EXPORTS', subject: 'exports.acme.x.log', sequence, isOrdered: true },
      ...{ state, cause, reason: 'It has an unknown event.', setAsideAt: '2026-03-01T10:00:00.000Z' },
    });
    const letters = [letter(1, 'newer'), letter(2, 'newer'), letter(3, 'poison'), letter(4, 'poison', 'dropped')];
    const keyOf = ({ service, stream, sequence }: DeadLetter) => deadLetterKey(service, stream, sequence);
    for (const one of letters) await bus.deadLetters.put(keyOf(one), one);
    const text = await saidWith({});
    expect(text).toContain(
      '! 2 messages are set aside until an upgrade: a newer version of Bindery wrote them, and the projector of this version cannot read them.\n    → Run the newer version of these services',
    );
    expect(text).toContain(
      '! 1 message is set aside, because the projector cannot handle it.\n    → "bindery dead list"',
    );
    expect(text).not.toContain('All is well');
    for (const one of letters) await bus.deadLetters.remove(keyOf(one));
    await bus.close();
    const blind = {
      BINDERY_SECRETS: '',
      BINDERY_NATS_PASSWORD_PROVISIONER: 'x',
      BINDERY_NATS_URL: 'nats://127.0.0.1:1',
    };
    expect(await saidWith(blind)).not.toContain('All is well');
  });

  test('sees a server that acknowledges before the disk has a message, and a monitor that is not there', async () => {
    const [port = 0, monitorPort = 0] = await freePorts(2);
    const file = join(folder, 'careless.conf');
    const config = await readFile(join(folder, 'nats', 'nats.conf'), 'utf8');
    await writeFile(
      file,
      config.replace('sync_interval: always', 'sync_interval: "2m"').replace('max_payload: 1MB', 'max_payload: 512KB'),
    );
    const args = ['-c', file, '-p', `${port}`, '-m', `${monitorPort}`, '--store_dir', join(folder, 'careless')];
    const careless = await startServerProcess({ program: requireServer('nats-server'), args }, /Server is ready/);
    try {
      const environment = { ...healthy, BINDERY_NATS_URL: `nats://127.0.0.1:${port}` };
      const natsMonitors = [`http://127.0.0.1:${monitorPort}`, elsewhere];
      const about = { environment, services: [], dataFolder: join(folder, 'none'), gateway: undefined, natsMonitors };
      const text = examinationText(await examine(about), noPaint);
      expect(text).toContain('a power cut loses up to two minutes of accepted work');
      expect(text).toContain('→ Set "sync_interval: always"');
      expect(text).toContain(`There is no monitor of a nats-server at ${elsewhere}`);
      expect(text).toContain('nats-server accepts messages of at most 524288 bytes.');
      expect(text).toContain('The stream EXPORTS is missing.');
    } finally {
      await careless.kill();
    }
  });

  test('sees a Redis that is far', async () => {
    const far = await slowProxy(Number(new URL(redis.url).port));
    far.delayMs = 70;
    try {
      expect(await saidWith({ BINDERY_REDIS_URL: `redis://127.0.0.1:${far.port}` })).toContain(
        '→ Run Redis near the gateways.',
      );
    } finally {
      await far.close();
    }
  });

  test('sees a Redis that evicts counts when it is full', async () => {
    const password = (await readFile(join(folder, 'doctor', 'BINDERY_REDIS_PASSWORD'), 'utf8')).trim();
    const forgetful = await startRedis([
      '--requirepass',
      password,
      '--maxmemory',
      '64mb',
      '--maxmemory-policy',
      'allkeys-lru',
    ]);
    try {
      expect(await saidWith({ BINDERY_REDIS_URL: forgetful.url })).toContain(
        'evicts counts (maxmemory-policy allkeys-lru)',
      );
    } finally {
      await forgetful.stop();
    }
  });
});
