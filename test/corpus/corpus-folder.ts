import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Real and hostile inputs that are not part of this repository; tests that need them are skipped where they are not. */
const shared = process.env['BINDERY_SHARED'] ?? fileURLToPath(new URL('../../../shared', import.meta.url));

export const corpusFolder = `${shared}/corpus`;
export const nastyGenerator = `${shared}/nasty/gen.mjs`;

export function isThere(path: string, what: string): boolean {
  if (existsSync(path)) return true;
  console.warn(`Skipped: ${what} is not at ${path}. Set BINDERY_SHARED to the folder that has it.`);
  return false;
}
