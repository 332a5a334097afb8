import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const root = new URL('../../../', import.meta.url);
/** Folders whose code determines the bytes of a bundle. */
const rendererFolders = [
  'shared/docs/render/',
  'shared/docs/project/',
  'shared/docs/reference/',
  'shared/docs/icons/',
  'shared/export/bundle/',
];
const rendererFiles = ['shared/runtime/canonical-json.ts'];

let known: Promise<string> | undefined;

/**
 * `r-` and 12 hex digits: a hash of everything that determines the bytes of a bundle. It covers our code, the locked versions and digests of the
 * packages that it imports (with their dependencies), zlib, and the locale data for dates. Rejects if our files cannot be read.
 */
export function rendererVersion(): Promise<string> {
  known ??= currentRendererVersion();
  return known;
}

/** The renderer version of the current files. `rendererVersion` is the version of the files at its first call in this process. */
export async function currentRendererVersion(): Promise<string> {
  return `r-${await codeHash(rendererFolders, rendererFiles)}`;
}

/** A hash of the code in these folders and files, of the packages that it imports, of zlib and of the locale data, in 12 hex digits. */
export async function codeHash(folders: readonly string[], files: readonly string[] = []): Promise<string> {
  const hash = createHash('sha256');
  const roots = new Set<string>();
  for (const path of [...(await sourcesIn(folders)), ...files]) {
    const text = await readFile(new URL(path, root), 'utf8');
    hash.update(`${path}\0${text.length}\0${text}\0`);
    for (const [, specifier = ''] of text.matchAll(/\b(?:from|import|packageFile)\s*\(?['"]([^'"#./][^'"]*)['"]/g)) {
      const parts = specifier.split('/');
      if (!specifier.startsWith('node:'))
        roots.add(specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? ''));
    }
  }
  for (const line of lockedClosure(await readLock(), roots)) hash.update(`${line}\n`);
  hash.update(`zlib ${process.versions.zlib} cldr ${process.versions['cldr']}`);
  return hash.digest('hex').slice(0, 12);
}

async function sourcesIn(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(new URL(folder, root), { recursive: true });
      return names.map((name) => `${folder}${name.replaceAll('\\', '/')}`).filter(isSource);
    }),
  );
  return found.flat().sort();
}

const isSource = (name: string): boolean =>
  /\.(ts|css|js)$|\/languages\/[\w-]+\.json$/.test(name) &&
  !/\.(test|contract)\.ts$/.test(name) &&
  !/(^|\/)test-/.test(name);

type Lock = {
  packages: Record<string, { version?: string; integrity?: string; dependencies?: Record<string, string> }>;
};

const readLock = async (): Promise<Lock> =>
  JSON.parse(await readFile(fileURLToPath(new URL('package-lock.json', root)), 'utf8')) as Lock;

/** The packages and all their dependencies, one per line, sorted. A package is resolved as in Node: the nearest one first. */
function lockedClosure(lock: Lock, roots: Iterable<string>): string[] {
  const found = new Map<string, string>();
  const pending = [...roots].map((name) => ({ name, from: '' }));
  for (let next = pending.pop(); next; next = pending.pop()) {
    const place = locate(lock, next.name, next.from);
    if (place === undefined || found.has(place)) continue;
    const entry = lock.packages[place];
    found.set(place, `${place} ${entry?.version} ${entry?.integrity}`);
    for (const name of Object.keys(entry?.dependencies ?? {})) pending.push({ name, from: place });
  }
  return [...found.values()].sort();
}

function locate(lock: Lock, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (Object.hasOwn(lock.packages, place)) return place;
    if (folder === '') return undefined;
  }
}
