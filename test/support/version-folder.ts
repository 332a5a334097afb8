import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { putInCache, withLock } from '#infra/setup/cache.mjs';
import { cachedFolder } from '#infra/setup/server-locations.mjs';

const root = resolve(import.meta.dirname, '../..');

export const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 30 }).trim();

/** Commit whose data every later version must be able to start on, until there are releases. */
const beforeReleases = '4264d21f';

/** The commits of earlier releases, the oldest first; undefined without the history, as in a package or a shallow clone. */
export function earlierReleases(): string[] | undefined {
  try {
    if (git('rev-parse', '--is-shallow-repository') === 'true') return undefined;
    const tags = git('tag', '--list', 'v[0-9]*', '--merged', 'HEAD', '--sort=v:refname').split('\n').filter(Boolean);
    const commits = tags.length === 0 ? [beforeReleases] : tags;
    const today = git('rev-parse', 'HEAD');
    return commits.map((name) => git('rev-parse', '--verify', `${name}^{commit}`)).filter((commit) => commit !== today);
  } catch {
    return undefined;
  }
}

/**
 * Extracts the program at a commit from the history into a new temporary folder, with its packages: those of this version if they
 * match its needs, else its own, which are installed once and kept in the cache.
 */
export async function folderOfVersion(commit: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-version-'));
  const archive = execFileSync('git', ['archive', '--format=tar', commit], { cwd: root, maxBuffer: 1 << 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  await symlink(await packagesFor(folder), join(folder, 'node_modules'));
  return folder;
}

async function packagesFor(folder: string): Promise<string> {
  const lock = await readFile(join(folder, 'package-lock.json'), 'utf8');
  const own = join(root, 'node_modules');
  const installed = packagesIn(await readFile(join(own, '.package-lock.json'), 'utf8'));
  const { dependencies = {} } = packagesIn(lock)[''] ?? {};
  const isEnough = Object.entries(dependencies).every(
    ([name, version]) => installed[`node_modules/${name}`]?.version === version,
  );
  if (isEnough) return own;
  const version = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const cached = cachedFolder('packages', version);
  await withLock(`packages-${version}`, async () => {
    if (existsSync(cached)) return;
    await putInCache('packages', version, async (into) => {
      for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
        const source = join(folder, file);
        if (existsSync(source)) await writeFile(join(into, file), await readFile(source));
      }
      const options = ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
      await promisify(execFile)('npm', options, { cwd: into });
    });
  });
  return join(cached, 'node_modules');
}

type LockedPackages = Record<string, { version?: string; dependencies?: Record<string, string> } | undefined>;

const packagesIn = (lock: string): LockedPackages => (JSON.parse(lock) as { packages: LockedPackages }).packages;
