import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** The process and all that it started. */
function treeOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = statOf(Number(name))?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const found = [root];
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child);
  return found;
}

/** Fields of a process after its name; undefined if it has ended. */
function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** Processor time of the process and all that it started, in milliseconds. */
export function processorMs(root: number): number {
  const ticks = treeOf(root).map((pid) => {
    const fields = statOf(pid);
    return Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0);
  });
  return ticks.reduce((sum, value) => sum + value, 0) * (1_000 / ticksPerSecond);
}

/** Memory of all processes; pages that they share count once. */
export function memoryMb(root: number): number {
  const kilobytes = treeOf(root).map((pid) => {
    try {
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return Math.round(kilobytes.reduce((sum, value) => sum + value, 0) / 1024);
}
