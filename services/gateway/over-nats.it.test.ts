import { afterAll, beforeAll, expect, test } from 'vitest';
import { start as startGateway } from '#services/gateway/main.ts';
import { start as startLinkSigner } from '#services/link-signer/main.ts';
import { start as startProjector } from '#services/projector/main.ts';
import { start as startPublisher } from '#services/publisher/main.ts';
import { gatewaySettings } from '#services/gateway/config.ts';
import { linkSignerSettings } from '#services/link-signer/config.ts';
import { projectorSettings } from '#services/projector/config.ts';
import { publisherSettings } from '#services/publisher/config.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import type { Running } from '#shared/service/start-service.ts';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { inboxPrefix } from '#shared/messaging/subjects/permissions.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { packTar } from '../../test/support/archives.ts';
import { operatorToken } from '../../test/support/gateway-harness.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { environmentOn } from '../../test/support/service-process.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';

describeWithServers(['nats-server'], 'gateway, publisher, projector and link-signer over NATS', () => {
  let bus: TestBus;
  let folder: string;
  let services: Running[];
  let baseUrl: string;
  /** A second replica of the gateway. */
  let otherUrl: string;

  beforeAll(async () => {
    bus = await startTestBus();
    folder = newFolder();
    const env = environmentOn(bus, folder);
    const projector = await startProjector(loadConfig(projectorSettings, env));
    const publisher = await startPublisher(loadConfig(publisherSettings, env));
    const linkSigner = await startLinkSigner(loadConfig(linkSignerSettings, env));
    const gatewayConfig = loadConfig(gatewaySettings, {
      ...env,
      BINDERY_PUBLISHER_URL: publisher.url,
      BINDERY_LINK_SIGNER_URL: linkSigner.url,
      BINDERY_PROJECTOR_URL: projector.url,
    });
    const gateways = [await startGateway(gatewayConfig), await startGateway(gatewayConfig)] as const;
    services = [...gateways, linkSigner, publisher, projector];
    [{ url: baseUrl }, { url: otherUrl }] = gateways;
  });

  afterAll(async () => {
    for (const service of services) await service.stop();
    await bus.stop();
  });

  async function call(method: string, path: string, key: string, body?: object, url = baseUrl) {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers };
  }

  async function publish(key: string) {
    const archive = await packTar({
      'docs.json': JSON.stringify({
        name: 'A',
        theme: 'mint',
        colors: { primary: '#112233' },
        navigation: { pages: ['index'] },
      }),
      'index.mdx': 'Hello.\n',
    });
    return await fetch(`${baseUrl}/v1/domains/docs/content?version=v1`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/gzip' },
      body: archive,
    });
  }

  test('with the real bus and just its rights: from an organization to a job that is followed live and cancelled', async () => {
    const created = await call('POST', '/v1/organizations', operatorToken, { name: 'Acme', plan: 'enterprise' });
    expect(created).toMatchObject({ status: 201 });
    const key: string = created.body.adminKey.key;
    expect((await call('POST', '/v1/organizations/acme/domains', operatorToken, { domain: 'docs' })).status).toBe(201);

    const published = await publish(key);
    expect([published.status, await published.json()]).toMatchObject([200, { pages: 1, version: 'v1' }]);

    const started = await call('POST', '/v1/static-export/jobs', key, { domain: 'docs', version: 'v1', paths: ['/'] });
    expect(started).toMatchObject({ status: 202, body: { status: 'queued', revision: 1 } });
    const path = `/v1/static-export/jobs/${started.body.jobId}`;
    expect((await call('GET', path, key)).body).toEqual(started.body);
    expect((await call('GET', `${path}?at=1`, key)).body).toEqual(started.body);
    expect((await call('GET', `${path}/events`, key)).body.events).toMatchObject([{ type: 'ExportRequested' }]);
    await expect.poll(async () => (await call('GET', '/v1/static-export/jobs', key)).body.jobs).toEqual([started.body]);
    expect(await call('POST', `${path}/bundle`, key)).toMatchObject({ status: 409, body: { code: 'not_completed' } });
    expect((await call('POST', `${path}/cancel`, key)).status).toBe(202);

    const stream = await fetch(`${baseUrl}${path}`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    });
    const reader = stream.body!.getReader();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toContain('event: job');
    await reader.cancel();

    const second = await call('POST', '/v1/api-keys', key, { kind: 'admin' });
    expect(second.status).toBe(201);
    expect((await call('GET', '/v1/api-keys', second.body.key)).status).toBe(200);
    expect((await call('DELETE', `/v1/api-keys/${second.body.id}`, key)).status).toBe(200);
    await expect.poll(async () => (await call('GET', '/v1/api-keys', second.body.key)).status).toBe(401);
  });

  test('the projector verifies the logs with only its rights, and counts a message written past the services', async () => {
    const created = await call('POST', '/v1/organizations', operatorToken, { name: 'Initech', plan: 'enterprise' });
    const key: string = created.body.adminKey.key;
    await call('POST', '/v1/organizations/initech/domains', operatorToken, { domain: 'docs' });
    expect((await publish(key)).status).toBe(200);
    const verified = async (path: string, by: string) => {
      expect((await call('POST', path, by, { again: true })).status).toBe(202);
      await expect.poll(async () => (await call('GET', path, by)).body.running, { interval: 100 }).toBeUndefined();
      return (await call('GET', path, by)).body;
    };
    const own = await verified('/v1/audit/verification', key);
    expect(own).toMatchObject({ organization: 'initech', result: { whole: true, problemCount: 0 } });
    const counts = Object.fromEntries(
      own.result.streams.map((each: { stream: string; histories: number; anchored: number }) => [
        each.stream,
        [each.histories, each.anchored],
      ]),
    );
    expect(counts).toEqual({ EXPORTS: [0, 0], CONTENT: [1, 1], SITES: [0, 0], DIRECTORY: [1, 1], ACCESS: [0, 0] });
    const all = await verified('/v1/installation/verification', operatorToken);
    expect(all.failed).toBeUndefined();
    expect(all.result.streams[0].stream).toBe('EXPORTS');

    const user = 'publisher';
    const pass = bus.passwords[user] ?? '';
    const client = await connect({ servers: bus.server.url, user, pass, inboxPrefix: inboxPrefix(user) });
    await jetstream(client).publish('content.initech.forged.log', '{}');
    await client.close();
    const after = await verified('/v1/audit/verification', key);
    expect(after.result.streams.find(({ stream }: { stream: string }) => stream === 'CONTENT')).toMatchObject({
      histories: 2,
      problems: [{ problem: 'unreadable', subject: 'content.initech.forged.log' }],
    });
  });

  test('documents that cannot be read among the keys keep no revocation back: a stream that its key opened ends', async () => {
    const created = await call('POST', '/v1/organizations', operatorToken, { name: 'Globex', plan: 'enterprise' });
    const admin: string = created.body.adminKey.key;
    await call('POST', '/v1/organizations/globex/domains', operatorToken, { domain: 'docs' });
    await publish(admin);
    const started = await call('POST', '/v1/static-export/jobs', admin, { domain: 'docs' });
    const { id, key } = (await call('POST', '/v1/api-keys', admin, { kind: 'admin' })).body;

    const broken = (await call('POST', '/v1/api-keys', admin, { kind: 'admin' })).body;
    const stream = await fetch(`${baseUrl}/v1/static-export/jobs/${started.body.jobId}`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    });
    const reader = stream.body!.getReader();
    await reader.read();
    const user = 'projector';
    const pass = bus.passwords[user] ?? '';
    const client = await connect({ servers: bus.server.url, user, pass, inboxPrefix: inboxPrefix(user) });
    // The documents that the revocation itself changes are broken too.
    await client.request('$KV.directory.org.globex', 'no JSON');
    await client.request(`$KV.directory.key.${sha256Of(broken.key)}`, 'no JSON');
    const watched = ['no JSON', '', 'null', '{}', '[1', '{"key":{"expiresAt":"never"}}'];
    for (const [at, garbage] of watched.entries()) {
      await client.request(`$KV.directory.key.${'0'.repeat(63)}${at}`, garbage);
      await client.request(`$KV.directory.key.deep.${at}`, garbage);
    }
    await client.close();

    expect((await call('DELETE', `/v1/api-keys/${id}`, admin)).status).toBe(200);
    const ended = (async () => {
      while (!(await reader.read()).done);
    })().catch(() => {});
    await withDeadline(ended, 5_000, () => new Error('The stream goes on.'));
    expect((await call('GET', '/v1/api-keys', key)).status).toBe(401);
    // The document of the organization was rebuilt from the log, and with it those of its keys.
    expect((await call('GET', '/v1/api-keys', broken.key)).status).toBe(200);
    expect((await call('DELETE', `/v1/api-keys/${broken.id}`, admin)).status).toBe(200);
    expect((await call('GET', '/v1/api-keys', broken.key)).status).toBe(401);
  });

  test('a burst of requests through two gateways starts no more exports than may be active', async () => {
    const created = await call('POST', '/v1/organizations', operatorToken, { name: 'Burst', plan: 'enterprise' });
    const admin: string = created.body.adminKey.key;
    await call('POST', '/v1/organizations/burst/domains', operatorToken, { domain: 'docs' });
    await publish(admin);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        call('POST', '/v1/static-export/jobs', admin, { domain: 'docs' }, at % 2 === 0 ? baseUrl : otherUrl),
      ),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
  });

  test('when the bus goes, every request is answered with 503 soon, and afterwards all is well without a restart', async () => {
    const created = await call('POST', '/v1/organizations', operatorToken, { name: 'Outage', plan: 'enterprise' });
    const key: string = created.body.adminKey.key;
    await call('POST', '/v1/organizations/outage/domains', operatorToken, { domain: 'docs' });
    await publish(key);
    const jobs = '/v1/static-export/jobs';
    const { jobId } = (await call('POST', jobs, key, { domain: 'docs' })).body;
    const requests = (url: string) => [
      call('GET', jobs, key, undefined, url),
      call('GET', `${jobs}/${jobId}`, key, undefined, url),
      call('GET', `${jobs}/${jobId}/events`, key, undefined, url),
      call('POST', jobs, key, { domain: 'docs' }, url),
      call('POST', `${jobs}/${jobId}/cancel`, key, undefined, url),
      call('POST', `${jobs}/${jobId}/bundle`, key, undefined, url),
      call('POST', '/v1/api-keys', key, { kind: 'assistant' }, url),
      call('PATCH', '/v1/organizations/outage', operatorToken, { name: 'Other' }, url),
      call('GET', '/v1/domains/docs/content', key, undefined, url),
      call('POST', '/discovery/v1/search/docs', key, { query: 'hello' }, url),
    ];
    await bus.server.kill();
    for (const round of [0, 1]) {
      const answers = await withDeadline(
        Promise.all([...requests(baseUrl), ...requests(otherUrl)]),
        10_000,
        () => new Error('A request stays open.'),
      );
      for (const { status, body, headers } of answers) {
        expect([round, status, body]).toMatchObject([round, 503, { code: 'unavailable' }]);
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      }
    }
    await bus.server.restart();
    for (const url of [baseUrl, otherUrl]) {
      await expect.poll(() => call('GET', jobs, key, undefined, url)).toMatchObject({ status: 200 });
      await expect.poll(() => call('POST', jobs, key, { domain: 'docs' }, url)).toMatchObject({ status: 202 });
    }
  });

  test('all are ready', async () => {
    for (const { url } of services) await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
  });
});
