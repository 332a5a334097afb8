import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Running } from '#shared/service/start-service.ts';
import { docsHosts, hostReadiness, isDegraded, isReady } from '../../test/support/docs-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { contentFile } from './content-folder.ts';
import { readVersionList } from './version-list.ts';

const { folder, host } = docsHosts();
const stored = { BINDERY_STATIC_EXPORT_ENABLED: '0' };
const versions = () => join(folder(), 'docs-host/versions');
const stateFile = () => join(folder(), 'docs-host/state.json');
const pageOf = async ({ url }: Running, path = '/') => (await fetch(url + path)).text();

/** Leaves a data folder in which the version "two" was served last, and "one" before it. */
async function twoVersions(more: Record<string, string> = {}): Promise<string> {
  const file = join(folder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one', more));
  const running = await host({ BINDERY_BUNDLE_PATH: file });
  await hostReadiness(running, isReady);
  await writeFile(file, await exampleBundle('two', more));
  await expect.poll(() => pageOf(running)).toContain('Version two');
  await running.stop();
  return (JSON.parse(await readFile(stateFile(), 'utf8')) as { active: string }).active;
}

test.each([
  ['is empty', ''],
  ['was cut', '{"formatVersion":1,"act'],
  ['is of a newer program', '{"formatVersion":2,"current":"x"}'],
  ['is gone', undefined],
])('a host whose state.json %s serves the newest stored version', async (_how, text) => {
  await twoVersions();
  if (text === undefined) await rm(stateFile());
  else await writeFile(stateFile(), text);
  expect(await pageOf(await host(stored))).toContain('Version two');
  expect(await readdir(versions())).toHaveLength(2);
});

test('a version that another program prepared, or whose copies are damaged, is made again from its files', async () => {
  const active = await twoVersions();
  const listed = join(versions(), active, 'site.json');
  const site = JSON.parse(await readFile(listed, 'utf8')) as object;
  await writeFile(listed, JSON.stringify({ ...site, formatVersion: 1 }));
  const first = await host(stored);
  expect(await pageOf(first)).toContain('Version two');
  await first.stop();
  const again = (await readdir(versions())).find((id) => id.startsWith(active.slice(0, 16))) ?? '';
  const copy =
    (await readVersionList(join(versions(), again), join(versions(), '../content')))?.file('index.html')?.br?.sha256 ??
    '';
  await writeFile(contentFile(join(folder(), 'docs-host/content'), copy), 'damaged');
  expect(await pageOf(await host(stored))).toContain('Version two');
});

test('versions that cannot be made again for another path now are there when they can', async () => {
  await twoVersions();
  const ids = await readdir(versions());
  // A folder in place of a file makes it unreadable.
  for (const id of ids) {
    await rm(join(versions(), id, 'source.json'));
    await mkdir(join(versions(), id, 'source.json'));
  }
  const without = await host(stored);
  expect((await fetch(without.url)).status).toBe(503);
  await without.stop();
  expect((await readdir(versions())).sort()).toEqual(ids.sort());
});

test('nothing is left of a version that cannot be made the active one', async () => {
  await twoVersions();
  const file = join(folder(), 'site.tar.gz');
  const running = await host({ BINDERY_BUNDLE_PATH: file });
  await mkdir(`${stateFile()}.next`);
  await writeFile(file, await exampleBundle('three'));
  await hostReadiness(running, isDegraded);
  await expect.poll(() => readdir(versions())).toHaveLength(2);
  expect(await pageOf(running)).toContain('Version two');
});

test('a file with the name of a part of every object is served also after a restart', async () => {
  await twoVersions(JSON.parse('{"__proto__":"kept","constructor":"too"}') as Record<string, string>);
  const running = await host(stored);
  expect([await pageOf(running, '/__proto__'), await pageOf(running, '/constructor')]).toEqual(['kept', 'too']);
  expect((await fetch(`${running.url}/constructor`)).headers.get('content-type')).toBe('application/octet-stream');
});
