import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/** `die`: the process kills itself. `wait`: it stands still until whoever gave the order takes the order away. */
export type CrashOrder = 'die' | 'wait';

/** No process stands still for longer, even if nobody takes the order away. */
const longestWaitMs = 60_000;
const lookAgainMs = 2;

/** The file that holds an order for whoever is the first to reach a place, and the name that it then has. */
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
    // Read before it is taken: whoever gave it may take it away at once.
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
