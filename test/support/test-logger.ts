import pino from 'pino';

/** Writes what the tested code logs to standard error, if `BINDERY_TEST_LOG` names a level. */
export const testLogger = pino(
  { level: process.env.BINDERY_TEST_LOG ?? 'silent' },
  pino.destination({ fd: 2, sync: true }),
);
