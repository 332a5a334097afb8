import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setInterval } from 'node:timers/promises';
import { docsHostSettings } from '#services/docs-host/config.ts';
import { start } from '#services/docs-host/main.ts';
import { readVersionList } from '#services/docs-host/version-list.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { openBrowser } from '../support/open-browser.ts';
import type { VisitedSite } from './docs-host-walls.test.ts';

/*
 * Serves a bundle by a documentation host and opens pages of it in Chromium, both in this process's network namespace, which may have no route to the
 * Internet:
 *
 * node visit-pages.ts <pages>     with the settings of the host in the environment; prints the outcome (`VisitedSite`) as one line of JSON
 */

/** An address on the Internet that accepts connections. */
const outside = { host: '1.1.1.1', port: 443, timeout: 3_000 };

async function wayOut(): Promise<string> {
  return await new Promise((resolve) => {
    const socket = createConnection(outside, () => resolve('open'));
    socket.once('error', (error) => resolve(errorCode(error) ?? error.message));
    socket.once('timeout', () => resolve('no answer'));
    socket.once('close', () => socket.destroy());
  });
}

/** `count` pages of the served version, evenly spaced in the list of all. */
async function drawn(dataFolder: string, count: number): Promise<string[]> {
  const folder = join(dataFolder, 'docs-host');
  const { active } = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as { active: string };
  const list = await readVersionList(join(folder, 'versions', active), join(folder, 'content'));
  const files = [...(list?.files() ?? [])].map(([path]) => path);
  const pages = files.filter((path) => path.endsWith('.html') && path !== '404.html').toSorted();
  const step = pages.length / count;
  return Array.from({ length: Math.min(count, pages.length) }, (_, at) => pages[Math.floor(at * step)] ?? '');
}

const config = loadConfig(docsHostSettings, process.env);
const host = await start(config);
for await (const _ of setInterval(100)) {
  const answer = await fetch(`${host.url}/readyz`);
  if (answer.ok) break;
  const { missing } = (await answer.json()) as { missing: { site?: string } };
  if (missing.site !== undefined && !/no version yet/.test(missing.site)) throw new Error(missing.site);
}
const pages = await drawn(config.dataFolder, Number(process.argv[2]));
const visited: VisitedSite = { wayOut: await wayOut(), pages: 0, requests: 0, elsewhere: [], failed: [] };
const browser = await openBrowser();
const page = await browser.newPage();
page.on('request', (request) => {
  visited.requests += 1;
  if (!request.url().startsWith(host.url) && !request.url().startsWith('data:')) visited.elsewhere.push(request.url());
});
page.on('response', (response) => {
  if (response.status() >= 400) visited.failed.push(`${response.status()} ${response.url()}`);
});
page.on('requestfailed', (request) => {
  const why = request.failure()?.errorText ?? '';
  // Prefetches of a page are aborted when the page is closed.
  if (why !== 'net::ERR_ABORTED') visited.failed.push(`${why} ${request.url()}`);
});
for (const path of pages) {
  const address = path.replace(/(^|\/)index\.html$/, '').replace(/\.html$/, '');
  await page.goto(`${host.url}/${address.split('/').map(encodeURIComponent).join('/')}`, { waitUntil: 'load' });
  // Pictures further down load when the reader scrolls there.
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await page.waitForLoadState('networkidle');
  if ((await page.locator('h1').count()) > 0) visited.pages += 1;
}
await browser.close();
await host.stop();
process.stdout.write(`${JSON.stringify(visited)}\n`);
process.exit(0);
