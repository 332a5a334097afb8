import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { putInCache, withLock } from '#infra/setup/cache.mjs';
import { cachedFolder } from '#infra/setup/server-locations.mjs';
import { onPath } from '#infra/setup/server-locations.mjs';

/** The tested version of each major version of Node. */
const versions = { 20: '20.20.2', 22: '22.23.5', 24: '24.21.0' } as const;

export type NodeMajor = keyof typeof versions;

/**
 * A folder with `node`, `npm` and `npx` alone, of this major version of Node and with the npm of this machine. Node comes from npm, which checks its
 * digest, and is kept in the cache. Undefined where npm has no Node for this system.
 */
export async function nodeProgramsOf(major: NodeMajor): Promise<string | undefined> {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = cachedFolder('node-programs', versions[major]);
  const [npm = ''] = onPath('npm');
  const [npx = ''] = onPath('npx');
  if (npm === '' || npx === '' || process.platform !== 'linux') return;
  await withLock(`node-programs-${major}`, async () => {
    if (existsSync(folder)) return;
    await putInCache('node-programs', versions[major], async (made: string) => {
      await writeFile(join(made, 'package.json'), '{"private": true}');
      await promisify(execFile)(
        npm,
        ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${versions[major]}`],
        {
          cwd: made,
        },
      );
      await mkdir(join(made, 'bin'));
      await symlink(join('..', 'node_modules', name, 'bin', 'node'), join(made, 'bin', 'node'));
      await symlink(npm, join(made, 'bin', 'npm'));
      await symlink(npx, join(made, 'bin', 'npx'));
    });
  });
  return join(folder, 'bin');
}
