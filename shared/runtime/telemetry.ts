import { randomBytes } from 'node:crypto';
import pino, { type Logger } from 'pino';
import { withoutKeys } from './without-keys.ts';

export type { Logger } from 'pino';

/** Logs as JSON lines on standard error, at the level of `BINDERY_LOG_LEVEL` (`info`). Keys and tokens are cut out wherever they stand. */
export function createLogger(service: string, instance: string): Logger {
  return pino(
    {
      name: service,
      level: process.env.BINDERY_LOG_LEVEL ?? 'info',
      base: { service, instance },
      redact: ['req.headers.authorization', 'headers.authorization', '*.password', '*.token', 'key', '*.secret'],
      hooks: { streamWrite: withoutKeys },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}

/** W3C Trace Context, version 00: https://www.w3.org/TR/trace-context/ */
const pattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A new span under `parent` if that is a valid `traceparent`, else the first of a new trace (not sampled). */
export function nextTraceparent(parent?: string): string {
  const span = randomBytes(8).toString('hex');
  if (parent !== undefined && pattern.test(parent)) return `${parent.slice(0, 36)}${span}${parent.slice(52)}`;
  return `00-${randomBytes(16).toString('hex')}-${span}-00`;
}
