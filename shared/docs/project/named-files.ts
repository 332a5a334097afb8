import { cssAddresses } from './css-addresses.ts';
import { extensionOf, type ProjectFile, type ProjectFiles } from './project-files.ts';
import { decoded } from './url-policy.ts';

const mostBytes = 2 * 1024 * 1024;
const mostBytesOfAll = 64 * 1024 * 1024;

/**
 * Returns the files that style sheets, scripts and HTML files of a project name, sorted. A file counts when its base name occurs, whatever its
 * folder, so that a path which a script builds from a folder and a name is found too. If a text is too large to be read, all files count as named.
 */
export async function namedFiles(
  files: readonly ProjectFile[],
  { read }: Pick<ProjectFiles, 'read'>,
): Promise<string[]> {
  const byName = new Map<string, string[]>();
  for (const { path } of files) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    byName.set(name, [...(byName.get(name) ?? []), path]);
  }
  const named = new Set<string>();
  let total = 0;
  for (const { path, sizeBytes } of files) {
    if (!['css', 'js', 'html', 'htm'].includes(extensionOf(path))) continue;
    total += sizeBytes;
    if (sizeBytes > mostBytes || total > mostBytesOfAll) return files.map((file) => file.path).sort();
    const text = Buffer.from(await read(path, mostBytes)).toString();
    for (const name of [...namesIn(text), ...addressesIn(text)])
      for (const found of byName.get(name) ?? []) named.add(found);
  }
  return [...named].sort();
}

/** Returns the last parts of addresses of style sheets, which may have escapes. */
const addressesIn = (text: string): string[] =>
  cssAddresses(text).map((address) => {
    const [path = ''] = address.split(/[?#]/, 1);
    return decoded(path.slice(path.lastIndexOf('/') + 1));
  });

/** Yields possible last parts of a path: text up to a quote or bracket, and text up to a space. */
function* namesIn(text: string): Generator<string> {
  for (const pattern of [/[^"'`()<>{}\n/\\]+/g, /[^\s"'`()<>{}[\],;=:/\\]+/g])
    for (const [piece] of text.matchAll(pattern)) {
      const name = piece.trim();
      yield name;
      yield decoded(name.split(/[?#]/, 1)[0] ?? '');
    }
}
