import { spawnSync } from 'node:child_process';

/**
 * The last commit that the branch checked out in `folder` shares with the one that it is pushed to. A branch that was never pushed is compared with
 * the main branch of `origin`. Undefined where there is neither.
 */
export function comparedCommit(folder) {
  for (const branch of ['@{upstream}', 'origin/HEAD', 'origin/main']) {
    const { status, stdout } = spawnSync('git', ['merge-base', 'HEAD', branch], { cwd: folder, encoding: 'utf8' });
    if (status === 0) return stdout.trim();
  }
  return undefined;
}
