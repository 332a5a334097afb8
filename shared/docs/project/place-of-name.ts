import { decodeSource } from './decode-source.ts';
import type { NamedFiles } from './project-files.ts';

/** The first file, and the line in it, that has a name. */
export type PlaceOfName = { file: string; line: number };

const maxBytes = 4 * 1024 * 1024;

/** Finds where files of JSON or YAML, such as `docs.json` and those that it refers to, name another file or an address as a text. */
export async function placesOfNames(
  project: Pick<NamedFiles, 'read'>,
  files: readonly string[],
): Promise<(name: string) => PlaceOfName | undefined> {
  const texts = await Promise.all(
    files.map(async (file) => [file, decodeSource(await project.read(file, maxBytes), file).text] as const),
  );
  return (name) => {
    for (const [file, text] of texts) {
      const line = lineOfName(text, name);
      if (line !== undefined) return { file, line };
    }
    return undefined;
  };
}

/**
 * The line, from 1, in which a text of JSON or YAML names something. A place where a longer name begins with this one is returned only if there is no
 * other.
 */
export function lineOfName(text: string, name: string): number | undefined {
  const inJson = JSON.stringify(name).slice(1, -1);
  const written = [inJson, inJson.replaceAll('/', '\\/')];
  const at = [...written.map((each) => `${each}"`), ...written]
    .map((each) => text.indexOf(each))
    .find((found) => found >= 0);
  return at === undefined ? undefined : text.slice(0, at).split('\n').length;
}
