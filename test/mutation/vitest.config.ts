import { matchesGlob, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Patterns of the unit tests of one area of `areas.ts`, the quickest first. `run.ts` passes them. */
const tests = JSON.parse(process.env.MUTATION_TESTS ?? '[]') as string[];

/** A run ends with the first test that fails. */
class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number =>
      tests.findIndex((pattern) => matchesGlob(relative(root, moduleId), pattern));
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    root,
    include: tests,
    exclude: ['**/*.{it,alone}.test.ts', '**/node_modules/**'],
    sequence: { sequencer: QuickestFirst },
    env: { BINDERY_LOG_LEVEL: 'error' },
    testTimeout: 120_000,
  },
});
