import { existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A named place at which tests can make a process die, to show that nothing is lost there; tests find the places in the code. Kills this
 * process with SIGKILL if the environment says so: `CRASH_AT=<name>` or `CRASH_AT=<name>@<service>`; with `CRASH_ONCE_FILE`
 * only the first process that gets there, which creates the file. With `CRASH_ORDERS=<folder>` tests give orders to processes that run:
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

/** `die`: the process kills itself. `wait`: it stands still until the order is taken away. */
export type CrashOrder = 'die' | 'wait';

/** No process stands still for longer, even if nobody takes the order away. */
const longestWaitMs = 60_000;
const lookAgainMs = 2;

/** The file with an order for the first process that reaches a place, and its name once a process has taken it. */
export const orderFile = (folder: string, place: string): string => join(folder, place);
export const takenFile = (folder: string, place: string): string => join(folder, `${place}.taken`);

/**
 * Takes the order that lies in the folder for this place, if any; of several processes one gets it. Gives whether this process is to die.
 * After `wait` it answers when the file of the taken order is gone; until then nothing else happens in this process.
 */
export function mustDieBy(folder: string, place: string): boolean {
  const taken = takenFile(folder, place);
  let order: CrashOrder;
  try {
    // Read before it is taken: the test may take it away at once.
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
