import { describe, expect, test } from 'vitest';
import { archiveNames, archivePathProblem, ArchiveRefused, byPath, portableName } from './archive-names.ts';

test.each([
  'index.html',
  'a/b/c.html',
  'with space/ü.md',
  '日本語/ページ.html',
  '...',
  'a..b',
  '.well-known/x',
  'c/d:e',
  `${'x/'.repeat(511)}yz`,
  'x'.repeat(255),
])('%s is fine', (path) => expect(archivePathProblem(path)).toBeUndefined());

test.each([
  ['', 'is empty'],
  ['/etc/passwd', 'is absolute'],
  ['../x', 'points outside'],
  ['a/../../x', 'points outside'],
  ['a/..', 'points outside'],
  ['a//b', 'empty'],
  ['./a', 'empty or "."'],
  ['a/', 'empty'],
  ['..\\evil', 'backslash'],
  ['C:/x', 'drive letter'],
  ['a\0b', 'control character'],
  ['a\nb', 'control character'],
  ['a\u007fb', 'control character'],
  ['a\ufffdb', 'UTF-8'],
  ['\ud800', 'UTF-8'],
  [`${'x/'.repeat(600)}y`, 'longer than 1024'],
  ['x'.repeat(256), 'longer than 255'],
])('%j is refused', (path, reason) => expect(archivePathProblem(path)).toContain(reason));

test.each([
  ['Straße', 'STRASSE'],
  ['ſ', 'S'],
  ['É', 'e\u0301'],
  ['Å', '\u212b'],
  ['a\u200db', 'AB'],
  ['Grün/\u00adx', 'grün/X'],
])('%s and %s are the same name on some systems', (one, other) => {
  expect(portableName(one)).toBe(portableName(other));
});

test('a portable name is in lower case and composed', () => {
  expect([portableName('A/B.html'), portableName('E\u0301'), portableName('a b')]).toEqual([
    ...['a/b.html', '\u00e9', 'a b'],
  ]);
});

test('files are ordered by path', () => {
  const order = (a: string, b: string) => byPath({ path: a }, { path: b });
  expect([order('a', 'b'), order('b', 'a'), order('a', 'a'), order('Z', 'a')]).toEqual([-1, 1, 0, -1]);
});

describe('the entries of an archive', () => {
  const names = (entries = 100, portable = false) => archiveNames({ portable, entries });
  const file = (name: string, more: object = {}) => ({ name, type: 'file', size: 1, ...more });
  const folder = (name: string, size = 0) => ({ name, type: 'directory', size });
  const reasonFor = (...headers: Parameters<ReturnType<typeof names>['fileOf']>[0][]): string => {
    const archive = names();
    try {
      for (const header of headers) archive.fileOf(header);
    } catch (error) {
      expect(error).toBeInstanceOf(ArchiveRefused);
      expect(error).toMatchObject({ name: 'ArchiveRefused' });
      return (error as Error).message;
    }
    return 'accepted';
  };

  test('have clean paths, and folders have none', () => {
    const archive = names();
    const headers = ['./', '.', 'a/', 'a//', './a/b/'].map((name) => folder(name));
    expect(headers.map((header) => archive.fileOf(header))).toEqual(headers.map(() => undefined));
    expect(['./x', '././y', 'a/b/z', 'a/.z'].map((name) => archive.fileOf(file(name)))).toEqual([
      ...['x', 'y', 'a/b/z', 'a/.z'],
    ]);
  });

  test.each([
    ['link', 'a hard link'],
    ['symlink', 'a symbolic link'],
    ['character-device', 'a device'],
    ['block-device', 'a device'],
    ['fifo', 'a pipe'],
    ['contiguous-file', 'an entry of an unknown kind'],
    [null, 'an entry of an unknown kind'],
  ])('are not of the type %s', (type, kind) => {
    expect(reasonFor({ name: 'x', type, size: 0 })).toBe(
      `"x" is ${kind}: an archive may have only regular files and folders`,
    );
  });

  test('are not sparse, and folders have no bytes', () => {
    expect(reasonFor(file('x', { pax: { path: 'x', 'GNU.sparse.major': '1' } }))).toBe(
      '"x" is stored as a sparse file: pack it without --sparse',
    );
    expect(reasonFor(file('x', { pax: { path: 'x', comment: 'GNU.sparse.' } }))).toBe('accepted');
    expect(reasonFor(folder('x/', 1))).toBe('"x/" is a folder, but has content');
  });

  test('are each there once, as a file or as a folder', () => {
    expect(reasonFor(file('a'), file('a'))).toBe('"a" is in the archive more than once');
    expect(reasonFor(file('a/b/c'), file('a/b'))).toBe('"a/b" is in the archive more than once');
    expect(reasonFor(file('a'), file('a/b/c'))).toBe('"a" is a file, and a folder for "a/b/c"');
    expect(reasonFor(file('a'), folder('a/'))).toBe('"a" is a file, and a folder for "a"');
    expect(reasonFor(folder('a/'), file('a/b'), folder('a/'), file('a/c'))).toBe('accepted');
  });

  test('may be as many folders as there are entries', () => {
    const archive = names(2);
    for (const name of ['a/b/1', 'a/b/2', 'a/3', '4']) archive.fileOf(file(name));
    expect(() => archive.fileOf(file('c/5'))).toThrow('the archive has more than 2 folders');
  });

  test('have names of 320 characters on average', () => {
    const archive = names(2);
    for (const name of ['a'.repeat(250), 'b'.repeat(250), 'c'.repeat(140)]) archive.fileOf(file(name));
    expect(() => archive.fileOf(file('x'))).toThrow('the names in the archive have more than 640 characters together');
  });

  test('have names that a message quotes up to 300 characters', () => {
    const name = `../${'x'.repeat(297)}`;
    expect(reasonFor(file(name))).toBe(`the name "${name}" points outside its folder: an archive may not have it`);
    expect(reasonFor(file(`${name}yz`))).toContain(`the name "${name}"… (302 characters) points outside`);
  });
});
