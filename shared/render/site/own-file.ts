import { readFileSync } from 'node:fs';

/** Text of a file of this folder; read when the module that has it as a constant is loaded, as imports are. */
export function ownFile(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}
