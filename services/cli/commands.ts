import { readdirSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';

const folder = new URL('./commands/', import.meta.url);

/**
 * Adds every sub-command. A new one is one file in `commands/`: each export called `…Command` adds the command of that name to the program. With
 * `named`, only the file of this command is loaded, because loading all of them takes most of the time of a short command; if no file has it, all are
 * loaded.
 */
export async function addCommands(program: Command, named?: string): Promise<Command> {
  const all = readdirSync(folder).filter((file) => /^[^.]+\.[jt]s$/.test(file));
  const having = all.filter((file) => named !== undefined && commandsIn(file).includes(named));
  const modules = await Promise.all(
    (having.length === 0 ? all : having).map(
      (file) => import(new URL(file, folder).href) as Promise<Record<string, unknown>>,
    ),
  );
  const exported = modules.flatMap((each) => Object.entries(each)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, add] of exported) if (name.endsWith('Command')) (add as (to: Command) => void)(program);
  return program;
}

/**
 * The commands of a file, found in its text without loading it: `export function keysCommand(` is `keys`. Compiled files have their exports in a list at
 * the end.
 */
const commandsIn = (file: string): string[] => {
  const text = readFileSync(new URL(file, folder), 'utf8');
  const exported = text.match(/^export (?:function \w+\(|\{[^}]*\})/gm) ?? [];
  return [...exported.join('\n').matchAll(/(\w+)Command\b/g)].map(([, name = '']) => name);
};
