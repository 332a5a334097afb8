import { createHash } from 'node:crypto';
import { lockedPackages, type LockedPackage } from '#shared/runtime/installed-packages.ts';
import { sourceDigests } from './source-digests.ts';

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
  for (const [path, { sha256, packages }] of Object.entries(await sourceDigests(folders, files))) {
    hash.update(`${path}\0${sha256}\n`);
    for (const name of packages) roots.add(name);
  }
  for (const line of lockedClosure(lockedPackages(), roots)) hash.update(`${line}\n`);
  hash.update(`zlib ${process.versions.zlib} cldr ${process.versions['cldr']}`);
  return hash.digest('hex').slice(0, 12);
}

type Lock = Record<string, LockedPackage>;

/** The packages and all their dependencies, one per line, sorted. A package is resolved as in Node: the nearest one first. */
function lockedClosure(lock: Lock, roots: Iterable<string>): string[] {
  const found = new Map<string, string>();
  const pending = [...roots].map((name) => ({ name, from: '' }));
  for (let next = pending.pop(); next; next = pending.pop()) {
    const place = locate(lock, next.name, next.from);
    if (place === undefined || found.has(place)) continue;
    const entry = lock[place];
    found.set(place, `${place} ${entry?.version} ${entry?.integrity}`);
    for (const name of Object.keys(entry?.dependencies ?? {})) pending.push({ name, from: place });
  }
  return [...found.values()].sort();
}

function locate(lock: Lock, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (Object.hasOwn(lock, place)) return place;
    if (folder === '') return undefined;
  }
}
