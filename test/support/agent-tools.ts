import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { putInCache, withLock } from '#infra/setup/cache.mjs';
import { cachedFolder } from '#infra/setup/server-locations.mjs';

const source = join(import.meta.dirname, '../clients/agent-tools');
const name = 'agent-tools';

/**
 * The folder with the packages of `test/clients/agent-tools`, as its lock file pins them. The first call on a machine fetches them (310 MB). Rejects if npm
 * cannot get them.
 */
export async function agentTools(): Promise<string> {
  const lock = readFileSync(join(source, 'package-lock.json'));
  const version = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const packages = join(cachedFolder(name, version), 'node_modules');
  if (existsSync(packages)) return packages;
  await withLock(name, async () => {
    if (!existsSync(packages)) await putInCache(name, version, install);
  });
  return packages;
}

async function install(folder: string): Promise<void> {
  for (const file of ['package.json', 'package-lock.json']) await copyFile(join(source, file), join(folder, file));
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await promisify(execFile)('npm', args, { cwd: folder });
}

/** The file that runs a program of a package. */
export function programOf(packages: string, installed: string, program: string): string {
  const folder = join(packages, installed);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    bin: string | Record<string, string>;
  };
  const file = typeof bin === 'string' ? bin : bin[program];
  if (file === undefined) throw new Error(`${installed} has no program ${program}`);
  return join(folder, file);
}
