import { setImmediate } from 'node:timers/promises';

/*
 * Work on a project reads and writes thousands of files of a few kilobytes. These calls are synchronous, because passing one to another
 * thread and back costs ten times as much. After some milliseconds the event loop gets a turn.
 */

const turnMs = 5;
let turnBegan = 0;
/**
 * The pending turn, shared by all callers that wait: with separate turns, each caller would continue for a whole slice before other work
 * runs.
 */
let waitedFor: Promise<void> | undefined;

/**
 * True if the current slice is used up. Callers ask again after each wait: when many wait for a turn, those that do not fit into one turn wait for
 * the next.
 */
export const isTurnOver = (): boolean => performance.now() - turnBegan >= turnMs;

/** Resolves when the event loop has had its turn. */
export const nextTurn = (): Promise<void> => (waitedFor ??= begunTurn());

async function begunTurn(): Promise<void> {
  await setImmediate();
  waitedFor = undefined;
  turnBegan = performance.now();
}
