import pino, { type DestinationStream, type Logger } from 'pino';
import { ConfigError } from './config.ts';
import { withoutKeys } from './without-keys.ts';

export type { Logger } from 'pino';

/** Levels of log lines, from all to none. */
const levels: ReadonlySet<string> = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']);

/** The level of `BINDERY_LOG_LEVEL` (`info`). Throws `ConfigError` for an unknown one. */
export function logLevel({ BINDERY_LOG_LEVEL: level }: Record<string, string | undefined>): string {
  if (!level) return 'info';
  if (levels.has(level)) return level;
  throw new ConfigError(
    `BINDERY_LOG_LEVEL is wrong (must be debug, info, warn or error, not "${level}"): lowest level of log lines`,
  );
}

/**
 * Logs JSON lines to standard error, or to `destination`, at the level of `BINDERY_LOG_LEVEL`. Keys and tokens are removed from
 * every part of a line.
 */
export function createLogger(
  service: string,
  instance: string,
  destination: DestinationStream = pino.destination({ fd: 2, sync: true }),
): Logger {
  return pino(
    {
      name: service,
      level: logLevel(process.env),
      base: { service, instance },
      redact: ['req.headers.authorization', 'headers.authorization', '*.password', '*.token', 'key', '*.secret'],
      hooks: { streamWrite: withoutKeys },
    },
    destination,
  );
}
