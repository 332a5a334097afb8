import { setTimeout } from 'node:timers/promises';
import { leadByTurns } from '#shared/messaging/leases.ts';
import { type Running, startService } from '#shared/service/start-service.ts';
import { dayMs, hourMs } from '#shared/runtime/time-and-ids.ts';
import type { HousekeeperConfig } from './config.ts';
import type { HousekeeperContext } from './context.ts';
import { endContentBy } from './end-contents.ts';
import { housekeeperApp } from './housekeeper-app.ts';
import { type ChoreOutcome, choresOf, keepHouse } from './keep-house.ts';
import { keptJobsIn } from './kept-jobs.ts';
import { dryRound } from './preview-sweep.ts';
import { sweepPreviews } from './sweep-previews.ts';

export { housekeeperSettings as settings } from './config.ts';

/** Removes objects and versions that are no longer needed, while it holds the lease; until then it waits as a spare. */
export function start(config: HousekeeperConfig): Promise<Running> {
  return startService('housekeeper', config, async (service) => {
    const { bus, objectStore, clock, logger, instance, metrics, random } = service;
    const context: HousekeeperContext = {
      ...service,
      keptJobs: keptJobsIn(bus, objectStore),
      endContent: endContentBy({ baseUrl: config.publisherUrl, serviceToken: config.publisherToken, random }),
      keepObjectsMs: config.keepObjectsDays * dayMs,
      dryRun: false,
    };
    const failed = new Map<string, number>();
    metrics.gauges(
      'bindery_chore_failed',
      '1 for a chore of the housekeeper that was not finished in its last round. A spare has none.',
      'chore',
      () => Object.fromEntries(failed),
    );
    const house = {
      logger,
      onOutcome: (chore: string, outcome: ChoreOutcome) => void failed.set(chore, Number(outcome === 'failed')),
      chores: choresOf(context, {
        archiveAfterMs: config.archiveAfterDays * dayMs,
        sweepUploadsAfterMs: dayMs,
      }),
      everyMs: config.sweepEveryHours * hourMs,
      random: Math.random,
      wait: (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }),
    };
    const role = { leases: bus.leases, role: 'housekeeper', holder: instance, logger };
    const keeping = leadByTurns(role, (signal) => keepHouse(house, signal), service.stopping);
    const callerTokens = { gateway: config.gatewayToken };
    const previews = sweepPreviews((signal) => dryRound(context, signal), clock, service.stopping);
    const letters = { letters: bus.deadLetters, logs: bus.storedMessages };
    return {
      app: (health) => housekeeperApp({ letters, previews, clock, random }, { ...health, callerTokens, logger }),
      async drain() {
        await keeping;
        await previews.ended();
      },
    };
  });
}
