import { openSync } from 'node:fs';
import { mustDieBy } from './crash-orders.ts';

/** Named places at which a process can be made to die, so that tests can show that nothing is lost there. */
export const crashPoints = [
  'after-request-append',
  'after-plan-object',
  'after-plan-commit',
  'after-task-publish',
  'after-segment-put',
  'after-sidecar-put',
  'after-fact',
  'before-ack',
  'mid-upload',
  'after-upload',
  'after-bundle-fact',
  'after-completed',
] as const;

export type CrashPoint = (typeof crashPoints)[number];

/**
 * Kills this process with SIGKILL if the environment says so: `CRASH_AT=<name>` or `CRASH_AT=<name>@<service>`; with `CRASH_ONCE_FILE`
 * only the first process that gets there, which creates the file. With `CRASH_ORDERS=<folder>` tests give orders to processes that run:
 * see `CrashOrder`.
 */
export function crashPoint(name: CrashPoint, service: string): void {
  const { CRASH_AT: wanted, CRASH_ONCE_FILE: onceFile, CRASH_ORDERS: orders } = process.env;
  const place = `${name}@${service}`;
  const isWanted = wanted === name || wanted === place;
  const dies =
    (orders !== undefined && mustDieBy(orders, place)) ||
    (isWanted && (onceFile === undefined || createFile(onceFile)));
  if (!dies) return;
  process.kill(process.pid, 'SIGKILL');
  // The signal is handled by the kernel on the way out of the call; nothing after this line may run.
  for (;;);
}

function createFile(path: string): boolean {
  try {
    openSync(path, 'wx');
    return true;
  } catch {
    return false;
  }
}
