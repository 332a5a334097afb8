import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ServedSite } from '#shared/interfaces/http/sites.ts';
import { askHost, visitHost } from '../../test/support/ask-host.ts';
import { hostReadiness, isReady, withMetrics } from '../../test/support/docs-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { expectShown, hostedSites, shownVersion, waiting } from '../../test/support/hosted-sites.ts';
import { contentFile } from './content-folder.ts';
import { readVersionList } from './version-list.ts';

const { folder, atEnd, platform, started, sitesFolder, siteFolder } = hostedSites();
const versionsOf = async () => await readdir(join(await siteFolder(), 'versions'));
const unfinished = async () => (await versionsOf()).filter((name) => name.startsWith('unfinished'));

describe('a host that starts again', () => {
  test('after a kill at any time serves whole versions, without the platform', async () => {
    const run = () =>
      spawn(process.execPath, ['services/cli/bindery.mjs', 'run', 'docs-host'], {
        env: {
          ...process.env,
          ...platform().env,
          BINDERY_DATA: folder(),
          BINDERY_DOCS_HOST_PORT: '0',
          BINDERY_LOG_LEVEL: 'warn',
        },
        stdio: 'ignore',
      });
    const inside = async (): Promise<string> => (await readdir(sitesFolder()).catch(() => [])).join();
    const large = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`large/${at}.html`, `${at}`.repeat(200_000)]),
    );
    platform().deploy({ bundle: await exampleBundle('v0') });
    const first = run();
    atEnd(async () => first.kill('SIGKILL'));
    await expect.poll(inside, waiting).not.toBe('');
    await expect
      .poll(async () => (await versionsOf()).filter((name) => !name.startsWith('unfinished')), waiting)
      .toHaveLength(1);
    platform().deploy({ bundle: await exampleBundle('v1', large) });
    await expect.poll(unfinished, waiting).not.toEqual([]);
    first.kill('SIGKILL');
    await once(first, 'exit');
    await platform().close();
    const left = await unfinished();
    const running = await started();
    expect(await visitHost(running.url, 'docs.localhost')).toEqual([]);
    expect(await shownVersion(running, 'docs.localhost')).toBe('v0');
    // The copies of the served version may be unfinished now.
    expect((await unfinished()).filter((name) => left.includes(name))).toEqual([]);
    await expect.poll(unfinished, waiting).toEqual([]);
    await hostReadiness(running, isReady);
  });

  test('serves its sites and previews at once, and learns what changed meanwhile', async () => {
    platform().deploy({ domain: 'a', bundle: await exampleBundle('a1') });
    platform().deploy({ domain: 'a', label: 'pr', bundle: await exampleBundle('p1') });
    platform().deploy({ domain: 'b', bundle: await exampleBundle('b1') });
    const first = await started();
    for (const [name, version] of [
      ['a', 'a1'],
      ['pr--a', 'p1'],
      ['b', 'b1'],
    ])
      await expectShown(first, `${name}.localhost`, version ?? '');
    await first.stop();
    platform().state.isSilent = true;
    const second = await started();
    expect(await shownVersion(second, 'a.localhost')).toBe('a1');
    expect(await shownVersion(second, 'b.localhost')).toBe('b1');
    expect((await askHost(second.url, 'pr--a.localhost')).headers['x-robots-tag']).toBe('noindex, nofollow');
    platform().end('acme/b');
    platform().deploy({ domain: 'a', bundle: await exampleBundle('a2') });
    platform().state.isSilent = false;
    platform().dropFeeds();
    await expectShown(second, 'a.localhost', 'a2');
    await expect.poll(async () => (await askHost(second.url, 'b.localhost')).status, waiting).toBe(404);
  });

  test.each([
    ['a page', 'page'],
    ['a copy', 'br'],
    ['a shard of the list', 'shard'],
    ['the head of the list', 'site.json'],
  ])('with %s that is damaged does not serve it, and makes it again without a download', async (_what, damaged) => {
    const more = { 'index.html': `<html><body><p>Version one</p>${'text '.repeat(300)}</body></html>` };
    platform().deploy({ bundle: await exampleBundle('one', more) });
    const first = await started();
    await expectShown(first, 'docs.localhost', 'one');
    await first.stop();
    const [version = ''] = await versionsOf();
    const at = await siteFolder();
    const list = await readVersionList(join(at, 'versions', version), join(at, 'content'));
    const page = list?.file('index.html');
    const isHead = damaged === 'site.json';
    const { sha256 = '' } = (damaged === 'shard' ? list?.shards[0] : damaged === 'br' ? page?.br : page) ?? {};
    const name = isHead ? join(at, 'versions', version, damaged) : contentFile(join(at, 'content'), sha256);
    await writeFile(name, 'damaged');
    const second = await started();
    const headers = { 'accept-encoding': damaged === 'br' ? 'br' : 'identity' };
    const status = async () => {
      const answer = await askHost(second.url, 'docs.localhost', '/', { headers });
      expect(answer.text).not.toContain('damaged');
      return answer.status;
    };
    await expect.poll(status, waiting).toBe(200);
    expect(await shownVersion(second, 'docs.localhost')).toBe('one');
    expect(platform().downloads()).toBe(1);
    await expect.poll(() => versionsOf(), waiting).not.toContain(version);
  });

  test('whose list is lost while its state cannot be written tries again until it can, and answers for other sites', async () => {
    platform().deploy({ bundle: await exampleBundle('one') });
    const first = await started();
    await expectShown(first, 'docs.localhost', 'one');
    platform().deploy({ bundle: await exampleBundle('two') });
    await expectShown(first, 'docs.localhost', 'two');
    await first.stop();
    const at = await siteFolder();
    const { active } = JSON.parse(await readFile(join(at, 'state.json'), 'utf8')) as { active: string };
    await rm(join(at, 'versions', active, 'site.json'));
    // As on a full disk, no new state is stored.
    await mkdir(join(at, 'state.json.next'));
    const second = await started();
    const failures = () => second.log.filter(({ msg }) => msg.startsWith('The version that was served stays')).length;
    await expect.poll(failures, waiting).toBeGreaterThan(0);
    platform().deploy({ domain: 'other', bundle: await exampleBundle('other') });
    await expectShown(second, 'other.localhost', 'other');
    await rm(join(at, 'state.json.next'), { recursive: true });
    await expectShown(second, 'docs.localhost', 'two');
  });

  test('with damaged files of the bundle downloads it again', async () => {
    platform().deploy({ bundle: await exampleBundle('one') });
    const first = await started();
    await expectShown(first, 'docs.localhost', 'one');
    await first.stop();
    const [version = ''] = await versionsOf();
    const at = await siteFolder();
    const logo = (await readVersionList(join(at, 'versions', version), join(at, 'content')))?.file('logo.svg');
    await rm(contentFile(join(at, 'content'), logo?.sha256 ?? ''));
    const second = await started();
    const status = async () => (await askHost(second.url, 'docs.localhost', '/logo.svg')).status;
    expect(await status()).toBe(503);
    await expect.poll(status, waiting).toBe(200);
    expect(platform().downloads()).toBe(2);
  });
});

