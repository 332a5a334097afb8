import { setTimeout as delay } from 'node:timers/promises';
import type { Installation } from '#infra/supervisor/run-installation.ts';
import type { SeededRandom } from './seeded-random.ts';
import { sendSignal } from './send-signal.ts';
import { victimsOf } from './victims.ts';

export type Kill = { victim: string; afterMs: number };

export type KillOptions = {
  random: SeededRandom;
  /** Names of victims: each dies once, in random order, before one dies again. By kind, so that a pool of many children is no likelier to be hit than the one projector. */
  kinds: readonly string[];
  /** No more than so many. */
  atMost: number;
  /** The wait before each, in milliseconds: the moment is what is random here, nothing is waited for. */
  gapMs: { least: number; most: number };
  /** Ends the killing, after the one that is under way. */
  until: AbortSignal;
  onKill: (kill: Kill) => void;
};

/**
 * Kills one process after the other (SIGKILL). One that the supervisor has not started again yet is left out: what is drawn for it is
 * drawn all the same, so that the same random numbers name the same victims.
 */
export async function killAtRandom(installation: Installation, options: KillOptions): Promise<void> {
  const { random, gapMs, until } = options;
  const startedAt = performance.now();
  let bag: string[] = [];
  let count = 0;
  while (count < options.atMost) {
    if (bag.length === 0) bag = shuffled(random, options.kinds);
    const victim = bag.pop() as string;
    const gap = random.between(gapMs.least, gapMs.most);
    const which = random.fraction();
    await delay(gap, undefined, { signal: until }).catch(() => {});
    if (until.aborted) break;
    const candidates = (await victimsOf(installation)).filter(({ name }) => name === victim);
    const chosen = candidates[Math.floor(which * candidates.length)];
    if (chosen === undefined || !sendSignal(chosen.pid, 'SIGKILL')) continue;
    count += 1;
    options.onKill({ victim, afterMs: Math.round(performance.now() - startedAt) });
  }
}

function shuffled(random: SeededRandom, items: readonly string[]): string[] {
  return items
    .map((item) => ({ item, at: random.fraction() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
