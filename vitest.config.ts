import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{services,shared,infra,test}/**/*.test.{ts,mjs}'],
    exclude: ['**/node_modules/**', 'test/slow/**', 'infra/docs/**'],
    // Processes, as in production: a suite that hangs can be killed, and its servers die with it.
    pool: 'forks',
    maxWorkers: 2,
    // What services say of their normal work would bury what tests say.
    env: { BINDERY_LOG_LEVEL: process.env.BINDERY_LOG_LEVEL ?? 'error' },
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
