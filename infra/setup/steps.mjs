import { spawn } from 'node:child_process';
import { onPath } from './server-locations.mjs';

/** Runs all steps, also after one that failed, and prints the reason of each failure. When a needed step fails, the exit code is 1. */
export async function runSteps(steps) {
  for (const { needed, run } of steps) {
    try {
      await run();
    } catch (error) {
      const text = error instanceof StepFailed ? error.message : error.stack;
      process.stderr.write(`setup: ${needed ? 'FAILED' : 'continues without it'}: ${text}\n`);
      if (needed) process.exitCode = 1;
    }
  }
}

/** Prints one line of progress. */
export function say(line) {
  process.stderr.write(`setup: ${line}\n`);
}

/** A step failed. The message has the reason and advice for the reader. */
export class StepFailed extends Error {
  constructor(message) {
    super(message);
    this.name = 'StepFailed';
  }
}

/** Runs a step and prints its duration. */
export async function timed(line, step) {
  say(`${line} …`);
  const begin = performance.now();
  const result = await step();
  say(`  done in ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  return result;
}

/** Length of the kept output. It is more than npm prints when it refuses a lock file: the reason comes before several kilobytes of usage. */
const keptCharacters = 16_000;

/**
 * Runs a program to its end, without input. @returns its exit code (undefined when it could not be started or was stopped) and the
 * last part of its output.
 */
export function runProgram(program, args, { env = {}, cwd, timeoutMs = 600_000, shown = false } = {}) {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      timeout: timeoutMs,
      stdio: shown ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    });
    const keep = (text) => {
      output = (output + text).slice(-keptCharacters);
    };
    child.stdout?.setEncoding('utf8').on('data', keep);
    child.stderr?.setEncoding('utf8').on('data', keep);
    child.once('error', (error) => resolve({ code: undefined, output: error.message }));
    child.once('close', (code, signal) => {
      resolve({ code: code ?? undefined, output: signal ? `${output}\nstopped by ${signal}` : output });
    });
  });
}

/** The last lines of a program's output, as the reason of a failure. */
export function lastLines(output, count = 3) {
  const lines = output
    .trim()
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.slice(-count).join(' / ') || 'it printed nothing';
}

/** Builds a Go program at a pinned version into a folder; Go checks the sources against its checksum database. @throws StepFailed */
export async function goInstall(packagePath, version, folder) {
  if (onPath('go').length === 0)
    throw new StepFailed(
      `go install ${packagePath} needs Go, which is not on PATH: install it from https://go.dev/dl/`,
    );
  const { code, output } = await runProgram('go', ['install', `${packagePath}@v${version}`], {
    env: { GOBIN: folder, GOFLAGS: '-buildvcs=false' },
  });
  if (code !== 0) throw new StepFailed(`go install ${packagePath}@v${version} failed: ${lastLines(output)}`);
}
