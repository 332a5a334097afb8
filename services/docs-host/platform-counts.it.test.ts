import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { siteViewsBodySchema, type SiteViewsBody } from '#shared/interfaces/http/site-views.ts';
import { askHost } from '../../test/support/ask-host.ts';
import { docsHosts } from '../../test/support/docs-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { type SitesPlatform, sitesPlatform } from '../../test/support/sites-platform.ts';

const { folder, host, atEnd } = docsHosts();
const waiting = { timeout: 60_000, interval: 20 };
const quick = { counts: { everyMs: 50, awayMs: 100 } };
const reader = {
  ...{ 'sec-fetch-dest': 'document', accept: 'text/html' },
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/133.0',
};
const offers = { assistant: true, counts: true } as const;

let platform: SitesPlatform;
beforeEach(async () => {
  platform = await sitesPlatform();
  atEnd(() => platform.close());
});

async function started(times: Parameters<typeof host>[1] = quick) {
  const running = await host({ ...platform.env, BINDERY_TRUST_PROXY: 'loopback' }, times);
  await expect.poll(async () => (await askHost(running.url, 'docs.localhost')).status, waiting).toBe(200);
  return running;
}
const open = (url: string, path: string, headers: Record<string, string> = {}, name = 'docs.localhost') =>
  askHost(url, name, path, { headers: { ...reader, ...headers } });
const search = (url: string, query: string) =>
  askHost(url, 'docs.localhost', '/discovery/v1/search/docs', {
    method: 'POST',
    body: JSON.stringify({ query }),
    headers: { origin: 'http://docs.localhost:8090', 'content-type': 'application/json' },
  });

/** Sums of a list in all batches. */
function sumOf(batches: readonly SiteViewsBody[], list: 'paths' | 'referrers'): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, count] of batches.flatMap(({ days }) => days.flatMap((day) => day[list])))
    sums[name] = (sums[name] ?? 0) + count;
  return sums;
}
const storedBatches = async (): Promise<string[]> => await readdir(join(folder(), 'docs-host/counts')).catch(() => []);

test('pages that readers open are counted, and nothing else that is sent', async () => {
  platform.deploy({ bundle: await exampleBundle('one'), offers });
  platform.deploy({ domain: 'off', bundle: await exampleBundle('two') });
  platform.deploy({ label: 'pr-1', bundle: await exampleBundle('three'), offers });
  const running = await started();
  const { url } = running;
  for (const name of ['off.localhost', 'pr-1--docs.localhost'])
    await expect.poll(async () => (await askHost(url, name)).status, waiting).toBe(200);
  const first = await open(url, '/?from=mail', { referer: 'https://news.example/item?id=1', cookie: 'a=b' });
  expect((await open(url, '/', { 'if-none-match': first.headers.etag ?? '' })).status).toBe(304);
  expect((await open(url, '/guides/x', { referer: 'http://docs.localhost:8090/' })).status).toBe(200);
  // A redirect, a missing page, other files and methods, programs, pages in advance, other sites and previews do not count.
  for (const path of ['/guides/x.html', '/missing', '/logo.svg', '/guides/x.md', '/_bindery/config.js'])
    await open(url, path);
  await open(url, '/guides/x', { accept: 'text/markdown, text/html;q=0.5' });
  await open(url, '/', { 'sec-purpose': 'prefetch' });
  await open(url, '/', { 'user-agent': 'Googlebot/2.1' });
  await open(url, '/', { 'sec-fetch-dest': 'iframe' });
  await askHost(url, 'docs.localhost', '/', { method: 'HEAD', headers: reader });
  for (const name of ['off.localhost', 'pr-1--docs.localhost']) await open(url, '/', {}, name);
  await open(url, '/guides/x');
  await running.stop();
  const { batches } = platform;
  expect(batches.flatMap(({ days }) => days.map(({ site }) => site))).toEqual(
    expect.arrayContaining(['acme/docs']) as string[],
  );
  expect(new Set(batches.flatMap(({ days }) => days.map(({ site }) => site)))).toEqual(new Set(['acme/docs']));
  expect(sumOf(batches, 'paths')).toEqual({ '/': 2, '/guides/x': 2 });
  expect(sumOf(batches, 'referrers')).toEqual({ 'news.example': 1 });
  for (const batch of batches) expect(siteViewsBodySchema.safeParse(batch).error).toBeUndefined();
  expect(JSON.stringify(batches)).not.toMatch(/127\.0\.0\.1|from=mail|item\?id/);
  expect(await storedBatches()).toEqual([]);
});

