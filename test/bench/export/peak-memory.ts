import { readFileSync, writeFileSync } from 'node:fs';

/** Makes what a process has in memory now the peak that counts (proc(5), clear_refs). False where the system does not let us. */
export function resetPeak(pid: number): boolean {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    return true;
  } catch {
    return false;
  }
}

/** Most memory that a process had at a time since its start or `resetPeak`, in bytes; undefined where the system does not tell. */
export function peakBytes(pid: number): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
