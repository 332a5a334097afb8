import type { Logger } from 'pino';
import type { Bus } from '#shared/bus/bus.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import type { RateLimiter } from '#shared/rate-limit/rate-limiter.ts';
import type { GatewayConfig } from './config.ts';
import type { KeyDirectory } from './key-directory.ts';
import type { JobStatusFeed } from './job-status-feed.ts';

/** All that the gateway's routes work with. */
export type GatewayContext = {
  config: Omit<GatewayConfig, 'natsUrl' | 'natsPassword'>;
  bus: Bus;
  objectStore: ObjectStore;
  rateLimiter: RateLimiter;
  clock: Clock;
  /** Random base62 digits. */
  random: (length: number) => string;
  logger: Logger;
  keys: KeyDirectory;
  jobStatusFeed: JobStatusFeed;
  /** Aborts when the gateway stops: streams without an end of their own end then. */
  stopping: AbortSignal;
};
