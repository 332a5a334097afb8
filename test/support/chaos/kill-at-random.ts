import { setTimeout as delay } from 'node:timers/promises';
import type { Installation } from '#infra/supervisor/run-installation.ts';
import type { SeededRandom } from './seeded-random.ts';
import { sendSignal } from './send-signal.ts';
import { byName, type Victim, victimsOf } from './victims.ts';

export type Kill = { victim: string; afterMs: number };

export type KillOptions = {
  random: SeededRandom;
  /** No more than so many. */
  atMost: number;
  /** The wait before each, in milliseconds: the moment is what is random here, nothing is waited for. */
  gapMs: { least: number; most: number };
  /** Ends the killing, after the one that is under way. */
  until: AbortSignal;
};

/** Kills one process after the other (SIGKILL) and gives what died. What the supervisor has not started again yet cannot be hit. */
export async function killAtRandom(installation: Installation, options: KillOptions): Promise<Kill[]> {
  const { random, gapMs, until } = options;
  const startedAt = performance.now();
  const kills: Kill[] = [];
  while (kills.length < options.atMost) {
    await delay(random.between(gapMs.least, gapMs.most), undefined, { signal: until }).catch(() => {});
    if (until.aborted) break;
    const victim = choose(random, await victimsOf(installation));
    if (victim !== undefined && sendSignal(victim.pid, 'SIGKILL')) {
      kills.push({ victim: victim.name, afterMs: Math.round(performance.now() - startedAt) });
    }
  }
  return kills;
}

function choose(random: SeededRandom, victims: readonly Victim[]): Victim | undefined {
  const kinds = [...byName(victims).values()];
  return kinds.length === 0 ? undefined : random.pick(random.pick(kinds));
}
