import { readFileSync } from 'node:fs';

/** Of the kernel's interface to programs: always 100 on Linux, whatever the machine's timer. */
const TICKS_PER_SECOND = 100;

/** Processor time that a process has used, in milliseconds; undefined where the system does not tell (only Linux does) or it is gone. */
export function processorTimeMs(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold anything; user and system time are fields 14 and 15 (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}
