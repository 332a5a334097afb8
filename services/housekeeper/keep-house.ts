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
  /** A number from 0 to 1. */
  random: () => number;
  /** Called with the outcome of each chore. */
  onOutcome: (chore: string, outcome: ChoreOutcome) => void;
  /** Rejects when `signal` aborts. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** Runs the chores in rounds. Rejects with the reason of `signal` when that aborts. */
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
        logger.error({ err: error, chore: name }, 'a chore was not finished; the next round continues it');
      }
    }
  }
}

const firstAfterMs = 30_000;
const firstJitterMs = 60_000;
const jitterShare = 0.1;

/**
 * Delay before a round, counted from 1. Installations that started together on one host or one object store must not sweep at the same time:
 * `random`, from 0 to 1, adds a jitter of up to a minute to the first round, and of up to a tenth either way to later ones. Pure.
 */
export function roundDelayMs(round: number, everyMs: number, random: number): number {
  if (round === 1) return firstAfterMs + random * firstJitterMs;
  return everyMs * (1 + jitterShare * (2 * random - 1));
}

/** All chores of a round, in order. A new chore is a file of its own and a line here. */
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
 * One task of housekeeping in each round. It can be stopped anywhere and repeated: the next round does the rest. It rejects with the reason if it
 * could not be finished.
 */
type Chore = { name: string; run: (signal: AbortSignal) => Promise<unknown> };
