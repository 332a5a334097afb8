import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PlainRound } from './plain-loop.ts';

const deadlineMs = 300_000;

/** Renders the pages of a plan in a plain loop in a process of its own, after a round that loads and compiles. */
export async function runPlainLoop(
  plan: { objectFolder: string; organization: string; planHash: string },
  rounds: number,
): Promise<PlainRound[]> {
  const file = join(import.meta.dirname, 'plain-loop.ts');
  const args = [file, plan.objectFolder, plan.organization, plan.planHash, String(rounds + 1)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: deadlineMs });
  return stdout
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as PlainRound);
}
