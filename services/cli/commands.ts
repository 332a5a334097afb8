import { readdirSync } from 'node:fs';
import type { Command } from 'commander';

const folder = new URL('./commands/', import.meta.url);

/** Adds every sub-command. A new one is one file in `commands/`: each export called `…Command` adds a command to the program. */
export async function addCommands(program: Command): Promise<Command> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const modules = await Promise.all(
    files.map((file) => import(new URL(file, folder).href) as Promise<Record<string, unknown>>),
  );
  const exported = modules.flatMap((each) => Object.entries(each)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, add] of exported) if (name.endsWith('Command')) (add as (to: Command) => void)(program);
  return program;
}
