/*
 * `npm test` runs two steps: first types, lint, format, unused code, the preparation of the services and the unit tests at the same time, then the
 * tests over real servers. It stops after the first step if a part of it fails, with advice.
 *
 *   npm run check              for the loop of change: the first step, the tests of the structure, and the unit tests whose code differs from the
 *                              upstream branch, at the same time. A branch without one is compared with the main branch of `origin`; where there is
 *                              none either, all unit tests run
 *   npm test -- <arguments>    vitest with these arguments: `npm test -- shared/export/bundle` runs one folder
 *
 *   BINDERY_CACHE              folder with downloaded servers                   default ~/.cache/bindery
 *   BINDERY_REQUIRE_SERVERS    1: a suite whose server is missing fails         default: it is skipped with a message
 *   TMPDIR                     folder for files of tests                        default: in memory (/dev/shm) if there is room
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { comparedCommit } from './compared-commit.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const programs = join(root, 'node_modules', '.bin');
// Everything runs with the Node of node_modules, also when this file was not started by npm.
const env = { TMPDIR: folderInMemory(), ...process.env, PATH: [programs, process.env.PATH].join(delimiter) };

// The path is used, not the name, because two packages have a program "tsc" (one is for generated clients in a test), and npm links either.
const tsc = '../typescript/bin/tsc';

const checks = (tscOptions = []) => [
  { name: 'types', command: [tsc, '--noEmit', ...tscOptions], advice: 'fix the types that tsc names above' },
  {
    name: 'types of the scripts of pages',
    command: [tsc, '-p', 'shared/docs/render/site/scripts'],
    advice: 'fix the types that tsc names above',
  },
  {
    name: 'lint',
    command: ['oxlint', '--type-aware'],
    advice: 'fix the problems that oxlint names above; the rules are in .oxlintrc.json',
  },
  { name: 'format', command: ['biome', 'format', '.'], advice: 'run `npm run format`' },
  {
    name: 'unused code',
    command: ['knip'],
    advice: 'remove the code that knip names above; `npx knip --fix` removes exports',
  },
];
const vitest = (name, args, isShown = true) => ({
  name,
  command: ['vitest', 'run', ...args, ...(isShown ? [] : ['--reporter=dot'])],
  advice: 'run one file again with `npm test -- <file>`',
  isShown,
});
const unitTests = ['--project', 'unit'];
// With the results of the last run, tsc takes a quarter of the time. `npm test` does not rely on them.
const incremental = ['--incremental', '--tsBuildInfoFile', join(root, 'node_modules/.cache/types.tsbuildinfo')];

const args = process.argv.slice(2);
if (args[0] === 'check') {
  const compared = comparedCommit(root);
  const changed = compared === undefined ? unitTests : [...unitTests, '--changed', compared, '--passWithNoTests'];
  // These tests read the whole tree, so no import leads to them.
  const structure = vitest('tests of the structure', [...unitTests, 'test/structure'], false);
  const name =
    compared === undefined ? 'all unit tests, as no branch was found to compare with' : 'unit tests of what changed';
  await runSteps([[...checks(incremental), structure, vitest(name, changed, false)]]);
} else if (args.length > 0) await runSteps([[vitest('tests', args)]]);
else {
  // Services that start at the same time for the first time would each compile the code and make the snapshots.
  const prepared = {
    name: 'compiled code and snapshots',
    command: ['../../services/cli/bindery.mjs', 'prepare'],
    advice: 'run `npm run bindery prepare`',
  };
  const overServers = vitest('tests over real servers', ['--project', 'it', '--project', 'alone']);
  await runSteps([[...checks(), prepared, vitest('unit tests', unitTests)], [overServers]]);
}

/**
 * A new folder in memory, removed at the end; undefined where there is no room. On a disk, real servers sync every message, which takes a third of
 * the processor time of their tests. Memory does not weaken the tests that kill processes: the files outlive the process there, too. The slow tests
 * use the disk.
 */
function folderInMemory() {
  const memory = '/dev/shm';
  const leastRoom = 4 * 1024 ** 3;
  try {
    const { bavail, bsize } = statfsSync(memory);
    const [mount = ''] = /^\S+ \/dev\/shm .*$/m.exec(readFileSync('/proc/mounts', 'utf8')) ?? [];
    if (bavail * bsize < leastRoom || /\bnoexec\b/.test(mount)) return undefined;
    const folder = mkdtempSync(join(memory, 'bindery-'));
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
    return folder;
  } catch {
    return undefined;
  }
}

/** Runs the steps one after the other. A step is a list of commands that run in parallel. */
async function runSteps(steps) {
  for (const step of steps) {
    const results = await Promise.all(step.map(run));
    if (!results.every(Boolean)) process.exit(1);
  }
}

/** Runs a command to its end and prints the result. Resolves with true if it succeeded. */
function run({ name, command, advice, isShown }) {
  const [program, ...programArgs] = command;
  const startedAt = performance.now();
  const child = spawn(join(programs, program), programArgs, {
    cwd: root,
    env,
    stdio: isShown ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (text) => {
    output += text;
  };
  child.stdout?.setEncoding('utf8').on('data', keep);
  child.stderr?.setEncoding('utf8').on('data', keep);
  return new Promise((resolve) => {
    child.once('error', (error) => keep(`${error.message}\n`));
    child.once('close', (status) => {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      const isGood = status === 0;
      process.stdout.write(
        isGood ? `${name}: good (${seconds} s)\n` : `${output}${name}: failed after ${seconds} s; ${advice}\n`,
      );
      resolve(isGood);
    });
  });
}
