import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { BundleRefused } from './bundle-refused.ts';
import { compareChanges, entryOf, manifestChanges } from './compare-changes.ts';
import type { PartedBytes } from './content-folder.ts';
import type { ChangedFiles } from './prepared-site.ts';

type Texts = Readonly<Record<string, string>>;
const bytesOf = (text: string): PartedBytes => ({ size: text.length, sha256: sha256Of(text) });

/** The manifest of these files, as an export writes it. */
const manifestOf = (files: Texts, facts: object = { domain: 'acme' }): Buffer =>
  Buffer.from(
    `${JSON.stringify(
      {
        ...facts,
        files: Object.entries(files)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([path, text]) => ({ path, ...bytesOf(text) })),
      },
      null,
      1,
    )}\n`,
  );

/** The files that an unpacked bundle has beside those of the version before. */
function changesBetween(before: Texts, after: Texts): ChangedFiles {
  const added = Object.entries(after).filter(([path, text]) => before[path] !== text);
  return {
    list: { bundled: (path: string) => (Object.hasOwn(before, path) ? bytesOf(before[path] ?? '') : undefined) },
    added: new Map(added.map(([path, text]) => [path, bytesOf(text)])),
    removed: new Set(Object.keys(before).filter((path) => !Object.hasOwn(after, path))),
  } as unknown as ChangedFiles;
}

const name = fc.constantFrom('a', 'b/c.html', 'Ü "x"', '}', ' {\n', '\\', 'zz', '😀', '\uFFFF');
const texts = fc.dictionary(name, fc.constantFrom('1', '2', '33'), { minKeys: 1, noNullPrototype: true });

test('files that differ as their manifests do are accepted, and any other difference is refused', () => {
  fc.assert(
    fc.property(texts, texts, texts, (before, after, other) => {
      const difference = manifestChanges(
        manifestOf(before),
        manifestOf(after, { domain: 'acme', contentVersion: 'x' }),
      );
      expect(difference?.facts).toEqual({ domain: 'acme', contentVersion: 'x', files: [] });
      if (difference === undefined) return;
      compareChanges(changesBetween(before, after), difference);
      const { list } = changesBetween(before, after);
      for (const path of Object.keys({ ...before, ...after }))
        expect(entryOf(path, list, difference)?.sha256).toBe(
          after[path] === undefined ? undefined : bytesOf(after[path]).sha256,
        );
      const compared = () => compareChanges(changesBetween(before, other), difference);
      if (isDeepStrictEqual(after, other)) compared();
      else expect(compared).toThrow(BundleRefused);
    }),
    { numRuns: 500 },
  );
});

test('an entry that only moved is no difference', () => {
  const [one, other] = [manifestOf({ a: '1', b: '2', c: '3' }), manifestOf({ a: '1', b: '2', c: '3' })];
  const entries =
    /\[\n([^]*)\n \]/
      .exec(one.toString())?.[1]
      ?.split(',\n  {')
      .map((text) => text.replace(/^ {2}\{/, '')) ?? [];
  const moved = one.toString().replace(
    /\[\n[^]*\n \]/,
    `[\n${entries
      .toReversed()
      .map((text) => `  {${text}`)
      .join(',\n')}\n ]`,
  );
  expect(JSON.parse(moved)).toMatchObject({ files: [{ path: 'c' }, { path: 'b' }, { path: 'a' }] });
  const difference = manifestChanges(other, Buffer.from(moved));
  expect(difference).toBeDefined();
  const same = { a: '1', b: '2', c: '3' };
  if (difference !== undefined) compareChanges(changesBetween(same, same), difference);
});

test('a manifest in another form is compared as a whole', () => {
  const manifest = manifestOf({ a: '1', b: '2' });
  const text = manifest.toString();
  for (const other of [
    JSON.stringify(JSON.parse(text)),
    text.trim(),
    text.replace('"size"', '"SIZE"'),
    text.replace('"size": 1', '"size": -1'),
    text.replace('"path": "a"', '"path": "a", "more": 1'),
    text.replace('"domain"', 'domain'),
    '',
    '{}',
  ])
    expect([other, manifestChanges(manifest, Buffer.from(other))]).toEqual([other, undefined]);
});
