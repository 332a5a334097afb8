import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { cacheFolder } from '../infra/setup/server-locations.mjs';

// Modules are compiled once and load faster in the next process, as in `npm test`.
process.env.NODE_COMPILE_CACHE ??= join(cacheFolder(), 'compiled');

const filesOf = (names: readonly string[]): string[] => names.map((name) => `test/slow/${name}.test.ts`);

/** Suites that measure time, memory, or the influence of other load. Each has the machine to itself. */
const measuring = filesOf(['docs-host', 'fairness', 'slow-readers', 'two-gateways']);

/** Suites that mostly wait, but whose answers have deadlines. Two of them run side by side. */
const withDeadlines = filesOf(['docs-host-changes', 'hung-nats-node', 'nats-outages', 's3-outages', 'stack']);

/** The longest suites, which start first, so that none of them runs alone at the end. */
const longest = [
  'random-kills',
  'crash-matrix',
  'docs-host-walls',
  'site-quality',
  'paused-orchestrator',
  'elasticsearch-search-index',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return at < 0 ? longest.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

/** Tests that take minutes: chaos, load, browsers over whole sites. Most of them wait for processes, so three run side by side. */
export default defineConfig({
  test: {
    env: { BINDERY_LOG_LEVEL: process.env.BINDERY_LOG_LEVEL ?? 'error' },
    root: fileURLToPath(new URL('..', import.meta.url)),
    setupFiles: ['test/support/replace-fetch.ts', 'test/support/remove-folders.ts'],
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    passWithNoTests: true,
    testTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'side by side',
          include: ['test/slow/**/*.test.ts'],
          exclude: [...measuring, ...withDeadlines],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'two at a time', include: withDeadlines, maxWorkers: 2, sequence: { groupOrder: 2 } },
      },
      {
        extends: true,
        test: { name: 'alone', include: measuring, fileParallelism: false, sequence: { groupOrder: 3 } },
      },
    ],
  },
});
