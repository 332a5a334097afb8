import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { cacheFolder } from './infra/setup/server-locations.mjs';

// Tests start hundreds of processes that load the same modules: compiled once, a command takes a third of the time.
process.env.NODE_COMPILE_CACHE ??= join(cacheFolder(), 'compiled');

/**
 * A young generation of 64 MB instead of 16 MB. Thousands of tests in one process allocate quickly, and the collections of a small one take up to a
 * fifth of their processor time. Suites of their own process keep the default, because some measure memory.
 */
const largeYoungGeneration = ['--max-semi-space-size=64'];

const everywhere = '{services,shared,infra,test}/**';
const notHere = ['**/node_modules/**', 'test/slow/**', 'infra/docs/**'];

/** Whole installations first: they take longest, and at the end they would run alone. */
class FlowsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isFlow = ({ moduleId }: TestSpecification) =>
      /\/test\/flows\/|\/cli\/(cli|doctor|start)\.it\./.test(moduleId);
    return (await super.sort(files)).sort((a, b) => Number(isFlow(b)) - Number(isFlow(a)));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: FlowsFirst },
    // Processes, as in production: a suite that hangs can be killed, and its servers die with it.
    pool: 'forks',
    // Tests over real servers wait half of their time: four keep two processors busy.
    maxWorkers: 4,
    // What services log about their normal work would bury what tests say.
    env: { BINDERY_LOG_LEVEL: process.env.BINDERY_LOG_LEVEL ?? 'error' },
    // A machine may be busy with other things: only what hangs fails.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // `test/coverage.ts` sums up the coverage of each room.
    coverage: {
      provider: 'v8',
      include: ['{services,shared,infra}/**/*.{ts,mjs}'],
      exclude: ['**/*.test.{ts,mjs}', '**/*.contract.ts', '**/test-*.ts'],
      reporter: ['json-summary'],
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [`${everywhere}/*.test.{ts,mjs}`],
          exclude: [...notHere, '**/*.{it,alone}.test.ts'],
          // Loading what is tested takes longer than the tests, so files share three processes.
          isolate: false,
          maxWorkers: 3,
          execArgv: largeYoungGeneration,
          setupFiles: ['test/support/remove-folders.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          // Real servers and processes. Files share the four workers, because loading the services anew for each file takes a fifth of the time.
          name: 'it',
          include: [`${everywhere}/*.it.test.ts`],
          exclude: notHere,
          isolate: false,
          execArgv: largeYoungGeneration,
          setupFiles: ['test/support/replace-fetch.ts', 'test/support/remove-folders.ts'],
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          // They replace modules or measure their own process, so each file has a process.
          name: 'alone',
          include: [`${everywhere}/*.alone.test.ts`],
          exclude: notHere,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
