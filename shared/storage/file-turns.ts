import { setImmediate } from 'node:timers/promises';

/*
 * Work on a project reads and writes thousands of files of a few kilobytes. The event loop waits for these: to hand a call to another thread and take it
 * back costs ten times as much. After some milliseconds whatever else is to be done has its turn.
 */

const turnMs = 5;
let turnBegan = 0;
/** One for all who wait: if each had its own, each would go on for a whole turn before anything else is done. */
let waitedFor: Promise<void> | undefined;

/** To be asked again after each wait: of many who wait for a turn, those that it is too short for wait for the next one. */
export const isTurnOver = (): boolean => performance.now() - turnBegan >= turnMs;

export const nextTurn = (): Promise<void> => (waitedFor ??= begunTurn());

async function begunTurn(): Promise<void> {
  await setImmediate();
  waitedFor = undefined;
  turnBegan = performance.now();
}
