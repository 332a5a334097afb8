import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { resolvePath } from '#shared/docs/project/project-files.ts';
import { docsSchemaFile } from '#shared/docs/format/docs-schema.ts';

/** Files of the new project are there already; the message names them. */
class WouldOverwrite extends Error {
  override name = 'WouldOverwrite';
  readonly code = 'exists';
}

const mostNamed = 5;

/** The files of a new project, and those for editors: the schema that `docs.json` names, which is no part of the site. */
export function withSchema(files: ReadonlyMap<string, string | Uint8Array>): Map<string, string | Uint8Array> {
  const { name, text } = docsSchemaFile;
  const ignored = Buffer.from(files.get('.mintignore') ?? '').toString();
  return new Map([...files, [name, text()], ['.mintignore', `${ignored}${name}\n`]]);
}

/** Writes the schema of `docs.json` into a project, or a newer one in its place. Rejects if the folder has no `docs.json`. */
export async function writeSchema(folder: string): Promise<void> {
  if (!existsSync(join(folder, 'docs.json')))
    throw new Error(`${folder} has no docs.json: name the folder that has it.`);
  await writeFile(join(folder, docsSchemaFile.name), docsSchemaFile.text());
}

/**
 * Writes the files of a new project. Rejects with `WouldOverwrite`, before it writes anything, if one of them exists or the folder already has a docs
 * project.
 */
export async function writeProject(folder: string, files: ReadonlyMap<string, string | Uint8Array>): Promise<void> {
  for (const path of files.keys())
    if (resolvePath(path, '') !== posix.normalize(path)) throw new Error(`${path} is not a path in ${folder}.`);
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
