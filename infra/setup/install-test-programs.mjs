import { lastLines, runProgram } from './run-program.mjs';
import { findServer, onPath } from './server-locations.mjs';
import { StepFailed, timed } from './step.mjs';
import { withLock } from './with-lock.mjs';

// The package of Debian and Ubuntu that has each program.
const packages = {
  'redis-server': 'redis-server',
  chromium: 'chromium',
  bsdtar: 'libarchive-tools',
  busybox: 'busybox',
  jq: 'jq',
};

/** Installs what the tests use from the distribution: Redis, Chromium, other readers of archives. @throws StepFailed */
export async function installTestPrograms() {
  if (missingPrograms().length === 0) return;
  await withLock('distribution-packages', async () => {
    const missing = missingPrograms();
    if (missing.length === 0) return;
    const names = missing.map((program) => packages[program]);
    const byHand = `Install ${names.join(', ')} with your package manager; until then the tests that need ${missing.join(', ')} are skipped.`;
    if (onPath('apt-get').length === 0)
      throw new StepFailed(`${missing.join(', ')} not found, and there is no apt-get here. ${byHand}`);
    if (process.getuid() !== 0)
      throw new StepFailed(`${missing.join(', ')} not found, and only root may install packages. ${byHand}`);
    await timed(`installs ${names.join(', ')} with apt-get`, () => aptInstall(names));
    const still = missingPrograms();
    if (still.length > 0) throw new StepFailed(`apt-get brought no ${still.join(', ')}. ${byHand}`);
  });
}

function missingPrograms() {
  return Object.keys(packages).filter((program) => findServer(program) === undefined);
}

async function aptInstall(names) {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const lists = await runProgram('apt-get', ['update', '-qq'], { env });
  if (lists.code !== 0) throw new StepFailed(`apt-get update failed: ${lastLines(lists.output)}`);
  const args = ['install', '-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120', ...names];
  const { code, output } = await runProgram('apt-get', args, { env });
  if (code !== 0) throw new StepFailed(`apt-get install ${names.join(' ')} failed: ${lastLines(output)}`);
}
