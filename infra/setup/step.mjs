// How the set-up scripts speak: one line for each thing they do, one for each that they could not do.

/** Says what happens now. */
export function say(line) {
  process.stderr.write(`setup: ${line}\n`);
}

/** What a step could not get, and what the reader can do about it. */
export class StepFailed extends Error {
  constructor(message) {
    super(message);
    this.name = 'StepFailed';
  }
}

/** Runs a step and says how long it took. */
export async function timed(line, step) {
  say(`${line} …`);
  const begin = performance.now();
  const result = await step();
  say(`  done in ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  return result;
}
