import type { Leases } from '#shared/lease/lease.ts';
import type { Logger } from '#shared/telemetry/logger.ts';
import type { Chore } from './chore.ts';
import { roundDelayMs } from './round-delay.ts';

export type House = {
  leases: Leases;
  instance: string;
  logger: Logger;
  chores: readonly Chore[];
  everyMs: number;
  /** From 0 to 1. */
  random: () => number;
  /** Rejects when `signal` aborts. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

const retryAfterMs = 1_000;

/** Does the chores round by round while it has the lease, and waits for it as a spare until then; until `signal` aborts. */
export async function keepHouse(house: House, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const lease = await house.leases.acquire('housekeeper', house.instance, signal);
      house.logger.info('leads');
      try {
        await rounds(house, AbortSignal.any([signal, lease.lost]));
      } finally {
        await lease.release();
      }
    } catch (error) {
      if (signal.aborted) return;
      house.logger.warn({ err: error }, 'stopped leading; it tries to lead again');
      await house.wait(retryAfterMs, signal).catch(() => {});
    }
  }
}

/** Rejects with the reason of `signal` when that aborts. */
async function rounds({ chores, everyMs, logger, random, wait }: House, signal: AbortSignal): Promise<void> {
  for (let round = 1; ; round += 1) {
    await wait(roundDelayMs(round, everyMs, random()), signal);
    for (const { name, run } of chores) {
      signal.throwIfAborted();
      const began = performance.now();
      try {
        await run(signal);
        logger.info({ chore: name, durationMs: Math.round(performance.now() - began) }, 'a chore is done');
      } catch (error) {
        signal.throwIfAborted();
        logger.error({ err: error, chore: name }, 'a chore was not finished; the next round goes on with it');
      }
    }
  }
}
