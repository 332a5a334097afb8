import { spawn } from 'node:child_process';
import { join } from 'node:path';

export type CommandOutcome = { code: number | null; stdout: string; stderr: string };

const main = join(import.meta.dirname, '../../services/cli/main.ts');

/** Runs the real `bindery` to its end. It sees only the variables given, and the PATH. */
export function runCommand(args: readonly string[], environment: Record<string, string> = {}): Promise<CommandOutcome> {
  const child = spawn(process.execPath, [main, ...args], {
    // A data folder of the machine must not say where the server is.
    env: { PATH: process.env.PATH, BINDERY_DATA: '/nowhere', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
