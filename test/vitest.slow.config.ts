import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Settings of tests that take minutes: chaos, load, browsers over whole sites. Files run one at a time, so that they do not disturb measurements. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/slow/**/*.test.ts'],
    setupFiles: ['test/support/replace-fetch.ts'],
    pool: 'forks',
    fileParallelism: false,
    passWithNoTests: true,
    testTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 120_000,
  },
});
