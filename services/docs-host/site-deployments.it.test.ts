import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { askHost, visitHost } from '../../test/support/ask-host.ts';
import { hostReadiness, isReady, withMetrics } from '../../test/support/docs-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { expectShown, hostedSites, quickTimes, shownVersion, waiting } from '../../test/support/hosted-sites.ts';

const { platform, started, sitesFolder, siteFolder } = hostedSites();
const versionsOf = async () => await readdir(join(await siteFolder(), 'versions'));

test('deployments under load: every answer is whole, and pages that are open keep their files', {
  timeout: 90_000,
}, async () => {
  const swaps = 15;
  platform().deploy({ domain: 'a', bundle: await exampleBundle('a0-') });
  platform().deploy({ domain: 'b', bundle: await exampleBundle('b0-') });
  const running = await started();
  await expectShown(running, 'a.localhost', 'a0-');
  await expectShown(running, 'b.localhost', 'b0-');
  const problems: string[] = [];
  const over = new AbortController();
  let visits = 0;
  const read = async (name: string): Promise<void> => {
    while (!over.signal.aborted) {
      problems.push(...(await visitHost(running.url, name)));
      visits += 1;
    }
  };
  const readers = [read('a.localhost'), read('b.localhost')];
  try {
    for (let at = 1; at <= swaps; at += 1) {
      const open = (await askHost(running.url, 'a.localhost')).text;
      for (const domain of ['a', 'b']) platform().deploy({ domain, bundle: await exampleBundle(`${domain}${at}-`) });
      await expectShown(running, 'a.localhost', `a${at}-`);
      await expectShown(running, 'b.localhost', `b${at}-`);
      const asset = /src="(\/_bindery\/@[^"]+site.js)"/.exec(open)?.[1] ?? '';
      expect((await askHost(running.url, 'a.localhost', asset)).text).toContain(`'a${at - 1}-'`);
    }
  } finally {
    over.abort();
  }
  await Promise.all(readers);
  expect(problems).toEqual([]);
  expect(visits).toBeGreaterThan(swaps);
});

test('of deployments that come faster than they are taken, the last one is served', async () => {
  platform().deploy({ bundle: await exampleBundle('v0') });
  const running = await started();
  for (let at = 1; at <= 12; at += 1) platform().deploy({ bundle: await exampleBundle(`v${at}`) });
  await expectShown(running, 'docs.localhost', 'v12');
  expect(platform().downloads()).toBeLessThan(8);
});

test('a rollback needs no download, to any of the last five versions', async () => {
  const bundles = await Promise.all([0, 1, 2, 3, 4, 5, 6].map((at) => exampleBundle(`v${at}`)));
  const running = await started();
  for (const [at, bundle] of bundles.entries()) {
    platform().deploy({ bundle });
    await expectShown(running, 'docs.localhost', `v${at}`);
  }
  expect(platform().downloads()).toBe(7);
  for (const at of [1, 5, 2, 6]) {
    platform().deploy({ bundle: bundles[at] ?? Buffer.alloc(0) });
    await expectShown(running, 'docs.localhost', `v${at}`);
  }
  expect(platform().downloads()).toBe(7);
  await running.stop();
  const again = await started();
  await expectShown(again, 'docs.localhost', 'v6');
  platform().deploy({ bundle: bundles[3] ?? Buffer.alloc(0) });
  await expectShown(again, 'docs.localhost', 'v3');
  expect(platform().downloads()).toBe(7);
  expect((await versionsOf()).length).toBe(6);
});

