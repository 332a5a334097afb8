import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { FileEntry, SiteModel } from './site-model.ts';

/** A file that pages need, with the names of the files that it needs and its link targets. Both lists may be absent. */
export type ImportedFile = FileEntry & {
  dependencies?: readonly string[];
  linkTargets?: readonly string[] | undefined;
};
export type ImportedFiles = ReadonlyMap<string, ImportedFile>;

/** All files that pages may need, by name: API descriptions, their parts, and snippets. */
export const importedFiles = ({
  specs,
  operations,
  snippets,
}: Pick<SiteModel, 'specs' | 'operations' | 'snippets'>): ImportedFiles =>
  new Map([...specs, ...(operations ?? []), ...snippets].map((file) => [file.path, file]));

/**
 * The names, and all names that their files need, directly or indirectly. Names in `known`, and names that only those reach, are left out. Lists of a
 * site model may have only direct names, or all. Each file is read once, so one call with the names of many pages costs no more than their files and
 * imports.
 */
export function reachedNames(files: ImportedFiles, names: Iterable<string>, known?: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  const add = (more: Iterable<string>): void => {
    for (const name of more) if (known?.has(name) !== true) found.add(name);
  };
  add(names);
  // The loop also visits names that are added to the set during the loop.
  for (const name of found) add(files.get(name)?.dependencies ?? []);
  return found;
}

/** Returns the files that `reachedNames` names. Names without a file are left out. */
export const reachedFiles = (
  files: ImportedFiles,
  names: Iterable<string>,
  known?: ReadonlySet<string>,
): ImportedFile[] => [...reachedNames(files, names, known)].flatMap((name) => files.get(name) ?? []);

/** Link targets of a page and of all files that it needs, each once. */
export const reachedTargets = (
  files: ImportedFiles,
  page: { dependencies: readonly string[]; linkTargets: readonly string[] },
): Set<string> =>
  new Set([
    ...page.linkTargets,
    ...reachedFiles(files, page.dependencies).flatMap(({ linkTargets }) => linkTargets ?? []),
  ]);

/**
 * Returns a function that makes one digest of all files that the given names reach. `digestOf` makes the digest of one file and its name; equal
 * digests mean that all these files are equal. All digests together cost as much as the files and their imports, whatever the number of pages.
 */
export function reachedDigests(
  files: ImportedFiles,
  digestOf: (file: ImportedFile) => string,
): (names: Iterable<string>) => string {
  let digests: ReadonlyMap<string, string> | undefined;
  return (names) => {
    digests ??= digestsOf(files, digestOf);
    const all = digests;
    return sha256Of([...names].flatMap((name) => all.get(name) ?? []).join());
  };
}

type Visit = { file: ImportedFile; at: number; lowest: number; next: number };

/**
 * The digest of each file with everything that it reaches. Files that import each other in a circle have one digest together: this is Tarjan's
 * algorithm, which finds a circle after everything that it reaches. It has an explicit stack, because chains may be as long as the project has files.
 */
function digestsOf(files: ImportedFiles, digestOf: (file: ImportedFile) => string): Map<string, string> {
  const digests = new Map<string, string>();
  const visits = new Map<string, Visit>();
  /** Visited files that have no digest yet. */
  const open: Visit[] = [];
  const stack: Visit[] = [];
  const enter = (file: ImportedFile): void => {
    const visit = { file, at: visits.size, lowest: visits.size, next: 0 };
    visits.set(file.path, visit);
    open.push(visit);
    stack.push(visit);
  };
  for (const start of files.values()) {
    if (!visits.has(start.path)) enter(start);
    for (let visit = stack.at(-1); visit !== undefined; visit = stack.at(-1)) {
      const name = visit.file.dependencies?.[visit.next];
      visit.next += 1;
      const file = name === undefined ? undefined : files.get(name);
      if (name === undefined) {
        stack.pop();
        const parent = stack.at(-1);
        if (parent) parent.lowest = Math.min(parent.lowest, visit.lowest);
        if (visit.lowest === visit.at) close(visit);
      } else if (file !== undefined && !visits.has(name)) enter(file);
      // A visited file without a digest is part of the current chain.
      else if (file !== undefined && !digests.has(name))
        visit.lowest = Math.min(visit.lowest, visits.get(name)?.at ?? visit.at);
    }
  }
  return digests;

  function close(first: Visit): void {
    const circle = open.splice(open.lastIndexOf(first)).map(({ file }) => file);
    const inside = new Set(circle.map(({ path }) => path));
    const below = circle.flatMap(({ dependencies = [] }) => dependencies.filter((name) => !inside.has(name)));
    const digest = sha256Of(
      JSON.stringify([
        circle.map(digestOf).sort(),
        [...new Set(below.flatMap((name) => digests.get(name) ?? []))].sort(),
      ]),
    );
    for (const path of inside) digests.set(path, digest);
  }
}
