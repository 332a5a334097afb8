/*
 * Mutation testing: Stryker changes the code of each area in `areas.ts`, one place at a time, and runs the unit tests that reach that place. A change
 * that no test notices has survived, and is printed. The last lines are the scores: the share of an area's changes that a test noticed. The command
 * fails if an area is below the least score.
 *
 *   npm run test:mutation                            all areas, which takes an hour or two
 *   npm run test:mutation -- shared/export/bundle    single files, or the files of a folder
 *   npm run test:mutation -- --force                 again from the start, without the results of earlier runs
 *
 *   BINDERY_CACHE          folder for the results of earlier runs                                   default ~/.cache/bindery
 *   MUTATION_TIMEOUT_MS    added to the usual time of a test; after that, it is in an endless loop  default 15000; longer on a busy machine
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '#infra/setup/server-locations.mjs';
import { type Area, areas } from './areas.ts';
import { leastScore, type MutationReport, type Score, scoreLine, scoreOf } from './scores.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = join(import.meta.dirname, 'tools/node_modules/@stryker-mutator/core/bin/stryker.js');
const isForced = process.argv.includes('--force');
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));

const chosen = areas
  .map((area) => ({ area, files: filesOf(area).filter(isWanted) }))
  .filter(({ files }) => files.length > 0);
if (chosen.length === 0) {
  process.stderr.write(`test/mutation/areas.ts has no file ${wanted.join(', ')}. Name files or folders of an area.\n`);
  process.exit(64);
}

const folder = mkdtempSync(join(tmpdir(), 'mutation-'));
try {
  const scores = chosen.map(({ area, files }) => ({ name: area.name, score: mutate(area, files) }));
  for (const { name, score } of scores) process.stdout.write(`${scoreLine(name, score)}\n`);
  process.exitCode = scores.every(({ score }) => score !== undefined && score.percent >= leastScore) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}

function filesOf({ files }: Area): string[] {
  return globSync([...files], { cwd: root, exclude: ['**/*.test.ts', '**/*.contract.ts'] }).sort();
}

function isWanted(file: string): boolean {
  const folders = wanted.map((path) => path.replace(/\/$/, ''));
  return wanted.length === 0 || folders.some((path) => file === path || file.startsWith(`${path}/`));
}

/** The score of these files; undefined if Stryker failed, which prints the reason. */
function mutate({ name, tests }: Area, files: string[]): Score | undefined {
  process.stdout.write(`${name}: ${files.length} files\n`);
  const config = join(folder, 'stryker.json');
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  mkdirSync(cacheFolder(), { recursive: true });
  const options = {
    mutate: files,
    plugins: ['@stryker-mutator/vitest-runner'],
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutation/vitest.config.ts' },
    coverageAnalysis: 'perTest',
    incremental: true,
    incrementalFile: join(cacheFolder(), `mutation-${name.replaceAll(' ', '-')}.json`),
    force: isForced,
    concurrency: 1,
    warnings: { slow: false },
    timeoutMS: Number(process.env.MUTATION_TIMEOUT_MS ?? 15_000),
    dryRunTimeoutMinutes: 15,
    // Stryker would read tsconfig.json with the API of TypeScript, which version 7 does not have, and add comments to files that nobody compiles.
    tsconfigFile: 'none.json',
    disableTypeChecks: false,
    tempDirName: join(folder, 'sandbox'),
    cleanTempDir: 'always',
    ignorePatterns: ['.ci', '.devcontainer', 'infra/docs', 'test/bench', 'test/browser', 'test/slow'],
    reporters: ['clear-text', 'progress-append-only', 'json'],
    jsonReporter: { fileName: report },
    clearTextReporter: { logTests: false, reportTests: false, reportScoreTable: false, allowEmojis: false },
  };
  writeFileSync(config, JSON.stringify(options));
  const env = { ...process.env, MUTATION_TESTS: JSON.stringify(tests) };
  spawnSync(process.execPath, [program, 'run', config], { cwd: root, env, stdio: 'inherit' });
  if (!existsSync(report)) return undefined;
  return scoreOf(JSON.parse(readFileSync(report, 'utf8')) as MutationReport, files);
}
