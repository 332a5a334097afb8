import type { Clock } from '#shared/clock/clock.ts';
import type { FactLog } from '#shared/event-log/fact-log.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import type { Logger } from '#shared/telemetry/logger.ts';

/** What a bundler works with. */
export type BundlerContext = {
  objectStore: ObjectStore;
  facts: FactLog;
  clock: Clock;
  logger: Logger;
  random: (length: number) => string;
  instance: string;
  /** How long bus or object store may be away before an attempt fails. */
  giveUpAfterMs: number;
};
