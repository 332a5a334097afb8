import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { docsHosts, hostReadiness, isReady } from '../../test/support/docs-host.ts';
import { openSlowClients, swapUnderLoad, visit } from '../../test/support/docs-host-load.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { contentFile } from './content-folder.ts';
import { readVersionList } from './version-list.ts';

const { folder, host } = docsHosts();
const swaps = 25;
const slowClients = 2_000;
const hostSettings = (file: string) => ({
  BINDERY_DATA: folder(),
  BINDERY_DOCS_HOST_PORT: '0',
  BINDERY_BUNDLE_PATH: file,
});

test(`${swaps} changes of version under load: every answer is whole, and no page has files of two versions`, {
  timeout: 60_000,
}, async () => {
  const { problems, visits, lastVersion } = await swapUnderLoad(folder(), swaps);
  expect([problems, lastVersion]).toEqual([[], `cv_v${swaps}-`]);
  expect(visits).toBeGreaterThan(swaps);
  expect(readdirSync(join(folder(), 'versions')).length).toBeLessThan(25);
});

test('the log says why a newer bundle is not served', async () => {
  const file = join(folder(), 'site.tar.gz');
  await writeFile(file, 'This is no archive.');
  const child = spawn(process.execPath, ['services/cli/bindery.mjs', 'run', 'docs-host'], {
    env: { ...process.env, BINDERY_LOG_LEVEL: 'warn', ...hostSettings(file) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let logged = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (logged += text));
  await expect.poll(() => logged).toMatch(/"level":(40|50).*gzip/);
  child.kill();
  await once(child, 'exit');
});

test('a stored version that was changed is not served', async () => {
  const file = join(folder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one'));
  const first = await host({ BINDERY_BUNDLE_PATH: file });
  await hostReadiness(first, isReady);
  await first.stop();
  const versions = join(folder(), 'docs-host/versions');
  const change = async (path: string): Promise<Response> => {
    const [version = ''] = readdirSync(versions);
    const { sha256 = '' } =
      (await readVersionList(join(versions, version), join(versions, '../content')))?.file(path) ?? {};
    await writeFile(contentFile(join(folder(), 'docs-host/content'), sha256), '<script>evil()</script>');
    const again = await host({ BINDERY_STATIC_EXPORT_ENABLED: '0' });
    const answer = await fetch(again.url);
    await again.stop();
    expect(existsSync(join(versions, version))).toBe(false);
    return answer;
  };
  // Prepared files are made again from the bundle's files; a damaged file of the bundle cannot be restored.
  expect(await (await change('index.html')).text()).toContain('Version one');
  expect((await change('logo.svg')).status).toBe(503);
});

test.each([
  ['at once', false],
  ['after a request that was answered', true],
])('clients that send headers slowly %s do not keep readers out', async (_when, afterAnswer) => {
  const file = join(folder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one'));
  const running = await host({ BINDERY_BUNDLE_PATH: file });
  await hostReadiness(running, isReady);
  const clients = await openSlowClients(Number(new URL(running.url).port), slowClients, afterAnswer);
  await expect.poll(() => clients.open()).toBeLessThanOrEqual(1_001);
  if (afterAnswer) expect(clients.answered()).toBeGreaterThan(1_000);
  expect(await visit(running.url)).toEqual([]);
  clients.end();
});
