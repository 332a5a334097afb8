import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { contentFile } from './content-folder.ts';
import { sweepContent, unneededOf } from './sweep-content.ts';

type Files = Record<string, string>;

const linesOf = (files: Files): Buffer =>
  Buffer.concat(
    Object.entries(files)
      .map(([path, text]) => Buffer.from(`${path}\t{"size":${text.length},"sha256":"${sha256Of(text)}"}\n`))
      .sort((one, other) => one.compare(other)),
  );

test('the files that only removed versions name are those of their lists without those of the others', () => {
  const files = fc.dictionary(fc.constantFrom('a', 'b', 'c/d', 'é', 'f'), fc.constantFrom('1', '2', '3', '4'));
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`m${at}`, `many ${at}`]));
  const lists = fc.array(fc.tuple(files, fc.boolean()), { maxLength: 4 });
  fc.assert(
    fc.property(lists, lists, (gone, kept) => {
      const made = (all: [Files, boolean][]) => all.map(([own, isLong]) => ({ ...own, ...(isLong && many) }));
      const named = (all: Files[]) => new Set(all.flatMap((each) => Object.values(each).map((text) => sha256Of(text))));
      const expected = named(made(gone)).difference(named(made(kept)));
      expect(unneededOf(made(gone).map(linesOf), made(kept).map(linesOf))).toEqual(expected);
    }),
  );
});

async function site(versions: Record<string, Files>) {
  const folder = newFolder();
  const content = join(folder, 'content');
  for (const [id, files] of Object.entries(versions)) {
    await mkdir(join(folder, id), { recursive: true });
    await writeFile(join(folder, id, 'site.list'), linesOf(files));
    for (const text of Object.values(files)) {
      const file = contentFile(content, sha256Of(text));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
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
  const { content, at, here } = await site({ one: { a: '1' } });
  const request = { content, kept: [at('lost')], gone: [at('one')] };
  await expect(sweepContent(request)).rejects.toThrow('ENOENT');
  await expect(sweepContent({ ...request, gone: undefined })).rejects.toThrow('ENOENT');
  expect(here('1')).toBe('1');
});
