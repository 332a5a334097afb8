import { existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A named place at which tests can kill a process, to show that nothing is lost there; tests find the places in the code. Kills this
 * process with SIGKILL if the environment names the place: `CRASH_AT=<name>` or `CRASH_AT=<name>@<service>`. With `CRASH_ONCE_FILE` only
 * the first process that reaches it is killed, which creates the file. With `CRASH_ORDERS=<folder>` tests give orders to running processes:
 * see `CrashOrder`.
 */
export function crashPoint(name: string, service: string): void {
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

/** `die`: the process kills itself. `wait`: it blocks until the order is removed. */
export type CrashOrder = 'die' | 'wait';

/** Limit of a `wait`, in case the order is never removed. */
const longestWaitMs = 60_000;
const lookAgainMs = 2;

/** The file with an order for the first process that reaches a place, and its name after a process has taken it. */
export const orderFile = (folder: string, place: string): string => join(folder, place);
export const takenFile = (folder: string, place: string): string => join(folder, `${place}.taken`);

/**
 * Takes the order for this place from the folder, if there is one; among several processes only one gets it. Returns true if this process
 * has to die. After `wait` it returns when the file of the taken order is removed; until then it blocks the process.
 */
export function mustDieBy(folder: string, place: string): boolean {
  const taken = takenFile(folder, place);
  let order: CrashOrder;
  try {
    // The order is read before it is taken, because the test may remove it at once afterwards.
    order = readFileSync(orderFile(folder, place), 'utf8') as CrashOrder;
    renameSync(orderFile(folder, place), taken);
  } catch {
    return false;
  }
  if (order === 'die') return true;
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (const deadline = performance.now() + longestWaitMs; existsSync(taken) && performance.now() < deadline; ) {
    Atomics.wait(never, 0, 0, lookAgainMs);
  }
  return false;
}
