import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { askHost, visitExample } from '../support/ask-host.ts';
import { seededRandom } from '../support/chaos/fault-injection.ts';
import { exampleBundle } from '../support/example-bundle.ts';
import { type HostProcess, startHostProcess } from '../support/host-process.ts';
import { startSiteLoad } from '../support/site-load.ts';
import { type SitesPlatform, sitesPlatform } from '../support/sites-platform.ts';

const minuteMs = 60_000;
const waiting = { timeout: 30_000, interval: 20 };
let platform: SitesPlatform;
let host: HostProcess;

beforeEach(async () => {
  platform = await sitesPlatform();
  host = await startHostProcess(platform.env);
});
afterEach(async () => {
  await host.end();
  await platform.close();
});

/** Pages of a size that takes a while to prepare. */
const more = Object.fromEntries(
  Array.from({ length: 60 }, (_, at) => [`pages/p${at}.html`, `<html><body>${`${at} `.repeat(3_000)}</body></html>`]),
);

async function expectShown(name: string, version: string): Promise<void> {
  const shown = async () => (await visitExample(host.url, name).catch(() => undefined))?.version;
  await expect.poll(shown, waiting).toBe(version);
}

test('deployments under load: no request fails, and each file of a page is of its version', {
  timeout: 3 * minuteMs,
}, async () => {
  const deployments = 12;
  const visitsBetween = 150;
  const sites = ['a', 'b', 'c'];
  for (const domain of sites) platform.deploy({ domain, bundle: await exampleBundle(`${domain}-0-`, more) });
  for (const domain of sites) await expectShown(`${domain}.localhost`, `${domain}-0-`);
  const load = startSiteLoad({ url: host.url, names: sites.map((domain) => `${domain}.localhost`), readers: 8 });
  for (let at = 1; at <= deployments; at += 1) {
    for (const domain of sites) platform.deploy({ domain, bundle: await exampleBundle(`${domain}-${at}-`, more) });
    for (const domain of sites) await expectShown(`${domain}.localhost`, `${domain}-${at}-`);
    await load.visited(at * visitsBetween);
  }
  const { failed, mixed, problems, visits, versions } = await load.stop();
  process.stdout.write(`${deployments * sites.length} deployments, ${visits} visits, ${versions} versions seen\n`);
  expect({ failed, mixed, problems }).toEqual({ failed: 0, mixed: 0, problems: [] });
  expect(versions).toBeGreaterThan(deployments);
});

test('a host that is killed at any time serves whole versions only', { timeout: 3 * minuteMs }, async () => {
  const kills = 20;
  const random = seededRandom(35);
  platform.deploy({ bundle: await exampleBundle('v0-', more) });
  await expectShown('docs.localhost', 'v0-');
  const over = new AbortController();
  const problems: string[] = [];
  let visits = 0;
  const read = async (): Promise<void> => {
    while (!over.signal.aborted) {
      // The host may be away, between a kill and its start.
      const visit = await visitExample(host.url, 'docs.localhost').catch(() => undefined);
      if (visit === undefined) await delay(10);
      else {
        problems.push(...visit.failed, ...visit.mixed);
        visits += 1;
      }
    }
  };
  const readers = [read(), read()];
  let at = 0;
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      at += 1;
      platform.deploy({ bundle: await exampleBundle(`v${at}-`, more) });
      // The moment is random on purpose: before the download, while it is unpacked, written or swapped, and after it.
      await delay(random.between(0, 700));
      await host.restart();
      if (kill % 5 === 4) await expectShown('docs.localhost', `v${at}-`);
    }
  } finally {
    over.abort();
  }
  await Promise.all(readers);
  await expectShown('docs.localhost', `v${at}-`);
  process.stdout.write(`${kills} kills, ${visits} visits\n`);
  expect(problems).toEqual([]);
  expect(visits).toBeGreaterThan(kills);
});

test('many deployments of one organization, also large ones, do not delay another one', {
  timeout: 2 * minuteMs,
}, async () => {
  const held: (() => void)[] = [];
  // The bundles of one organization do not arrive until the other one is served.
  platform.state.bundle = ({ organization }, response) => {
    if (organization !== 'greedy') return undefined;
    response.writeHead(200, { 'content-length': 100_000_000 }).write('a');
    held.push(() => response.destroy());
    return 'answered';
  };
  for (let at = 0; at < 30; at += 1)
    platform.deploy({ organization: 'greedy', domain: `g${at}`, bundle: await exampleBundle(`g${at}`) });
  await expect.poll(() => held.length, waiting).toBeGreaterThan(1);
  for (let at = 0; at < 5; at += 1) {
    platform.deploy({ organization: 'other', domain: 'docs', bundle: await exampleBundle(`o${at}`) });
    await expectShown('docs.localhost', `o${at}`);
  }
  for (const end of held) end();
});

test('a preview that has ended is not reachable, by no address and on no connection that is open', {
  timeout: minuteMs,
}, async () => {
  const live = platform.deploy({ bundle: await exampleBundle('live') });
  platform.deploy({ label: 'pr-1', bundle: await exampleBundle('draft') });
  await expectShown('docs.localhost', 'live');
  await expectShown('pr-1--docs.localhost', 'draft');
  const name = 'pr-1--docs.localhost';
  const page = await askHost(host.url, name);
  const addresses = [...page.text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, address = '']) => address);
  expect(addresses.length).toBeGreaterThan(3);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const kept = await askHost(host.url, name, '/', { agent });
  expect(kept.status).toBe(200);
  platform.end('acme/docs/pr-1');
  await expect.poll(async () => (await askHost(host.url, name, '/', { agent })).status, waiting).toBe(404);
  for (const path of ['/', '/guides/x', '/guides/x.md', '/_bindery/config.js', ...addresses]) {
    const known = { 'if-none-match': page.headers.etag ?? '*', accept: 'text/markdown' };
    for (const spelling of [name, name.toUpperCase(), `${name}.`, `${name}:8090`])
      for (const headers of [{}, known, { range: 'bytes=0-9' }] as Record<string, string>[]) {
        const answer = await askHost(host.url, spelling, path, { agent, headers });
        expect([spelling, path, answer.status]).toEqual([spelling, path, 404]);
        expect(answer.text).not.toContain('draft');
      }
    // The files of a preview are not those of the live site either.
    const atLive = await askHost(host.url, live.hosts[0] ?? '', path);
    expect(atLive.text).not.toContain('draft');
  }
  // After a restart the host still does not serve the closed preview.
  await host.restart();
  await expectShown('docs.localhost', 'live');
  expect((await askHost(host.url, name)).status).toBe(404);
  agent.destroy();
});
