import { StepFailed } from './step.mjs';

/** Runs steps one after another, also after one that failed, and says what each could not get; a needed one makes the exit code 1. */
export async function runSteps(steps) {
  for (const { needed, run } of steps) {
    try {
      await run();
    } catch (error) {
      const text = error instanceof StepFailed ? error.message : error.stack;
      process.stderr.write(`setup: ${needed ? 'FAILED' : 'goes on without'}: ${text}\n`);
      if (needed) process.exitCode = 1;
    }
  }
}