test.skipIf(!existsSync('/proc/self/io'))(
  'a large file of a host that has started again is read once for its check, however many readers ask for parts of it',
  async () => {
    const large = 'video '.repeat(2_000_000);
    platform().deploy({ bundle: await exampleBundle('one', { 'video.mp4': large }) });
    const first = await started();
    await expectShown(first, 'docs.localhost', 'one');
    await first.stop();
    // The memory has room for no file, as on a host of many sites.
    const second = await started({ BINDERY_DOCS_HOST_MEMORY_MB: '0' });
    await expectShown(second, 'docs.localhost', 'one');
    const readBytes = async () => Number(/rchar: (\d+)/.exec(await readFile('/proc/self/io', 'utf8'))?.[1]);
    const before = await readBytes();
    const parts = Array.from({ length: 30 }, async (_, at) => {
      const headers = { range: `bytes=${at * 6_000}-${at * 6_000 + 5}` };
      const { status, text } = await askHost(second.url, 'docs.localhost', '/video.mp4', { headers });
      return [status, text];
    });
    expect(new Set((await Promise.all(parts)).map(String))).toEqual(new Set(['206,video ']));
    expect((await readBytes()) - before).toBeLessThan(5 * large.length);
  },
);

describe('the feed', () => {
  test('that breaks off is read again, and a site that it does not name any more is gone', async () => {
    platform().deploy({ domain: 'a', bundle: await exampleBundle('a1') });
    platform().deploy({ domain: 'b', bundle: await exampleBundle('b1') });
    const running = await started();
    await expectShown(running, 'a.localhost', 'a1');
    await expectShown(running, 'b.localhost', 'b1');
    platform().sites.delete('acme/b');
    platform().dropFeeds();
    await expect.poll(async () => (await askHost(running.url, 'b.localhost')).status, waiting).toBe(404);
    expect(await shownVersion(running, 'a.localhost')).toBe('a1');
    await expect.poll(() => readdir(sitesFolder()), waiting).toHaveLength(1);
    // A name that comes back is the same site.
    platform().deploy({ domain: 'b', bundle: await exampleBundle('b2') });
    await expectShown(running, 'b.localhost', 'b2');
  });

  test('that is silent is given up and read again', async () => {
    platform().deploy({ bundle: await exampleBundle('one') });
    const running = await started();
    await expectShown(running, 'docs.localhost', 'one');
    platform().state.isSilent = true;
    platform().deploy({ bundle: await exampleBundle('two') });
    await expect.poll(() => running.log.map(({ msg }) => msg).join(), waiting).toMatch(/silent for 1 s/);
    platform().state.isSilent = false;
    await expectShown(running, 'docs.localhost', 'two');
  });

  test('with comments only is not silent', async () => {
    platform().deploy({ bundle: await exampleBundle('one') });
    const running = await started();
    await expectShown(running, 'docs.localhost', 'one');
    const comments = platform().comments();
    await expect.poll(() => platform().comments() - comments, waiting).toBeGreaterThan(10);
    expect(platform().requests.filter((each) => each.endsWith('/feed'))).toHaveLength(1);
  });

  const bad = (change: Partial<Record<keyof ServedSite, unknown>>) => (served: ServedSite) =>
    `event: site\ndata: ${JSON.stringify({ ...served, ...change })}\n\n`;
  const events: [what: string, event: (served: ServedSite) => string][] = [
    ['without JSON', () => 'event: site\ndata: {"site":\n\n'],
    ['that names no site', () => 'event: gone\ndata: {}\n\n'],
    ['of another kind', () => 'event: strange\ndata: {}\n\n'],
    ['with a host that is none', bad({ hosts: ['../../etc'] })],
    ['with the host of a property', bad({ hosts: ['__proto__ '] })],
    ['without hosts', bad({ hosts: [] })],
    ['with a thousand hosts', bad({ hosts: Array.from({ length: 1_000 }, (_, at) => `h${at}.example`) })],
    ['with an address that is none', bad({ address: 'javascript:alert(1)' })],
    ['with another identity', bad({ site: 'other/docs' })],
    ['with a digest that is none', bad({ sha256: '../x' })],
    ['that is too long', bad({ address: `http://docs.localhost/${'a'.repeat(200_000)}` })],
    ['without an end', () => `data: ${'a'.repeat(300_000)}`],
    ['with odd bytes', () => 'event: site\ndata: \u0000\ud83d\n\n'],
  ];
  test('with events that cannot be read is followed on', async () => {
    const first = platform().deploy({ bundle: await exampleBundle('v0') });
    const running = await started();
    await expectShown(running, 'docs.localhost', 'v0');
    for (const [at, [what, event]] of events.entries()) {
      platform().write(event(first));
      // The connection may have been closed, and is reopened.
      await expect.poll(() => platform().connections(), { ...waiting, message: what }).toBe(1);
      platform().deploy({ bundle: await exampleBundle(`v${at + 1}`) });
      await expectShown(running, 'docs.localhost', `v${at + 1}`);
    }
  });

  test('that sends a site in a form that cannot be read before it has named all leaves it as it was', async () => {
    const served = platform().deploy({ bundle: await exampleBundle('one') });
    const running = await started();
    await expectShown(running, 'docs.localhost', 'one');
    platform().state.feed = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`${bad({ sizeBytes: 'many' })(served)}event: whole\ndata: {}\n\n`);
    };
    platform().dropFeeds();
    await expect
      .poll(() => running.log.map(({ msg }) => msg).join(), waiting)
      .toMatch(/event of the feed of sites is refused/);
    expect(await shownVersion(running, 'docs.localhost')).toBe('one');
  });
});

test('lists that nobody reads are evicted, and read again once for many requests', async () => {
  const name = (at: number) => `${'a long name of a file '.repeat(9).replaceAll(' ', '-')}${at}.txt`;
  const more = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [name(at), `${at}`]));
  for (let at = 0; at < 8; at += 1)
    platform().deploy({ domain: `d${at}`, bundle: await exampleBundle(`v${at}`, more) });
  const first = await started({ BINDERY_DOCS_HOST_LISTS_MB: '1', ...withMetrics });
  for (let at = 0; at < 8; at += 1) await expectShown(first, `d${at}.localhost`, `v${at}`);
  for (let round = 0; round < 3; round += 1)
    for (let at = 0; at < 8; at += 1) {
      const answers = await Promise.all(
        [0, 1, 2, 3].map((page) => askHost(first.url, `d${at}.localhost`, `/${name(page)}`)),
      );
      expect(answers.map(({ text }) => text)).toEqual(['0', '1', '2', '3']);
    }
  const metrics = await (await fetch(`${first.insideUrl}/metrics`)).text();
  const bytes = Number(/bindery_docs_host_lists_bytes\{[^}]*\} (\d+)/.exec(metrics)?.[1]);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThan(1_500_000);
});
