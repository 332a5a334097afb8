import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { serviceNames } from '#infra/supervisor/services.ts';
import { apiClient } from '#services/cli/api-client.ts';
import type { LocalInstallation } from '#services/cli/connection.ts';
import { askQuestion } from '#services/cli/commands/ask.ts';
import { signBundleLink, startExport, waitForExport } from '#services/cli/export-client.ts';
import { whenSearched } from '#services/cli/publish-project.ts';
import { publicRoutes } from '#services/gateway/build-gateway.ts';
import type { PublishedContent } from '#shared/interfaces/http/content.ts';
import type { CreatedApiKey } from '#shared/interfaces/http/directory.ts';
import { generateApiKey } from '#shared/http/api-key.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { tinyProject } from '../support/docs-projects.ts';
import { newFolder } from '../support/new-folder.ts';
import { startTraceCollector } from '../support/start-trace-collector.ts';

describeWithServers(['nats-server'], 'a real installation in which everything was used', () => {
  let folder: string;
  let bindery: ChildProcess;
  let collector: Awaited<ReturnType<typeof startTraceCollector>>;
  let local: LocalInstallation;
  let ports: Record<string, number>;
  /** Secrets by their kind. */
  const secrets: Record<string, string> = {};
  const answers: string[] = [];
  /** Messages by stream. */
  const written: Record<string, string> = { stdout: '', stderr: '' };

  beforeAll(async () => {
    folder = newFolder();
    const [port = 0] = await freePorts(1);
    collector = await startTraceCollector();
    bindery = spawn(process.execPath, [join(import.meta.dirname, '../../services/cli/bindery.mjs'), 'start'], {
      env: {
        ...process.env,
        ...collector.environment,
        BINDERY_DATA: folder,
        BINDERY_PORT: String(port),
        BINDERY_DOCS_HOST_PORT: '0',
        BINDERY_CONSOLE_PORT: '0',
        BINDERY_LOG_LEVEL: 'trace',
        BINDERY_DEMO: '0',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await new Promise<void>((resolve, reject) => {
      for (const stream of ['stdout', 'stderr'] as const)
        bindery[stream]?.setEncoding('utf8').on('data', (text: string) => {
          written[stream] += text;
          if (stream === 'stdout' && written.stdout?.includes('Ctrl-C stops it.')) resolve();
        });
      bindery.once('exit', (code) =>
        reject(new Error(`"bindery start" ended with ${code}: ${JSON.stringify(written).slice(-2_000)}`)),
      );
    });
    ports = JSON.parse(await readFile(join(folder, 'ports.json'), 'utf8'));
    local = JSON.parse(await readFile(join(folder, 'local.json'), 'utf8'));
    const { natsPasswords, callTokens, ...others } = JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8'));
    const { adminKey, assistantKey, domain } = local;
    const admin = apiClient(local.baseUrl, adminKey);
    const made = await admin.json<CreatedApiKey>('/v1/api-keys', { method: 'POST', json: { kind: 'admin' } });
    const spare = await admin.json<CreatedApiKey>('/v1/api-keys', { method: 'POST', json: { kind: 'assistant' } });
    const rotated = await admin.json<CreatedApiKey>(`/v1/api-keys/${made.id}/rotate`, { method: 'POST', json: {} });
    await admin.raw(`/v1/api-keys/${rotated.id}`, { method: 'DELETE' });
    Object.assign(secrets, { ...natsPasswords, ...callTokens, ...others });
    Object.assign(secrets, { adminKey, assistantKey, made: made.key, rotated: rotated.key });

    // Normal use: publish, export, download and ask.
    const { contentVersion } = await admin.json<PublishedContent>(`/v1/domains/${domain}/content`, {
      method: 'PUT',
      headers: { 'content-type': 'application/gzip' },
      body: new Blob([await tinyProject()]).stream(),
    });
    const inPages = await admin.json<CreatedApiKey>('/v1/api-keys', { method: 'POST', json: { kind: 'assistant' } });
    Object.assign(secrets, { inPages: inPages.key });
    const { jobId } = await startExport(admin, { domain, assistantKey: inPages.key });
    await waitForExport(admin, jobId, () => {});
    const { bundleUrl } = await signBundleLink(admin, jobId);
    await fetch(bundleUrl).then((download) => download.arrayBuffer());
    await whenSearched(admin, domain, contentVersion);
    await askQuestion(apiClient(local.baseUrl, assistantKey), domain, 'How do I install it?');

    // Keys in wrong places: invented ones, a revoked one, a valid one, a truncated one.
    const misplaced = [generateApiKey('admin'), generateApiKey('assistant'), rotated.key, spare.key];
    misplaced.push(generateApiKey('admin').slice(0, 30));
    for (const [at, key] of misplaced.entries()) {
      secrets[`misplaced ${at}`] = key;
      secrets[`misplaced ${at}, encoded`] = encoded(key);
      for (const credential of [adminKey, key]) await misplace(key, credential);
    }
  }, 240_000);
  afterAll(async () => {
    if (bindery.exitCode === null) {
      const ended = once(bindery, 'exit');
      bindery.kill('SIGTERM');
      await ended;
    }
    await collector.stop();
  });

  /** A key as it may appear in an address, with some characters percent-encoded. */
  const encoded = (key: string) =>
    key.replace('_', '%5F').replace(/.$/, (last) => `%${last.charCodeAt(0).toString(16)}`);

  /** Sends a key in each place of every route. */
  async function misplace(key: string, credential: string): Promise<void> {
    const bodies = [
      JSON.stringify({ domain: key, [key]: key, name: key, kind: key, query: [key], messages: key, path: key }),
      `{"key": "${key}`,
      key,
    ];
    const requests: Parameters<typeof send>[] = [];
    for (const { declaration } of publicRoutes) {
      const path = declaration.path.replaceAll(/:\w+/g, key);
      const query = `?key=${key}&${key}=${key}&since=${key}&limit=${key}`;
      for (const body of declaration.body === undefined ? [undefined] : bodies)
        requests.push([declaration.method, `${path}${query}`, body, { authorization: `Bearer ${credential}` }]);
    }
    const odd = [{ authorization: key }, { authorization: `Basic ${key}` }, { 'x-api-key': key, cookie: `key=${key}` }];
    for (const headers of odd) requests.push(['GET', '/v1/api-keys', undefined, headers]);
    for (const path of [key, encoded(key)]) requests.push(['GET', `/${path}`, undefined, {}]);
    const withKeys = { authorization: `Bearer ${key} ${key}`, 'user-agent': key, traceparent: key };
    requests.push(['GET', '/v1/audit', undefined, withKeys]);
    const asReader = {
      authorization: `Bearer ${credential}`,
      'x-user-token': key,
      'x-thread-key': key,
      origin: `https://${key}.test`,
    };
    requests.push(['POST', '/discovery/v1/search/demo', '{"query":"x"}', asReader]);
    requests.push([key, '/', undefined, {}]);
    await inParallel(requests, 10, (request) => send(...request));
  }

  const send = (method: string, path: string, body: string | undefined, headers: Record<string, string>) =>
    new Promise<void>((resolve) => {
      const url = new URL(path, local.baseUrl);
      const ended = () => resolve();
      try {
        const request = httpRequest(url, { method, headers: { 'content-type': 'application/json', ...headers } });
        request.on('error', ended).on('response', (response) => {
          let text = JSON.stringify(response.headers);
          response.setEncoding('utf8').on('data', (part: string) => {
            text += part;
            // A stream of events does not end on its own.
            if (response.headers['content-type']?.startsWith('text/event-stream')) response.destroy();
          });
          response.on('close', () => {
            if ((response.statusCode ?? 0) >= 400) answers.push(`${method} ${path}: ${response.statusCode} ${text}`);
            resolve();
          });
        });
        request.end(body);
      } catch {
        // Clients never send this method.
        ended();
      }
    });

  test.each(serviceNames)('the %s has metrics of its requests, its bus and its process', async (service) => {
    const port = ports[service === 'gateway' ? 'gateway-inside' : service];
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('version=0.0.4'),
    ]);
    const text = await answer.text();
    for (const name of [
      'bindery_http_request_duration_seconds_bucket',
      'bindery_http_requests_in_flight',
      'bindery_bus_connected',
      'bindery_bus_messages_total',
      'bindery_messages_set_aside',
    ]) {
      const isThere =
        text.includes(`${name}{service="${service}"`) || text.includes(`# TYPE ${name.replace('_bucket', '')} `);
      expect(`${name}: ${isThere}`).toBe(`${name}: true`);
    }
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_p99_seconds',
    ])
      expect(text).toMatch(new RegExp(`^${name} `, 'm'));
    expect(text).toContain(`bindery_bus_connected{service="${service}"} 1`);
    for (const of of [local.organization, local.domain, ...Object.values(secrets)])
      expect(text).not.toContain(`"${of}"`);
    // Labels come from our code alone, so the page has some twenty lines for each route, independent of the number of requests.
    expect(text.split('\n').length).toBeLessThan(6_000);
  });

  test('the gateway shows clients no metrics, and operators its limits', async () => {
    expect((await fetch(`${local.baseUrl}/metrics`)).status).toBe(404);
    const text = await (await fetch(`http://127.0.0.1:${ports['gateway-inside']}/metrics`)).text();
    expect(text).toContain('bindery_rate_limits_local{service="gateway"} 0');
    expect(text).toMatch(/^bindery_requests_limited_total\{limit="starts",service="gateway"\} \d+$/m);
    expect(text).toContain('bindery_gateways_live{service="gateway"} 1');
  });

  test('no log, error, metric, trace or history has any secret that was used', async () => {
    const found: string[] = [];
    const look = (where: string, text: string, leaveOut?: string) => {
      for (const [name, secret] of Object.entries(secrets))
        if (name !== leaveOut && text.includes(secret)) found.push(`${where}: ${name}`);
    };
    for (const path of await readdir(folder, { recursive: true })) {
      // These files hold secrets and are readable by their owner only.
      if (/^(secrets|local)\.json$|nats\.conf$/.test(path)) continue;
      const text = await readFile(join(folder, path), 'latin1').catch(() => '');
      // The export was asked to put this key into its pages, so it is public, and part of the export's request.
      look(path, text, 'inPages');
    }
    look('log', written.stderr ?? '');
    const traceId = randomBytes(16).toString('hex');
    await send('GET', '/v1/audit', undefined, { traceparent: `00-${traceId}-${'1'.repeat(16)}-01` });
    // Each process sends its spans in order.
    await expect.poll(() => collector.spans.map((span) => span.traceId)).toContain(traceId);
    const work = ['plan', 'render chunk', 'join bundle', 'search', 'answer', 'POST /v1/api-keys'];
    await expect.poll(() => collector.spans.map(({ name }) => name)).toEqual(expect.arrayContaining(work));
    look('trace', collector.received.join('\n'));
    for (const service of serviceNames) expect(written.stderr).toContain(`"service":"${service}"`);
    expect(answers.length).toBeGreaterThan(500);
    for (const answer of answers) look(answer.slice(0, 300), answer.slice(answer.indexOf(': ')));
    expect(found.slice(0, 20)).toEqual([]);
  });

  test('SIGTERM stops it', async () => {
    const ended = once(bindery, 'exit');
    bindery.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
