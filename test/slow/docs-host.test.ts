import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { apiClient } from '#services/cli/api-client.ts';
import type { CreatedApiKey } from '#shared/interfaces/http/directory.ts';
import { pause } from '../support/chaos/fault-injection.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { docsHosts, hostReadiness, isDegraded, isReady } from '../support/docs-host.ts';
import { openSlowClients, visit } from '../support/docs-host-load.ts';
import { exampleBundle } from '../support/example-bundle.ts';
import { exportPathOnly, startInstallation } from '../support/start-installation.ts';

const { folder, atEnd, host } = docsHosts();
const minuteMs = 60_000;
const slowClients = 10_000;
/** Limit for the growth of the host's memory while the clients are connected. */
const mostGrowthMb = 150;
const main = join(import.meta.dirname, '../../services/cli/bindery.mjs');

describe(`${slowClients} clients with slow headers`, () => {
  /** A host in a separate process, so that its memory is measured without that of the clients. */
  async function hostProcess(): Promise<{ child: ChildProcess; url: string; port: number }> {
    const file = join(folder(), 'site.tar.gz');
    await writeFile(file, await exampleBundle('one'));
    const [port = 0] = await freePorts(1);
    const env = { BINDERY_DATA: folder(), BINDERY_DOCS_HOST_PORT: String(port), BINDERY_BUNDLE_PATH: file };
    const child = spawn(process.execPath, [main, 'run', 'docs-host'], {
      env: { ...process.env, ...env, BINDERY_LOG_LEVEL: 'silent' },
      stdio: 'ignore',
    });
    atEnd(async () => child.kill('SIGKILL'));
    const url = `http://127.0.0.1:${port}`;
    await expect
      .poll(
        () =>
          fetch(url).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: minuteMs },
      )
      .toBe(200);
    await hostReadiness({ url }, isReady);
    return { child, url, port };
  }
  const residentMb = ({ pid }: ChildProcess): number =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_000;

  test.each([
    ['at once', false],
    ['after an answer', true],
  ])('%s: readers are answered, and memory is bounded', { timeout: 3 * minuteMs }, async (when, afterAnswer) => {
    const { child, url, port } = await hostProcess();
    const before = residentMb(child);
    const clients = await openSlowClients(port, slowClients, afterAnswer);
    const during = residentMb(child);
    expect(await visit(url)).toEqual([]);
    await expect.poll(() => clients.open(), { timeout: minuteMs }).toBeLessThanOrEqual(1_001);
    process.stdout.write(`slow headers ${when}: ${before.toFixed(0)} MB before, ${during.toFixed(0)} MB meanwhile\n`);
    expect(during - before).toBeLessThan(mostGrowthMb);
    clients.end();
  });
});

describeWithServers(['nats-server'], 'a host that follows a platform', () => {
  test('serves its newest export, and keeps serving it while the platform is down or refuses', {
    timeout: 4 * minuteMs,
  }, async () => {
    const platform = await startInstallation({ copies: exportPathOnly });
    atEnd(() => platform.stop());
    const project = join(folder(), 'project');
    mkdirSync(project);
    const exportSite = async (text: string): Promise<void> => {
      await writeFile(join(project, 'docs.json'), '{"name":"Acme","navigation":{"pages":["index"]}}');
      await writeFile(join(project, 'index.mdx'), `# Hello\n\n${text}\n`);
      await platform.publish(project);
      await platform.exportSite();
    };
    const key = await platform.admin.json<CreatedApiKey>('/v1/api-keys', {
      method: 'POST',
      json: { kind: 'admin', name: 'host', scopes: ['read'] },
    });
    await exportSite('The first edition.');
    const running = await host({
      BINDERY_PLATFORM_URL: platform.installation.baseUrl,
      BINDERY_DOCS_DOMAIN: platform.domain,
      BINDERY_EXPORT_KEY: key.key,
    });
    await hostReadiness(running, isReady);
    const page = async () => (await fetch(running.url)).text();
    expect(await page()).toContain('The first edition.');

    await exportSite('The second edition.');
    await expect.poll(page).toContain('The second edition.');

    const away = pause(platform.installation.pids('gateway'));
    const { degraded } = await hostReadiness(running, isDegraded);
    expect(degraded.bundle).toMatch(/does not answer|Timeout/);
    expect(await page()).toContain('The second edition.');
    away.resume();
    await hostReadiness(running, ({ degraded: { bundle } }) => bundle === undefined);
    await exportSite('The third edition.');
    await expect.poll(page).toContain('The third edition.');

    const operator = apiClient(platform.installation.baseUrl, platform.adminKey);
    await operator.raw(`/v1/api-keys/${key.id}`, { method: 'DELETE' });
    const revoked = await hostReadiness(running, isDegraded);
    expect(revoked.degraded.bundle).toMatch(/the platform answered 401/);
    expect(await page()).toContain('The third edition.');
  });
});
