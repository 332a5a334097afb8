import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { askHost, visitHost } from '../../test/support/ask-host.ts';
import type { TestedHost } from '../../test/support/docs-host.ts';
import { exampleFiles } from '../../test/support/example-bundle.ts';
import { hostedSites, waiting } from '../../test/support/hosted-sites.ts';
import { type PiecedBundle, piecedBundle } from '../../test/support/pieced-bundle.ts';
import { contentFile } from './content-folder.ts';
import { readVersionList } from './version-list.ts';

const { platform, started, siteFolder } = hostedSites();
const name = 'docs.localhost';

const madeWords = new Map<string, string>();

/** Words that are the same in each run and compress as text does. They are made once for each seed, because most tests compare all of them. */
function words(seed: string, characters: number): string {
  const key = `${seed}, ${characters}`;
  const made = madeWords.get(key);
  if (made !== undefined) return made;
  let text = '';
  for (let at = 0; text.length < characters; at += 1) text += `${sha256Of(`${seed} ${at}`).slice(0, 7)} `;
  madeWords.set(key, text);
  return text;
}

/** The value of each argument, made once. */
function madeOnce<T>(make: (changed: string) => T): (changed: string) => T {
  const made = new Map<string, T>();
  return (changed) => {
    const known = made.get(changed) ?? make(changed);
    made.set(changed, known);
    return known;
  };
}

/** The lines of a file that has the text of every page. */
const linesOf = madeOnce((changed) =>
  Array.from({ length: 30 }, (_, at) => `${at === 15 ? changed : ''}${words(`line ${at}`, 50_000)}\n`).join(''),
);

const longName = `${'a long folder with ünusual letters/'.repeat(5)}page.html`;

/** A bundle of forty pages whose page 20 and large file have `changed`. */
const bundleOf = madeOnce((changed) => bundleWith(changed));

/** The same bundle with more files. */
function bundleWith(changed: string, more: Record<string, string> = {}): Promise<PiecedBundle> {
  const page = (at: number) =>
    `<html><body><p>${at === 20 ? changed : ''} ${at}</p>${words(`page ${at}`, 6_000)}</body></html>`;
  const pages = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`pages/p${at}.html`, page(at)]));
  return piecedBundle(
    exampleFiles('same', { ...pages, [longName]: page(99), 'llms-full.txt': linesOf(changed), ...more }),
  );
}

async function expectShown(running: TestedHost, changed: string): Promise<void> {
  const page = async () => (await askHost(running.url, name, '/pages/p20')).text;
  await expect.poll(page, waiting).toContain(`<p>${changed} 20</p>`);
}

/** Expects that the host answers with every file of the bundle. */
async function expectWhole(running: TestedHost, changed: string): Promise<void> {
  expect(await visitHost(running.url, name)).toEqual([]);
  const full = await askHost(running.url, name, '/llms-full.txt');
  expect(full.text === linesOf(changed)).toBe(true);
  const range = { range: 'bytes=100000-1300000' };
  const part = await askHost(running.url, name, '/llms-full.txt', { headers: range });
  expect([part.status, part.text === linesOf(changed).slice(100_000, 1_300_001)]).toEqual([206, true]);
  for (const at of [0, 19, 39])
    expect((await askHost(running.url, name, `/pages/p${at}`)).text).toContain(words(`page ${at}`, 6_000));
  expect((await askHost(running.url, name, encodeURI(`/${longName.slice(0, -5)}`))).status).toBe(200);
}

const taken = (running: TestedHost): number =>
  running.log.filter(({ msg }) => msg === 'the changed ranges of a bundle were fetched').length;
const said = (running: TestedHost): string => running.log.map(({ msg }) => msg).join('\n');

test('of a new version only the ranges that changed are fetched, again and again, and after a restart', async () => {
  platform().deploy(await bundleOf('first'));
  const running = await started();
  await expectShown(running, 'first');
  await expectWhole(running, 'first');
  for (const [at, changed] of ['second', 'a longer third', ''].entries()) {
    const before = platform().sentBytes();
    const next = await bundleOf(changed);
    platform().deploy(next);
    await expectShown(running, changed);
    await expectWhole(running, changed);
    expect([at, taken(running)]).toEqual([at, at + 1]);
    expect(platform().sentBytes() - before).toBeLessThan(next.bundle.length / 5);
  }
  await running.stop();
  const again = await started();
  await expectWhole(again, '');
  platform().deploy(await bundleOf('after'));
  await expectShown(again, 'after');
  await expectWhole(again, 'after');
  expect(taken(again)).toBe(1);
});

