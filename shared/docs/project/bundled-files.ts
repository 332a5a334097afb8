import { bundleNames, notFoundFile } from '#shared/export/bundle/bundle-names.ts';
import { quoted, type Report } from './diagnostics.ts';

/** Pages and files of a project that are in bundles, by their own paths, and the names that they take there. */
export type BundledFiles<Page, File> = { pages: Page[]; files: File[]; names: ReturnType<typeof bundleNames> };

/**
 * Assigns the names of the bundle: first to our files that pages need (`404.html`, `_bindery/`), then to pages (`x.html` and `x.md`), then to files
 * of the project, in the given order. Files generated for crawlers, feeds, redirects and a start page come last and yield to these; callers take
 * their names from `names`. `refused` is called for each page and file that is left out, with the affected path and the reason.
 */
export function bundledFiles<Page extends { path: string }, File extends { path: string }>(
  pages: readonly Page[],
  files: readonly File[],
  refused: (what: Page | File, path: string, problem: string) => void = () => undefined,
): BundledFiles<Page, File> {
  const names = bundleNames();
  const takes =
    (pathsOf: (path: string) => string[]) =>
    (what: Page | File): boolean => {
      const conflict = names.take(...pathsOf(what.path));
      if (conflict !== undefined) refused(what, conflict.path, conflict.problem);
      return conflict === undefined;
    };
  return {
    pages: pages.filter(takes((path) => [`${path}.html`, `${path}.md`])),
    files: files.filter(takes((path) => [path])),
    names,
  };
}

/** Generated for every bundle, unless the project has a file of that name. */
const generated = ['robots.txt', 'sitemap.xml', 'llms.txt', 'llms-full.txt', 'skill.md', 'index.html'];

/** Does the same as `bundledFiles` at publication, and reports left-out files to the author. */
export function reportedFiles<Page extends { path: string; file: string }, File extends { path: string }>(
  pages: readonly Page[],
  files: readonly File[],
  report: Report,
): BundledFiles<Page, File> {
  const made = bundledFiles(pages, files, (what, path, problem) => {
    const isPage = 'file' in what;
    const file = isPage ? what.file : what.path;
    const isNotFound = isPage && path.toLowerCase() === notFoundFile;
    const hint = isNotFound ? 'Put its words in "errors.404" of docs.json' : 'Rename it';
    const message = `The ${isPage ? 'page' : 'file'} ${quoted(file)} is left out of bundles: ${isPage ? `its file ${quoted(path)}` : 'it'} ${problem}. ${hint}.`;
    report({ severity: 'error', code: 'name-taken', message, file });
  });
  /** Project files by their names in a bundle. */
  const own = new Map([
    ...made.files.map(({ path }) => [path, path] as const),
    ...made.pages.map(({ path, file }) => [`${path}.html`, file] as const),
  ]);
  for (const name of generated) {
    const conflict = own.has(name) ? undefined : made.names.take(name);
    if (conflict === undefined) continue;
    const [, other = name] = [...own].find(([path]) => path.toLowerCase() === name) ?? [];
    const message = `${quoted(name)} is not generated, because it ${conflict.problem}, and a host may ask for exactly this name. Rename that file.`;
    report({ severity: 'warning', code: 'generated-file-left-out', message, file: other });
  }
  return made;
}
