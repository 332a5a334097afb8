import type { Logger } from '#shared/runtime/telemetry.ts';
import { archiveClosedJobs } from './archive-closed-jobs.ts';
import type { HousekeeperContext } from './context.ts';
import { endContents } from './end-contents.ts';
import { sweepObjects, sweepUploads } from './sweep-objects.ts';

export type ChoreOutcome = 'done' | 'failed';

type House = {
  logger: Logger;
  chores: readonly Chore[];
  everyMs: number;
  /** From 0 to 1. */
  random: () => number;
  /** Hears of each chore whether it was done. */
  onOutcome: (chore: string, outcome: ChoreOutcome) => void;
  /** Rejects when `signal` aborts. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** Does the chores round by round. Rejects with the reason of `signal` when that aborts. */
export async function keepHouse(
  { chores, everyMs, logger, random, onOutcome, wait }: House,
  signal: AbortSignal,
): Promise<void> {
  for (let round = 1; ; round += 1) {
    await wait(roundDelayMs(round, everyMs, random()), signal);
    for (const { name, run } of chores) {
      signal.throwIfAborted();
      const began = performance.now();
      try {
        await run(signal);
        onOutcome(name, 'done');
        logger.info({ chore: name, durationMs: Math.round(performance.now() - began) }, 'a chore is done');
      } catch (error) {
        signal.throwIfAborted();
        onOutcome(name, 'failed');
        logger.error({ err: error, chore: name }, 'a chore was not finished; the next round goes on with it');
      }
    }
  }
}

const firstAfterMs = 30_000;
const firstJitterMs = 60_000;
const jitterShare = 0.1;

/**
 * How long to wait before a round, the first being 1. Installations that started together on one host or one object store must not sweep
 * together: `random`, from 0 to 1, moves the first round by up to a minute, and later ones by up to a tenth either way. Pure.
 */
export function roundDelayMs(round: number, everyMs: number, random: number): number {
  if (round === 1) return firstAfterMs + random * firstJitterMs;
  return everyMs * (1 + jitterShare * (2 * random - 1));
}

/** All that is done in a round, in this order. A new chore is a file of its own and a line here. */
export function choresOf(
  context: HousekeeperContext,
  { archiveAfterMs, sweepUploadsAfterMs }: { archiveAfterMs: number; sweepUploadsAfterMs: number },
): Chore[] {
  return [
    { name: 'sweep unfinished uploads', run: () => sweepUploads(context, sweepUploadsAfterMs) },
    { name: 'archive closed jobs', run: (signal) => archiveClosedJobs(context, archiveAfterMs, signal) },
    { name: 'sweep objects', run: (signal) => sweepObjects(context, signal) },
    { name: 'end content versions', run: (signal) => endContents(context, signal) },
  ];
}

/**
 * One thing that housekeeping does in each round. It can be stopped anywhere and repeated: what it has not done yet, the next round does.
 * It rejects with the reason when it could not be finished.
 */
type Chore = { name: string; run: (signal: AbortSignal) => Promise<unknown> };
