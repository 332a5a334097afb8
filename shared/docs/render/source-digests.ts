import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { isPackaged } from '#shared/runtime/installed-packages.ts';

const root = new URL('../../../', import.meta.url);

/** File of the package that `npm pack` makes, with the digests of the sources from which it was compiled: a clone of them has the same versions. */
export const digestsFile = 'source-digests.json';

/** The digest of a file, in hex, and the names of the packages that it imports. */
type SourceDigest = { sha256: string; packages: string[] };

/** By path from the root of the clone, sorted. */
type SourceDigests = Record<string, SourceDigest>;

/**
 * Digests of the sources in these folders, which end with a slash, and of these files. Tests and what only they use do not count. In a package they
 * are those of the sources from which it was compiled.
 */
export async function sourceDigests(folders: readonly string[], files: readonly string[] = []): Promise<SourceDigests> {
  if (isPackaged) {
    const all = JSON.parse(await readFile(new URL(digestsFile, root), 'utf8')) as SourceDigests;
    const isMeant = (path: string): boolean =>
      files.includes(path) || folders.some((folder) => path.startsWith(folder));
    return Object.fromEntries(Object.entries(all).filter(([path]) => isMeant(path)));
  }
  const paths = [...new Set([...(await sourcesIn(folders)), ...files])].sort();
  return Object.fromEntries(
    await Promise.all(
      paths.map(async (path) => [path, digestOf(await readFile(new URL(path, root), 'utf8'))] as const),
    ),
  );
}

function digestOf(text: string): SourceDigest {
  const packages = new Set<string>();
  for (const [, specifier = ''] of text.matchAll(/\b(?:from|import|packageFile)\s*\(?['"]([^'"#./][^'"]*)['"]/g)) {
    const parts = specifier.split('/');
    if (!specifier.startsWith('node:'))
      packages.add(specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? ''));
  }
  return { sha256: createHash('sha256').update(text).digest('hex'), packages: [...packages].sort() };
}

async function sourcesIn(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(new URL(folder, root), { recursive: true });
      return names.map((name) => `${folder}${name.replaceAll('\\', '/')}`).filter(isSource);
    }),
  );
  return found.flat();
}

const isSource = (name: string): boolean =>
  /\.(ts|css|js)$|\/languages\/[\w-]+\.json$/.test(name) &&
  !/\.(test|contract)\.ts$/.test(name) &&
  !/(^|\/)test-/.test(name);
