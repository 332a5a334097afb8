import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Clock ticks per second in the kernel's interface: always 100 on Linux, independent of the machine's timer. */
const ticksPerSecond = 100;

export type ProcessStat = {
  pid: number;
  parent: number;
  /** User and system time, including that of ended children. */
  cpuSeconds: number;
};

/** A line of `/proc/<pid>/stat` (proc(5)). The second field is the program's name in parentheses and may hold anything. Pure. */
export function parseStat(text: string): ProcessStat {
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ticks = fields.slice(11, 15).reduce((sum, one) => sum + one, 0);
  return { pid: Number.parseInt(text), parent: fields[1] ?? 0, cpuSeconds: ticks / ticksPerSecond };
}

/**
 * Processor time of these processes and their descendants, in seconds; undefined except on Linux.
 * The time of a child that ends is added to its parent's, so the difference of two results is the time in between. The time of a child that is killed
 * with its whole group, as those of a pool are, is lost.
 */
export function cpuSecondsOf(roots: readonly number[]): number | undefined {
  if (process.platform !== 'linux') return undefined;
  return treeOf(roots).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}

/** These processes and their descendants that currently run. Empty where the system does not list them. */
export function treeOf(roots: readonly number[]): ProcessStat[] {
  if (process.platform !== 'linux') return [];
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? statOf(name) : []));
  const children = Map.groupBy(all, ({ parent }) => parent);
  const found = all.filter(({ pid }) => roots.includes(pid));
  // An array may grow while it is walked.
  for (const { pid } of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/**
 * Memory of these processes and their descendants, in bytes. Shared memory counts once (Pss, proc(5)). Undefined where the system does not report it.
 */
export function residentBytesBelow(roots: readonly number[]): number | undefined {
  if (process.platform !== 'linux') return undefined;
  return treeOf(roots).reduce((sum, { pid }) => sum + (proportionalBytes(pid) ?? 0), 0);
}

function statOf(pid: string): ProcessStat[] {
  try {
    return [parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))];
  } catch {
    return []; // The process has ended since the folder was read.
  }
}

/** Resets the peak memory of a process to its current memory (proc(5), clear_refs). False where the system does not allow it. */
export function resetPeak(pid: number): boolean {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    return true;
  } catch {
    return false;
  }
}

/** Peak memory of a process since its start or `resetPeak`, in bytes; undefined where it is unknown. */
export const peakBytes = (pid: number): number | undefined => statusBytes(pid, 'VmHWM');

/** Current memory of a process, in bytes; undefined where it is unknown. */
export const residentBytes = (pid: number): number | undefined => statusBytes(pid, 'VmRSS');

/**
 * Proportional memory of a process, in bytes: memory that it shares with others is divided equally (PSS, proc(5), smaps_rollup). So
 * the sum over processes is their total memory. Undefined where it is unknown.
 */
export const proportionalBytes = (pid: number): number | undefined => statusBytes(pid, 'Pss', 'smaps_rollup');

function statusBytes(pid: number, field: string, file = 'status'): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/${file}`, 'utf8');
    const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