describe('a bundle that cannot be taken', () => {
  test('of one site delays no other site, and what it served stays', async () => {
    const good = await exampleBundle('one');
    platform().deploy({ domain: 'bad', bundle: good });
    const running = await started();
    await expectShown(running, 'bad.localhost', 'one');
    const tampered = await exampleBundle('two', {}, { tampered: { 'index.html': 'not what the manifest says' } });
    platform().deploy({ domain: 'bad', bundle: tampered });
    platform().deploy({ domain: 'none', organization: 'other', bundle: Buffer.from('This is no archive.') });
    for (let at = 0; at < 5; at += 1)
      platform().deploy({ domain: `good-${at}`, bundle: await exampleBundle(`g${at}`) });
    for (let at = 0; at < 5; at += 1) await expectShown(running, `good-${at}.localhost`, `g${at}`);
    const lines = () => running.log.map(({ msg }) => msg).join('\n');
    await expect.poll(lines, waiting).toMatch(/version that was served stays: the bundle does not match its manifest/);
    expect(await shownVersion(running, 'bad.localhost')).toBe('one');
    expect((await askHost(running.url, 'none.localhost')).status).toBe(503);
    platform().deploy({ domain: 'bad', bundle: await exampleBundle('three') });
    await expectShown(running, 'bad.localhost', 'three');
  });

  test('because it does not arrive keeps no other site waiting', async () => {
    platform().state.bundle = ({ domain }, response) => {
      if (domain !== 'slow') return undefined;
      response.writeHead(200, { 'content-length': 100_000_000 }).write('a');
      return 'answered';
    };
    const running = await started();
    platform().deploy({ domain: 'slow', bundle: await exampleBundle('slow') });
    for (let at = 0; at < 4; at += 1) platform().deploy({ domain: `d${at}`, bundle: await exampleBundle(`v${at}`) });
    for (let at = 0; at < 4; at += 1) await expectShown(running, `d${at}.localhost`, `v${at}`);
  });

  test('because it does not arrive keeps an empty host from being ready for a while, and one that failed does not', async () => {
    let arrives = Promise.withResolvers<void>();
    platform().state.bundle = ({ domain }, response) => {
      if (domain === 'one') return undefined;
      void arrives.promise.then(() => response.writeHead(404).end());
      return 'answered';
    };
    platform().deploy({ domain: 'one', bundle: await exampleBundle('one') });
    platform().deploy({ domain: 'late', bundle: await exampleBundle('late') });
    const first = await started();
    await expectShown(first, 'one.localhost', 'one');
    const { ready, ...why } = await hostReadiness(first, (found) => !found.ready);
    expect([ready, JSON.stringify(why)]).toEqual([false, expect.stringContaining('1 of 2 sites are ready so far')]);
    arrives.resolve();
    await hostReadiness(first, isReady);
    await first.stop();
    // With a stored site, or after its limit, a host is ready nevertheless.
    arrives = Promise.withResolvers();
    const second = await started();
    await hostReadiness(second, isReady);
    await second.stop();
    await rm(sitesFolder(), { recursive: true });
    await hostReadiness(await started({}, { ...quickTimes, firstMs: 100 }), isReady);
    arrives.resolve();
  });

  test('because it is gone from the platform keeps what is served', async () => {
    platform().deploy({ bundle: await exampleBundle('one') });
    const running = await started();
    await expectShown(running, 'docs.localhost', 'one');
    platform().state.link = (_served, response) => {
      response.writeHead(404).end('{"error":"The bundle is gone.","code":"not_found"}');
      return 'answered';
    };
    platform().deploy({ bundle: await exampleBundle('two') });
    const problem = async () => (await hostReadiness(running, isReady)).degraded;
    await expect.poll(problem, waiting).toMatchObject({
      sites: expect.stringMatching(
        /^acme\/docs: The version that was served stays: the platform answered 404/,
      ) as string,
    });
    expect(await shownVersion(running, 'docs.localhost')).toBe('one');
    platform().state.link = undefined;
    await expectShown(running, 'docs.localhost', 'two');
  });

  test('because links are refused for a while is taken afterwards', async () => {
    let refused = 0;
    platform().state.link = (_served, response) => {
      refused += 1;
      if (refused > 3) return undefined;
      response.writeHead(503).end();
      return 'answered';
    };
    platform().deploy({ bundle: await exampleBundle('one') });
    await expectShown(await started(), 'docs.localhost', 'one');
  });
});

describe('health', () => {
  test('is answered where the host leads to no site', async () => {
    platform().deploy({ bundle: await exampleBundle('one', { livez: 'a page', readyz: 'a page' }) });
    const running = await started();
    await hostReadiness(running, isReady);
    await expectShown(running, 'docs.localhost', 'one');
    for (const path of ['/livez', '/readyz']) {
      expect((await askHost(running.url, 'docs.localhost', path)).text).toBe('a page');
      expect((await askHost(running.url, '10.0.0.7:8090', path)).text).toContain('docs-host');
    }
  });

  test('a host is ready when the platform has named all sites, and its metrics count them', async () => {
    platform().state.isSilent = true;
    const running = await started(withMetrics);
    const { missing } = await hostReadiness({ url: running.insideUrl }, ({ ready }) => !ready);
    expect(missing.site).toMatch(/no site is here/);
    platform().state.isSilent = false;
    platform().deploy({ bundle: await exampleBundle('one') });
    platform().dropFeeds();
    await hostReadiness({ url: running.insideUrl }, isReady);
    await expectShown(running, 'docs.localhost', 'one');
    platform().deploy({ bundle: await exampleBundle('two') });
    await expectShown(running, 'docs.localhost', 'two');
    const metrics = await (await fetch(`${running.insideUrl}/metrics`)).text();
    expect(metrics).toContain('bindery_docs_host_sites{service="docs-host"} 1');
    expect(metrics).toContain('bindery_docs_host_sites_served{service="docs-host"} 1');
    expect(metrics).toContain('bindery_docs_host_bundles_total{outcome="taken",service="docs-host"} 2');
    expect(metrics).toContain('bindery_docs_host_deployment_lag_seconds_count{service="docs-host"} 1');
  });

  test('a key that the platform refuses is named', async () => {
    const running = await started({ BINDERY_SITES_KEY: `svc_site_${'b'.repeat(36)}` });
    await expect
      .poll(() => running.log.map(({ msg }) => msg).join(), waiting)
      .toMatch(/401.*Look at BINDERY_SITES_KEY/);
  });
});
