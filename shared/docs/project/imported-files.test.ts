import { describe, expect, test } from 'vitest';
import { type ImportedFile, type ImportedFiles, reachedDigests, reachedFiles, reachedNames } from './imported-files.ts';

/** Files by name, each with the names that it needs. */
const filesOf = (imports: Record<string, string[]>): ImportedFiles =>
  new Map(
    Object.entries(imports).map(([path, dependencies]) => [path, { path, sha256: path, sizeBytes: 1, dependencies }]),
  );
const chain = (length: number): ImportedFiles =>
  filesOf(Object.fromEntries(Array.from({ length }, (_, at) => [`${at}`, at + 1 < length ? [`${at + 1}`] : []])));

describe('reached files', () => {
  const files = filesOf({ a: ['b'], b: ['c', 'lost'], c: ['a'], d: ['c'], e: [] });

  test('are those of the names, of their imports, and so on, each once', () => {
    expect([...reachedNames(files, ['a'])]).toEqual(['a', 'b', 'c', 'lost']);
    expect(reachedFiles(files, ['d', 'other']).map(({ path }) => path)).toEqual(['d', 'c', 'a', 'b']);
    expect([...reachedNames(files, [])]).toEqual([]);
  });

  test('leave out names that are already known', () => {
    expect([...reachedNames(files, ['d', 'e'], new Set(['c', 'a', 'b']))]).toEqual(['d', 'e']);
  });
});

describe('digests of everything that names reach', () => {
  const own = ({ path, sha256 }: ImportedFile): string => `${path} ${sha256}`;
  const digest = (imports: Record<string, string[]>, names: string[], changed = ''): string =>
    reachedDigests(filesOf(imports), (file) => own(file) + (file.path === changed ? ' changed' : ''))(names);

  test('change with each file that is reached, and with no other', () => {
    const imports = { a: ['b'], b: ['c', 'd'], c: ['b'], d: [], e: ['a'], f: [] };
    const before = digest(imports, ['a']);
    expect(digest(imports, ['a'])).toBe(before);
    for (const changed of ['a', 'b', 'c', 'd']) expect(digest(imports, ['a'], changed), changed).not.toBe(before);
    for (const changed of ['e', 'f']) expect(digest(imports, ['a'], changed), changed).toBe(before);
  });

  test('change with the imports', () => {
    const imports = { a: ['b'], b: [], c: ['d'], d: ['c', 'e'], e: [], f: [] };
    expect(digest(imports, ['a'])).not.toBe(digest({ ...imports, b: ['f'] }, ['a']));
    expect(digest(imports, ['c'])).not.toBe(digest({ ...imports, e: ['f'] }, ['c']));
    expect(digest(imports, ['a', 'c'])).not.toBe(digest(imports, ['a']));
    expect(digest(imports, ['a', 'lost'])).toBe(digest(imports, ['a']));
  });

  test('are the same for a circle, wherever it is entered first', () => {
    expect(digest({ a: ['b'], b: ['c'], c: ['a', 'd'], d: [] }, ['c'])).toBe(
      digest({ d: [], c: ['a', 'd'], b: ['c'], a: ['b'] }, ['c']),
    );
  });

  test('are made once for each file, in chains of any length', () => {
    let made = 0;
    const digestOf = reachedDigests(chain(50_000), (file) => {
      made += 1;
      return own(file);
    });
    const digests = new Set(Array.from({ length: 50_000 }, (_, at) => digestOf([`${at}`])));
    expect(digests.size).toBe(50_000);
    expect(made).toBe(50_000);
  });
});
