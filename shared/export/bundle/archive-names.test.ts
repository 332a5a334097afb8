import { expect, test } from 'vitest';
import { archivePathProblem } from './archive-names.ts';

test.each([
  'index.html',
  'a/b/c.html',
  'with space/ü.md',
  '日本語/ページ.html',
  '...',
  'a..b',
  '.well-known/x',
  'c/d:e',
])('%s is fine', (path) => expect(archivePathProblem(path)).toBeUndefined());

test.each([
  ['', 'is empty'],
  ['/etc/passwd', 'is absolute'],
  ['../x', 'climbs'],
  ['a/../../x', 'climbs'],
  ['a/..', 'climbs'],
  ['a//b', 'empty'],
  ['./a', 'empty or "."'],
  ['a/', 'empty'],
  ['..\\evil', 'backslash'],
  ['C:/x', 'drive letter'],
  ['a\0b', 'control character'],
  ['a\nb', 'control character'],
  ['a\ufffdb', 'UTF-8'],
  ['\ud800', 'UTF-8'],
  [`${'x/'.repeat(600)}y`, 'longer than 1024'],
  ['x'.repeat(256), 'longer than 255'],
])('%j is refused', (path, reason) => expect(archivePathProblem(path)).toContain(reason));
