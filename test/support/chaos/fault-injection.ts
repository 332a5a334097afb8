import { execFile } from 'node:child_process';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Installation } from '#infra/supervisor/run-installation.ts';
import { serviceNames } from '#infra/supervisor/services.ts';

export type Kill = { victim: string; afterMs: number };

export type KillOptions = {
  random: SeededRandom;
  /**
   * Names of victims. Each name dies once, in random order, before any dies again. Because these are names and not processes, children are killed no
   * more often than the projector.
   */
  kinds: readonly string[];
  /** Maximum number of kills. */
  atMost: number;
  /** Range of the delay before each kill, in milliseconds. The moment is random on purpose. */
  gapMs: { least: number; most: number };
  /** Stops after the current kill. */
  until: AbortSignal;
  onKill: (kill: Kill) => void;
};

/**
 * Kills one process after the other (SIGKILL). If the supervisor has not yet restarted a victim, nothing is killed, but its random numbers are still
 * drawn, so the same seed names the same victims.
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

/** A process that may be killed: a service, the bus, a child that renders pages, or the shell that guards such a child. */
export type Victim = { name: string; pid: number };

export const rendererChild = 'renderer-child';
export const childGuard = 'child-guard';

/** Every running process of an installation; one that was just killed is missing until it is restarted. */
export async function victimsOf(installation: Installation): Promise<Victim[]> {
  const own = [...serviceNames, 'nats-server' as const].flatMap((name) =>
    installation.pids(name).map((pid) => ({ name: name as string, pid })),
  );
  return [...own, ...(await renderingProcesses(installation))];
}

/** The children of the renderers, which parse tenants' bytes. Each runs under a shell that kills it when its renderer has ended. */
async function renderingProcesses(installation: Installation): Promise<Victim[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  const processes = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const childrenOf = (parents: readonly number[]): number[] =>
    processes.flatMap(([pid = 0, parent = 0]) => (parents.includes(parent) ? [pid] : []));
  const guards = childrenOf(installation.pids('page-renderer'));
  const named = (name: string) => (pid: number) => ({ name, pid });
  return [...guards.map(named(childGuard)), ...childrenOf(guards).map(named(rendererChild))];
}

export type Paused = { resume(): void };

/**
 * Pauses processes. They keep their memory and connections, and the supervisor restarts nothing, because nothing has ended.
 * `pause(installation.pids('nats-server'))` makes the bus unavailable. `resume` continues them; it may be called again.
 */
export function pause(pids: readonly number[]): Paused {
  if (pids.length === 0) throw new Error('There is no process to pause.');
  for (const pid of pids) {
    if (!sendSignal(pid, 'SIGSTOP')) throw new Error(`Process ${pid} cannot be paused: it has ended.`);
  }
  return { resume: () => pids.forEach((pid) => sendSignal(pid, 'SIGCONT')) };
}

export type NatsTaken = { resume(): Promise<void> };

/**
 * Kills the nats-server (SIGKILL) and keeps it down: whenever the supervisor restarts it, it ends at once, because its settings are gone. `resume`
 * restores the settings; the next restart, at most 5 s later, succeeds.
 */
export async function takeNatsAway(installation: Installation): Promise<NatsTaken> {
  const settings = join(installation.dataFolder, 'nats', 'nats.conf');
  const hidden = `${settings}.hidden`;
  await rename(settings, hidden);
  for (const pid of installation.pids('nats-server')) sendSignal(pid, 'SIGKILL');
  return { resume: () => rename(hidden, settings) };
}

/** Sends a signal. False if the process does not exist. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Pseudo-random numbers, determined by the seed. */
export type SeededRandom = {
  /** A number from 0 to below 1. */
  fraction(): number;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
};

/** The mulberry32 generator: 32 bits of state are enough to choose victims and times. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    fraction,
    between: (least, most) => least + Math.floor(fraction() * (most - least + 1)),
  };
}
