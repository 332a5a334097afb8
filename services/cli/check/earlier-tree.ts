import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { WrongUse } from './wrong-use.ts';

/** A project as it was in a commit, in a folder that `close` removes. */
export type EarlierTree = {
  /** The folder of the project; undefined if the commit does not have it. */
  folder: string | undefined;
  /** New paths of renamed files by their old paths, in the project. */
  renamed: ReadonlyMap<string, string>;
  close: () => Promise<void>;
};

const run = promisify(execFile);
const mostOutput = 256 * 1024 * 1024;

/** Hooks and large files of other servers have no part in a check. */
const quiet = { GIT_LFS_SKIP_SMUDGE: '1', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };

/** The variables that git sets for its hooks. With them it would not look for the repository of the folder. */
const ofHooks: ReadonlySet<string> = new Set(
  'GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_COMMON_DIR GIT_NAMESPACE'.split(' '),
);

function environmentWith(more: Record<string, string>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !ofHooks.has(name));
  return { ...Object.fromEntries(own), ...quiet, ...more };
}

async function git(folder: string, args: readonly string[], environment: Record<string, string> = {}): Promise<string> {
  const env = environmentWith(environment);
  const { stdout } = await run('git', ['-C', folder, ...args], { env, maxBuffer: mostOutput });
  return stdout;
}

/** The path of a project in its git repository, with a slash at its end; '' at the top, or without a repository. */
export async function pathInRepository(folder: string): Promise<string> {
  return await git(folder, ['rev-parse', '--show-prefix']).then(
    (text) => text.trim(),
    () => '',
  );
}

/**
 * Checks out the project at the point from which the current commit and `ref` have gone their ways, so that changes of others on `ref` do not count.
 * The index and the files of the repository stay untouched. Rejects with `WrongUse` if there is no repository, or no such commit.
 */
export async function earlierTree(folder: string, ref: string): Promise<EarlierTree> {
  const prefix = await git(folder, ['rev-parse', '--show-prefix']).catch((error: unknown) => {
    const why =
      (error as { code?: unknown }).code === 'ENOENT' ? 'git is not installed' : 'it is not in a git repository';
    throw new WrongUse(`--since compares ${folder} with an earlier commit, and ${why}.`);
  });
  const wanted = await git(folder, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]).catch(
    () => {
      throw new WrongUse(
        `--since ${ref} is no commit, branch or tag of this repository. In CI, fetch the history first, such as with "fetch-depth: 0".`,
      );
    },
  );
  const base = await git(folder, ['merge-base', wanted.trim(), 'HEAD']).catch(() => wanted);
  const commit = base.trim();
  const project = prefix.trim().replace(/\/$/, '');
  const temporary = await mkdtemp(join(await realpath(tmpdir()), 'bindery-since-'));
  const close = (): Promise<void> => rm(temporary, { recursive: true, force: true });
  try {
    const tree = join(temporary, 'tree');
    // The folder counts as the repository of the project, to which symbolic links may lead.
    await mkdir(join(tree, '.git'), { recursive: true });
    const top = (await git(folder, ['rev-parse', '--show-toplevel'])).trim();
    const index = { GIT_INDEX_FILE: join(temporary, 'index') };
    await git(top, ['read-tree', commit], index);
    const listed = await git(top, ['ls-files', '-z', '--', project === '' ? '.' : project], index);
    const hasLinks = (await git(top, ['ls-files', '-s', '--', project === '' ? '.' : project], index))
      .split('\n')
      .some((line) => line.startsWith('120000'));
    const names = hasLinks ? ['--all'] : ['--stdin', '-z'];
    if (listed !== '' || hasLinks) await checkOut(top, [`--prefix=${tree}/`, ...names], listed, index);
    const renames = await git(folder, [
      'diff',
      '-M',
      '--name-status',
      '--diff-filter=R',
      '-z',
      '--relative',
      commit,
      '--',
      '.',
    ]);
    const has = listed.split('\0').some((path) => /(?:^|\/)(?:docs|mint)\.json$/.test(path) && isAtTop(path, project));
    return { folder: has ? join(tree, project) : undefined, renamed: renamesIn(renames), close };
  } catch (error) {
    await close();
    throw new Error(`The files of ${ref} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

const isAtTop = (path: string, project: string): boolean =>
  path === `${project === '' ? '' : `${project}/`}${path.split('/').at(-1)}`;

function checkOut(
  top: string,
  args: readonly string[],
  input: string,
  environment: Record<string, string>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      ['-C', top, 'checkout-index', '--quiet', '--force', ...args],
      { env: environmentWith(environment), maxBuffer: mostOutput },
      (error) => (error ? reject(error) : resolve()),
    );
    child.stdin?.on('error', () => undefined).end(args.includes('--stdin') ? input : '');
  });
}

/** `R100\0old\0new\0…` as a map. */
function renamesIn(text: string): Map<string, string> {
  const parts = text.split('\0');
  const found = new Map<string, string>();
  for (let at = 0; at + 2 < parts.length; at += 3) found.set(parts[at + 1] ?? '', parts[at + 2] ?? '');
  return found;
}

/** A finding with the text of its line. */
export type LocatedFinding<F> = { item: F; finding: Diagnostic; text: string | undefined };

/**
 * The findings that were not there before. Lines do not count, so that a finding that only moved is not new. If a file has more equal findings than
 * before, those whose line has a new text are new. `renamed`: as in `EarlierTree`. Pure.
 */
export function newFindings<F>(
  now: readonly LocatedFinding<F>[],
  before: readonly Omit<LocatedFinding<unknown>, 'item'>[],
  renamed: ReadonlyMap<string, string>,
): F[] {
  const keyOf = ({ code, file, message }: Diagnostic): string => JSON.stringify([code, file, comparable(message)]);
  const left = new Map<string, (string | undefined)[]>();
  for (const { finding, text } of before) {
    const moved = renamed.get(finding.file) ?? finding.file;
    const key = keyOf({ ...finding, file: moved });
    left.set(key, [...(left.get(key) ?? []), text?.trim()]);
  }
  const withoutTwin = now.filter(({ finding, text }) => {
    const texts = left.get(keyOf(finding)) ?? [];
    const at = texts.indexOf(text?.trim());
    if (at >= 0) texts.splice(at, 1);
    return at < 0;
  });
  return withoutTwin.flatMap(({ item, finding }) => {
    const texts = left.get(keyOf(finding)) ?? [];
    return texts.splice(0, 1).length === 0 ? [item] : [];
  });
}

/** A message without the parts that follow from other places of the project. */
const comparable = (message: string): string =>
  message.replace(/ The nearest is .*$/s, '').replace(/ (?:and|for) \d+ more\b/, ' and more');
