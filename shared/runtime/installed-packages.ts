import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Folder with `services`, `shared` and `infra`: the clone, or `dist` in the package that `npm pack` makes. Ends with a slash. */
const root = fileURLToPath(new URL('../../', import.meta.url));

/** True in the package that `npm pack` makes, whose modules are compiled to JavaScript. A clone runs its TypeScript files. */
export const isPackaged = import.meta.url.endsWith('.js');

/** Folder of the clone or the package. */
const home = isPackaged ? join(root, '..') : root;

/**
 * The folders in which packages may be, nearest first. A package has a folder of its own, or the packages that it needs are beside it.
 */
export const packageFolders: readonly [string, ...string[]] = [
  join(home, 'node_modules'),
  ...(isPackaged && basename(dirname(home)) === 'node_modules' ? [dirname(home)] : []),
];

/**
 * File with the versions and digests of all packages. In a package that is the list that npm leaves in the folder, or else the package's own, with
 * which npm installs it from a registry.
 */
export const lockFile = isPackaged
  ? (packageFolders.map((folder) => join(folder, '.package-lock.json')).find((file) => existsSync(file)) ??
    join(home, 'npm-shrinkwrap.json'))
  : join(root, 'package-lock.json');

export type LockedPackage = { version?: string; integrity?: string; dependencies?: Record<string, string> };

/** File of the package that `npm pack` makes, with the packages from which its programs were compiled: the lock file has only those that are installed. */
export const bundledPackagesFile = 'bundled-packages.json';

/**
 * The packages of the lock file, by their places relative to the clone or the package: `node_modules/katex`. In a package they are those from which its
 * programs were compiled, and those that are installed.
 */
export function lockedPackages(): Record<string, LockedPackage> {
  const bundled = isPackaged
    ? (JSON.parse(readFileSync(join(root, bundledPackagesFile), 'utf8')) as Record<string, LockedPackage>)
    : {};
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Record<string, LockedPackage> };
  const own = `node_modules/${basename(home)}/node_modules/`;
  const nested = Object.entries(packages).filter(([place]) => isPackaged && place.startsWith(own));
  // The nearest one comes last, because Node takes it.
  return {
    ...bundled,
    ...packages,
    ...Object.fromEntries(nested.map(([place, entry]) => [place.replace(/^node_modules\/[^/]+\//, ''), entry])),
  };
}

/** Folder in the package that `npm pack` makes, with the files of other packages that programs read. */
export const copiedPackages = 'packages';

/**
 * Address of a file of a package that this one depends on, such as `katex/dist/katex.min.css`. The address is also right in bundled modules. Packages
 * that are named in this way are part of the renderer version.
 */
export function packageFile(path: string): URL {
  const copied = join(root, copiedPackages, path);
  if (isPackaged && existsSync(copied)) return pathToFileURL(copied);
  const [scope = '', name = ''] = path.split('/');
  const folder = scope.startsWith('@') ? join(scope, name) : scope;
  const having = packageFolders.find((each) => existsSync(join(each, folder))) ?? packageFolders[0];
  return pathToFileURL(join(having, path));
}

/**
 * The sentence for an error because a package that `npm pack` leaves out is not installed; undefined for every other error, and in a clone, which has
 * all packages.
 */
export function missingPackage(error: unknown): string | undefined {
  if (!isPackaged || !(error instanceof Error) || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND')
    return;
  const [, name = ''] = /^Cannot find package '([^']+)'/.exec(error.message) ?? [];
  const { leftOut } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
    leftOut: Record<string, string>;
  };
  if (!Object.hasOwn(leftOut, name)) return;
  return `These settings need the package ${name}, which does not come with Bindery. Install it beside Bindery: npm install ${Object.entries(
    leftOut,
  )
    .filter(([each]) => each === name || each.startsWith(`${name.split('/')[0]}/`))
    .map((each) => each.join('@'))
    .join(' ')}`;
}
