import { spawn } from 'node:child_process';

const keptCharacters = 4_000;

/**
 * Runs a program to its end, without input. @returns its exit code (undefined when it could not be started or was stopped) and the
 * end of what it printed.
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
