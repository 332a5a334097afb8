import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Files of the new project are there already; the message names them. */
class WouldOverwrite extends Error {
  override name = 'WouldOverwrite';
  readonly code = 'exists';
}

const mostNamed = 5;

/**
 * Writes the files of a new project. Rejects with `WouldOverwrite`, before it writes anything, if one of them exists or the folder already has a docs
 * project.
 */
export async function writeProject(folder: string, files: ReadonlyMap<string, string | Uint8Array>): Promise<void> {
  const there = [...new Set([...files.keys(), 'docs.json', 'mint.json'])].filter((path) =>
    existsSync(join(folder, path)),
  );
  if (there.length > 0) {
    const more = there.length > mostNamed ? `, and ${there.length - mostNamed} more` : '';
    throw new WouldOverwrite(
      `${folder} already has ${there.slice(0, mostNamed).join(', ')}${more}. Nothing was written: name another folder.`,
    );
  }
  for (const [path, content] of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { flag: 'wx' });
  }
}