test('searches are counted by their words, with those that found nothing', async () => {
  platform.deploy({ bundle: await exampleBundle('one'), offers });
  const running = await started();
  platform.state.found = '[{"content":"x"}]';
  await search(running.url, ' Install ');
  platform.state.found = ' [] ';
  await search(running.url, 'mail anna@acme.com');
  await running.stop();
  const days = platform.batches.flatMap((batch) => batch.days);
  expect(days.flatMap(({ queries }) => queries)).toEqual([
    ['install', 1, 0],
    ['mail …', 1, 1],
  ]);
  expect(days.reduce((sum, day) => sum + day.emptySearches, 0)).toBe(1);
});

test('while the platform is away counts stay on disk, also over a restart, and are sent once each afterwards', async () => {
  platform.deploy({ bundle: await exampleBundle('one'), offers });
  const running = await started();
  platform.state.views = 503;
  await open(running.url, '/');
  await expect.poll(async () => (await storedBatches()).length, waiting).toBeGreaterThan(0);
  await open(running.url, '/guides/x');
  await running.stop();
  expect(platform.batches).toEqual([]);
  const waitingBatches = (await storedBatches()).length;
  expect(waitingBatches).toBeGreaterThan(0);
  const [name = ''] = await storedBatches();
  await writeFile(join(folder(), 'docs-host/counts', `${name}.next`), 'a host was killed');
  const again = await started();
  await open(again.url, '/');
  platform.state.views = undefined;
  await expect.poll(() => sumOf(platform.batches, 'paths'), waiting).toEqual({ '/': 2, '/guides/x': 1 });
  await expect.poll(storedBatches, waiting).toEqual([]);
  const ids = platform.batches.map(({ source, sequence }) => `${source} ${sequence}`);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(platform.batches.map(({ source }) => source)).size).toBe(2);
});

test('counts that the disk has no space for wait in memory', async () => {
  platform.deploy({ bundle: await exampleBundle('one'), offers });
  const running = await started();
  const counts = join(folder(), 'docs-host/counts');
  await rm(counts, { recursive: true, force: true });
  await writeFile(counts, 'no folder');
  await open(running.url, '/');
  const warnings = () => running.log.filter(({ msg }) => msg.startsWith('page views are kept here')).length;
  await expect.poll(warnings, waiting).toBe(1);
  await open(running.url, '/guides/x');
  await rm(counts);
  await expect.poll(() => sumOf(platform.batches, 'paths'), waiting).toEqual({ '/': 1, '/guides/x': 1 });
});

test('a batch that the platform cannot read does not keep later ones from it', async () => {
  platform.deploy({ bundle: await exampleBundle('one'), offers });
  const { url } = await started();
  platform.state.views = 400;
  await open(url, '/');
  await expect.poll(() => platform.requests.filter((each) => each === 'POST /v1/sites/views').length, waiting).toBe(1);
  platform.state.views = undefined;
  await open(url, '/guides/x');
  await expect.poll(() => sumOf(platform.batches, 'paths'), waiting).toEqual({ '/guides/x': 1 });
});

test('counting is switched off without a deployment', async () => {
  const bundle = await exampleBundle('one');
  platform.deploy({ bundle, offers });
  const running = await started();
  await open(running.url, '/');
  await expect.poll(() => sumOf(platform.batches, 'paths'), waiting).toEqual({ '/': 1 });
  platform.deploy({ bundle });
  // One event switches both off.
  await expect.poll(async () => (await search(running.url, 'x')).status, waiting).toBe(404);
  await open(running.url, '/guides/x');
  await running.stop();
  expect(sumOf(platform.batches, 'paths')).toEqual({ '/': 1 });
});
