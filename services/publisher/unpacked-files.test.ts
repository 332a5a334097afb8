import { expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { unpackedFiles, unpackQuestion } from './unpacked-files.ts';

const most = { unpackedBytes: 20, entries: 3 };
const bytes = (text: string): Uint8Array => Buffer.from(text);
const file = (path: string, sizeBytes: number) => ({ path, sizeBytes });

test('files are hashed here, whatever pieces they come in', () => {
  const unpacked = unpackedFiles(most);
  unpacked.take([], bytes('one'));
  unpacked.take([file('a', 6), file('empty', 0)], bytes('twothree'));
  unpacked.take([file('b', 5)], bytes(''));
  expect(unpacked.all()).toEqual([
    { path: 'a', sizeBytes: 6, sha256: sha256Of('onetwo'), offset: 0 },
    { path: 'empty', sizeBytes: 0, sha256: sha256Of(''), offset: 6 },
    { path: 'b', sizeBytes: 5, sha256: sha256Of('three'), offset: 6 },
  ]);
});

test.each<[string, Parameters<ReturnType<typeof unpackedFiles>['take']>]>([
  ['climbs out of its project', [[file('../x', 1)], bytes('x')]],
  ['is at the top of the disk', [[file('/etc/passwd', 1)], bytes('x')]],
  ['is there twice', [[file('a', 0), file('a', 0)], bytes('')]],
  ['is larger than its bytes', [[file('a', 2)], bytes('x')]],
  ['is smaller than the bytes before it', [[file('a', 3), file('b', -1)], bytes('xyz')]],
  ['is too large', [[file('a', 21)], bytes('x'.repeat(21))]],
  ['is one too many', [['a', 'b', 'c', 'd'].map((path) => file(path, 0)), bytes('')]],
])('a child does not get in a file that %s', (_what, [files, content]) => {
  const unpacked = unpackedFiles(most);
  expect(() => unpacked.take(files, content)).toThrow(/^it [a-z]/);
});

test('bytes that belong to no file are noticed', () => {
  const unpacked = unpackedFiles(most);
  unpacked.take([file('a', 1)], bytes('xyz'));
  expect(() => unpacked.all()).toThrow('it gave bytes that belong to no file');
});

test.each([
  null,
  'more',
  { kind: 'keep' },
  { kind: 'keep', files: [], bytes: 'text' },
  { kind: 'keep', files: [{ path: 'a', sizeBytes: 1, sha256: '0'.repeat(64) }], bytes: bytes('x') },
  { kind: 'keep', files: [{ path: 'a', sizeBytes: -1 }], bytes: bytes('') },
  { kind: 'keep', files: [], bytes: Buffer.alloc(17 * 1024 * 1024) },
])('%j is no question', (question) => {
  expect(unpackQuestion.safeParse(question).success).toBe(false);
});
