import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Cache of the texts of files with findings. */
const texts = new Map<string, string | undefined>();

/** The text of a file of a project, which is read once; undefined if it cannot be read. */
export function textIn(folder: string, file: string): string | undefined {
  const path = join(folder, file);
  if (!texts.has(path)) texts.set(path, file === '' ? undefined : readText(path));
  return texts.get(path);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Lets the texts be read again, after files were changed. */
export const forgetTexts = (): void => texts.clear();
