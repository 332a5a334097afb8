/**
 * One thing that housekeeping does in each round. It can be stopped anywhere and repeated: what it has not done yet, the next round does.
 * It rejects with the reason when it could not be finished.
 */
export type Chore = { name: string; run: (signal: AbortSignal) => Promise<void> };
