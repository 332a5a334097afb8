import type { Leases } from '#shared/messaging/leases.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { archiveClosedJobs } from './archive-closed-jobs.ts';
import type { HousekeeperContext } from './context.ts';
import { endContents } from './end-contents.ts';
import { sweepObjects, sweepUploads } from './sweep-objects.ts';

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

const firstAfterMs = 30_000;
const firstJitterMs = 60_000;
const jitterShare = 0.1;

/**
 * How long to wait before a round, the first being 1. Whatever started together (installations on one host, or on one object store) shall
 * not sweep together: `random`, from 0 to 1, moves the first round by up to a minute and later ones by up to a tenth either way. Pure.
 */
export function roundDelayMs(round: number, everyMs: number, random: number): number {
  if (round === 1) return firstAfterMs + random * firstJitterMs;
  return everyMs * (1 + jitterShare * (2 * random - 1));
}

/** All that is done in a round, in this order. A new chore is a file of its own and a line here. */
export function choresOf(context: HousekeeperContext): Chore[] {
  return [
    { name: 'sweep unfinished uploads', run: () => sweepUploads(context) },
    { name: 'archive closed jobs', run: async (signal) => void (await archiveClosedJobs(context, signal)) },
    { name: 'remove objects that nobody needs', run: async (signal) => void (await sweepObjects(context, signal)) },
    { name: 'end contents that nobody needs', run: async (signal) => void (await endContents(context, signal)) },
  ];
}

/**
 * One thing that housekeeping does in each round. It can be stopped anywhere and repeated: what it has not done yet, the next round does.
 * It rejects with the reason when it could not be finished.
 */
export type Chore = { name: string; run: (signal: AbortSignal) => Promise<void> };
