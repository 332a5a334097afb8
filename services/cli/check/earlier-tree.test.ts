import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { newFolder } from '../../../test/support/new-folder.ts';
import { earlierTree, newFindings, pathInRepository } from './earlier-tree.ts';

let top: string;
let docs: string;
const git = (...args: string[]): string =>
  execFileSync('git', ['-C', top, '-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], {
    encoding: 'utf8',
  });
const commit = (): void => {
  git('add', '-A');
  git('commit', '-qm', 'x');
};

beforeEach(async () => {
  top = newFolder();
  docs = join(top, 'docs');
  await mkdir(docs);
  git('init', '-q', '-b', 'main');
  await writeFile(join(docs, 'docs.json'), '{}');
  await writeFile(join(docs, 'a.mdx'), 'Words of the first page, which are long enough to be found again.\n');
  commit();
});

test('the tree is that of the point where the branch began, and nothing of the repository changes', async () => {
  git('checkout', '-qb', 'change');
  git('mv', 'docs/a.mdx', 'docs/b.mdx');
  commit();
  git('checkout', '-q', 'main');
  await writeFile(join(docs, 'later.mdx'), 'of others');
  commit();
  git('checkout', '-q', 'change');
  await writeFile(join(docs, 'unknown.mdx'), 'not in git');
  const before = git('status', '--porcelain');
  const tree = await earlierTree(docs, 'main');
  expect(tree.renamed).toEqual(new Map([['a.mdx', 'b.mdx']]));
  expect(await readFile(join(tree.folder ?? '', 'a.mdx'), 'utf8')).toMatch(/^Words/);
  await expect(readFile(join(tree.folder ?? '', 'later.mdx'))).rejects.toThrow('ENOENT');
  expect(git('status', '--porcelain')).toBe(before);
  await tree.close();
  await expect(readFile(join(tree.folder ?? '', 'a.mdx'))).rejects.toThrow('ENOENT');
  expect(await pathInRepository(docs)).toBe('docs/');
});

test('links to files of the repository are there, too, and a project that is new has no tree', async () => {
  await writeFile(join(top, 'README.md'), 'Words.');
  await symlink('../README.md', join(docs, 'readme.md'));
  await mkdir(join(top, 'more'));
  commit();
  const tree = await earlierTree(docs, 'HEAD');
  expect(await readFile(join(tree.folder ?? '', 'readme.md'), 'utf8')).toBe('Words.');
  await tree.close();
  await writeFile(join(top, 'more/docs.json'), '{}');
  const none = await earlierTree(join(top, 'more'), 'HEAD');
  expect(none.folder).toBeUndefined();
  await none.close();
});

test('a hook of git in a linked work tree gets the same tree, though git sets the place of its repository', async () => {
  const linked = join(newFolder(), 'linked');
  git('worktree', 'add', '-q', linked, 'HEAD');
  const gitDir = join(top, '.git/worktrees/linked');
  vi.stubEnv('GIT_DIR', gitDir);
  vi.stubEnv('GIT_INDEX_FILE', join(gitDir, 'index.lock'));
  onTestFinished(() => void vi.unstubAllEnvs());
  const tree = await earlierTree(join(linked, 'docs'), 'HEAD');
  expect(await readFile(join(tree.folder ?? '', 'a.mdx'), 'utf8')).toMatch(/^Words/);
  await tree.close();
  expect(await pathInRepository(join(linked, 'docs'))).toBe('docs/');
});

test('an unknown commit and a folder without a repository are wrong use', async () => {
  await expect(earlierTree(docs, 'nowhere')).rejects.toMatchObject({ name: 'WrongUse', exitStatus: 2 });
  await expect(earlierTree(docs, '--help')).rejects.toMatchObject({ name: 'WrongUse' });
  await rm(join(top, '.git'), { recursive: true });
  await expect(earlierTree(docs, 'main')).rejects.toThrow('it is not in a git repository');
  expect(await pathInRepository(docs)).toBe('');
});

const finding = (changes: Partial<Diagnostic>): Diagnostic => ({
  ...{ severity: 'warning', code: 'broken-link', message: 'No page "/x".', file: 'a.mdx', line: 1 },
  ...changes,
});
const located = (text: string | undefined, changes: Partial<Diagnostic> = {}) => {
  const made = finding(changes);
  return { item: made, finding: made, text };
};

test('a finding that only moved is not new, nor one in a renamed file', () => {
  const renamed = new Map([['old.mdx', 'a.mdx']]);
  expect(newFindings([located('[x](/x)', { line: 9 })], [located('  [x](/x)')], new Map())).toEqual([]);
  expect(newFindings([located('[y](/x)')], [located('[x](/x)')], new Map())).toEqual([]);
  expect(newFindings([located('[x](/x)')], [located('[x](/x)', { file: 'old.mdx' })], renamed)).toEqual([]);
  const nearest = { message: 'No anchor "#a". The nearest is "#b".' };
  expect(newFindings([located('x', nearest)], [located('x', { message: 'No anchor "#a".' })], new Map())).toEqual([]);
});

test('of several equal findings, those on new lines are new', () => {
  const now = [located('new line', { line: 1 }), located('old line', { line: 2 }), located('old line', { line: 3 })];
  expect(newFindings(now, [located('old line'), located('old line')], new Map())).toEqual([now[0]?.item]);
  expect(newFindings(now, [], new Map())).toHaveLength(3);
  expect(newFindings([], now, new Map())).toEqual([]);
});
