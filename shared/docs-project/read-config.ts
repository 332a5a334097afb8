import { decodeSource } from './decode-source.ts';
import { docsFromMint } from './docs-from-mint.ts';
import { InvalidProject } from './invalid-project.ts';
import { isJsonObject, type JsonObject } from './plain-json.ts';
import type { ProjectFiles } from './project-files.ts';
import { resolveReferences } from './resolve-references.ts';

const MAX_IGNORE_BYTES = 64 * 1024;

/** Configuration of a project in the shape of `docs.json`, and the files that it was read from, `file` first. */
export type Config = { value: JsonObject; file: string; files: string[] };

/** Throws `InvalidProject` when there is none or it cannot be read. */
export async function readConfig(project: ProjectFiles): Promise<Config> {
  const file = ['docs.json', 'mint.json'].find((name) => project.files.some(({ path }) => path === name));
  if (file === undefined) {
    const message =
      'There is no docs.json (or mint.json) at the root of the project. Publish the folder that has it, or add one.';
    throw new InvalidProject('missing-config', 'docs.json', message);
  }
  const { value, files } = await resolveReferences(project, file);
  if (!isJsonObject(value)) throw new InvalidProject('bad-config', file, `${file} must be a JSON object.`);
  return { value: file === 'mint.json' ? docsFromMint(value) : value, file, files };
}

/** Text of `.mintignore`; '' when there is none. */
export async function readIgnoreFile(project: ProjectFiles): Promise<string> {
  const path = '.mintignore';
  const exists = project.files.some((entry) => entry.path === path);
  return exists ? decodeSource(await project.read(path, MAX_IGNORE_BYTES), path).text : '';
}
