/*
 * `npm test`: types, lint and format, then the tests; stops at the first that fails and says what to do. Arguments go to vitest:
 * `npm test -- shared/export/bundle` runs one folder.
 *
 *   BINDERY_CACHE              folder in which servers are looked for           default ~/.cache/bindery
 *   BINDERY_REQUIRE_SERVERS    1: a suite whose server is missing fails         default: it is skipped and says so
 */
import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const programs = join(root, 'node_modules', '.bin');
// The Node from there runs them, also when this file was not started by npm.
const env = { ...process.env, PATH: [programs, process.env.PATH].join(delimiter) };
const checks = [
  { name: 'types', command: ['tsc', '--noEmit'], advice: 'mend the types that tsc names above' },
  {
    name: 'lint',
    command: ['oxlint', '--type-aware'],
    advice: 'mend what oxlint names above; the rules are in .oxlintrc.json',
  },
  { name: 'format', command: ['biome', 'format', '.'], advice: 'run `npm run format`' },
  {
    name: 'tests',
    command: ['vitest', 'run', ...process.argv.slice(2)],
    advice: 'run one file again with `npm test -- <file>`',
    shown: true,
  },
];

for (const { name, command, advice, shown } of checks) {
  const [program, ...args] = command;
  const begin = performance.now();
  if (shown) process.stdout.write(`${name} …\n`);
  const { status, stdout, stderr, error } = spawnSync(join(programs, program), args, {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: shown ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  });
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  if (status === 0) {
    if (!shown) process.stdout.write(`${name}: good (${seconds} s)\n`);
    continue;
  }
  process.stdout.write(`${stdout ?? ''}${stderr ?? ''}${error ? `${error.message}\n` : ''}`);
  process.stdout.write(`${name}: failed after ${seconds} s; ${advice}\n`);
  process.exit(1);
}
