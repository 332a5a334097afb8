import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { contentFile, newContent } from './content-folder.ts';
import { storeShards } from './sorted-lines.ts';
import { sweepContent } from './sweep-content.ts';
import { readVersionList, writeHead } from './version-list.ts';

type Files = Record<string, string>;

const linesOf = (files: Files): Buffer =>
  Buffer.concat(
    Object.entries(files)
      .map(([path, text]) => Buffer.from(`${path}\t{"size":${text.length},"sha256":"${sha256Of(text)}"}\n`))
      .sort((one, other) => one.compare(other)),
  );

test('the files that only removed versions name are removed, however their lists are divided', async () => {
  const files = fc.dictionary(fc.constantFrom('a', 'b', 'c/d', 'é', 'f'), fc.constantFrom('1', '2', '3', '4'));
  const lists = fc.array(fc.tuple(files, fc.boolean()), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(lists, lists, fc.boolean(), async (gone, kept, areShared) => {
      const all = (list: typeof gone, name: string) =>
        Object.fromEntries(list.map(([own], at) => [`${name}${at}`, own] as const));
      const [removed, stay] = [all(gone, 'gone'), all(kept, 'kept')];
      const { content, at, here } = await site({ ...removed, ...stay }, areShared);
      await sweepContent({ content, kept: Object.keys(stay).map(at), gone: Object.keys(removed).map(at) });
      const named = (list: Record<string, Files>) =>
        new Set(Object.values(list).flatMap((each) => Object.values(each)));
      const lost = named(removed).difference(named(stay));
      expect(new Set(here('1234'))).toEqual(named({ ...removed, ...stay }).difference(lost));
      for (const id of Object.keys(stay)) expect(await isWhole(at(id), content)).toBe(true);
      await sweepContent({ content, kept: [], gone: Object.keys(stay).map(at) });
      expect(await readdirs(content)).toEqual([]);
    }),
    { numRuns: 30 },
  );
});

const isWhole = async (folder: string, content: string): Promise<boolean> =>
  (await readVersionList(folder, content)) !== undefined;

async function readdirs(content: string): Promise<string[]> {
  const found = await readdir(content, { recursive: true, withFileTypes: true }).catch(() => []);
  return found.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** Versions of a site: with shards in its content, or as the program before wrote them, with all lines in a file of their own. */
async function site(versions: Record<string, Files>, areShared = true) {
  const folder = newFolder();
  const content = join(folder, 'content');
  const about = {
    ...{ base: '', isAirGapped: false, token: '0', wildcards: [], policies: [], pieces: [] },
    manifest: { sha256: '0'.repeat(64), domain: 'acme', deployment: 'cloud' as const },
  };
  for (const [id, files] of Object.entries(versions)) {
    const at = join(folder, id);
    await mkdir(at, { recursive: true });
    const added = newContent(content, at);
    for (const text of Object.values(files)) await added.put(Buffer.from(text));
    const lines = linesOf(files);
    if (areShared)
      await writeHead(
        at,
        about,
        await storeShards(
          added,
          lines
            .toString()
            .match(/.+\n/g)
            ?.map((line) => Buffer.from(line)) ?? [],
        ),
      );
    else {
      const { pieces: _, ...before } = about;
      const stored = { size: lines.length, sha256: sha256Of(lines) };
      await writeFile(join(at, 'site.json'), JSON.stringify({ formatVersion: 4, ...before, lines: stored }));
      await writeFile(join(at, 'site.list'), lines);
    }
    await added.commit();
  }
  const here = (texts: string) =>
    texts
      .split('')
      .filter((text) => existsSync(contentFile(content, sha256Of(text))))
      .join('');
  return { content, at: (id: string) => join(folder, id), here };
}

test('files of a removed version are removed, but for those that others have', async () => {
  const { content, at, here } = await site({ one: { a: '1', b: '2' }, two: { a: '1', b: '3' }, three: { c: '2' } });
  await sweepContent({ content, kept: [at('two')], gone: [at('one')] });
  expect(here('123')).toBe('13');
  await sweepContent({ content, kept: [at('two'), at('three')], gone: undefined });
  expect(here('123')).toBe('13');
  await sweepContent({ content, kept: [], gone: undefined });
  expect(here('123')).toBe('');
});

test('nothing is removed while the list of a version that stays cannot be read', async () => {
  const { content, at, here } = await site({ one: { a: '1' }, two: { a: '2' } });
  const lost = { content, kept: [at('lost')], gone: [at('one')] };
  await expect(sweepContent(lost)).rejects.toThrow('cannot be read');
  await expect(sweepContent({ ...lost, gone: undefined })).rejects.toThrow('cannot be read');
  const list = await readVersionList(at('two'), content);
  await rm(contentFile(content, list?.shards[0]?.sha256 ?? ''));
  const damaged = { content, kept: [at('two')], gone: [at('one')] };
  await expect(sweepContent(damaged)).rejects.toThrow('ENOENT');
  await expect(sweepContent({ ...damaged, gone: undefined })).rejects.toThrow('ENOENT');
  expect(here('12')).toBe('12');
});
