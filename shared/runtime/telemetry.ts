import pino, { type DestinationStream, type Logger } from 'pino';
import { withoutKeys } from './without-keys.ts';

export type { Logger } from 'pino';

/**
 * Logs JSON lines to standard error, or to `destination`, at the level of `BINDERY_LOG_LEVEL` (`info`). Keys and tokens are removed from
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
      level: process.env.BINDERY_LOG_LEVEL ?? 'info',
      base: { service, instance },
      redact: ['req.headers.authorization', 'headers.authorization', '*.password', '*.token', 'key', '*.secret'],
      hooks: { streamWrite: withoutKeys },
    },
    destination,
  );
}
