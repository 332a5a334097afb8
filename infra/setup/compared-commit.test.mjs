import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { comparedCommit } from './compared-commit.mjs';

const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];

/** Runs git in a folder and returns its output. */
function git(folder, ...args) {
  const { status, stdout, stderr } = spawnSync('git', [...author, ...args], { cwd: folder, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return stdout.trim();
}

/** Commits an empty change and returns the commit. */
function commit(folder) {
  git(folder, 'commit', '--quiet', '--allow-empty', '--message', 'A change');
  return git(folder, 'rev-parse', 'HEAD');
}

test('a branch is compared with the one that it is pushed to, and a new one with the main branch', () => {
  const [origin, clones] = [newFolder(), newFolder()];
  git(origin, 'init', '--quiet', '--initial-branch', 'main');
  const base = commit(origin);
  expect(comparedCommit(origin)).toBe(undefined);
  const clone = join(clones, 'clone');
  git(clones, 'clone', '--quiet', origin, clone);
  git(clone, 'switch', '--quiet', '--create', 'topic');
  const pushed = commit(clone);
  expect(comparedCommit(clone)).toBe(base);
  git(clone, 'push', '--quiet', '--set-upstream', 'origin', 'topic');
  commit(clone);
  expect(comparedCommit(clone)).toBe(pushed);
});
