import { extensionOf, type ProjectFile, type ProjectFiles } from './project-files.ts';
import { decoded } from './url-policy.ts';

const mostBytes = 2 * 1024 * 1024;
const mostBytesOfAll = 64 * 1024 * 1024;

/**
 * The files that style sheets, scripts and HTML files of a project name, sorted: each whose name stands there, in whatever folder. So none is
 * missed that is put together of a folder and a name. Of what is too large to be read, every file may be named.
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
    for (const name of namesIn(text)) for (const found of byName.get(name) ?? []) named.add(found);
  }
  return [...named].sort();
}

/** What may be the last part of a path: up to a quote or bracket, and up to a space. */
function* namesIn(text: string): Generator<string> {
  for (const pattern of [/[^"'`()<>{}\n/\\]+/g, /[^\s"'`()<>{}[\],;=:/\\]+/g])
    for (const [piece] of text.matchAll(pattern)) {
      const name = piece.trim();
      yield name;
      yield decoded(name.split(/[?#]/, 1)[0] ?? '');
    }
}