test('files that are new, gone or at another place are taken in ranges, too', async () => {
  platform().deploy(await bundleWith('first', { 'b.txt': 'one', 'c.txt': 'two' }));
  const running = await started();
  await expectShown(running, 'first');
  platform().deploy(await bundleWith('second', { 'd.txt': 'three', 'c.txt': 'two' }));
  await expectShown(running, 'second');
  expect(taken(running)).toBe(1);
  const found = await Promise.all(['b', 'c', 'd'].map((file) => askHost(running.url, name, `/${file}.txt`)));
  expect(found.map(({ status }) => status)).toEqual([404, 200, 200]);
  await expectWhole(running, 'second');
});

describe('the bundle is downloaded whole', () => {
  const cases: [what: string, break_: (running: TestedHost) => void | Promise<void>, why: RegExp][] = [
    ['if the store ignores ranges', () => void (platform().state.hasRanges = false), /answered 200/],
    [
      'if it sends other bytes',
      () => {
        platform().state.changed = (bytes) => {
          const other = Buffer.from(bytes);
          other[other.length >> 1] = (other[other.length >> 1] ?? 0) ^ 1;
          return other;
        };
      },
      /other bytes than are expected|cannot be inflated/,
    ],
    [
      'if it sends zeros',
      () => void (platform().state.changed = (bytes) => Buffer.alloc(bytes.length)),
      /piece|inflated/,
    ],
    ['if it sends too few bytes', () => void (platform().state.changed = (bytes) => bytes.subarray(1)), /broke off/],
    [
      'if it sends too many bytes',
      () => void (platform().state.changed = (bytes) => Buffer.concat([bytes, bytes])),
      /more than the range/,
    ],
    [
      'if the list of pieces is another',
      () => void (platform().state.changedList = (list) => list.replace(/\[\d+,/, '[1,')),
      /not the one that the platform recorded/,
    ],
    ['if the list of pieces is none', () => void (platform().state.changedList = () => '{}'), /not the one/],
    [
      'if a part of a file that was kept is lost',
      async () => {
        const site = await siteFolder();
        const [version = ''] = await readdir(join(site, 'versions'));
        const list = await readVersionList(join(site, 'versions', version), join(site, 'content'));
        const { parts = [] } = list?.file('llms-full.txt') ?? {};
        await rm(contentFile(join(site, 'content'), parts[5]?.sha256 ?? ''));
      },
      /not usable/,
    ],
    [
      'if a shard of the list before is damaged',
      async () => {
        const site = await siteFolder();
        const [version = ''] = await readdir(join(site, 'versions'));
        const list = await readVersionList(join(site, 'versions', version), join(site, 'content'));
        for (const { sha256, size } of list?.shards ?? [])
          await writeFile(contentFile(join(site, 'content'), sha256), Buffer.alloc(size, 65));
      },
      /the shard \w+ of a list is lost or damaged/,
    ],
  ];
  test.each(cases)('%s, and what readers get is right', async (_what, break_, why) => {
    platform().deploy(await bundleOf('first'));
    const running = await started();
    await expectShown(running, 'first');
    await break_(running);
    platform().deploy(await bundleOf('second'));
    await expectShown(running, 'second');
    await expectWhole(running, 'second');
    expect(said(running)).toMatch(why);
    expect(taken(running)).toBe(0);
  });

  test('once a part of a file that was kept turns out to have other bytes, which are never sent', async () => {
    platform().deploy(await bundleOf('first'));
    const running = await started();
    await expectShown(running, 'first');
    const site = await siteFolder();
    const [version = ''] = await readdir(join(site, 'versions'));
    const list = await readVersionList(join(site, 'versions', version), join(site, 'content'));
    const { sha256 = '', size = 0 } = list?.file('llms-full.txt')?.parts?.[5] ?? {};
    await writeFile(contentFile(join(site, 'content'), sha256), Buffer.alloc(size, 65));
    platform().deploy(await bundleOf('second'));
    await expectShown(running, 'second');
    const status = async () => {
      const full = await askHost(running.url, name, '/llms-full.txt');
      expect(full.text).not.toContain('A'.repeat(100));
      return full.status;
    };
    await expect.poll(status, waiting).toBe(200);
    await expectWhole(running, 'second');
    expect(said(running)).toMatch(/a stored version is damaged/);
  });

  test('and never served if pieces of another bundle are listed for it', async () => {
    const [first, second, other] = [await bundleOf('first'), await bundleOf('second'), await bundleOf('other')];
    platform().deploy(first);
    const running = await started();
    await expectShown(running, 'first');
    // The store has the other bundle under the link of the second one, and lists its pieces.
    platform().deploy({ ...second, pieces: other.pieces });
    await expectShown(running, 'second');
    await expectWhole(running, 'second');
    expect(taken(running)).toBe(0);
  });
});
