import { posix } from 'node:path';

const extensions = ['', '.mdx', '.md', '.jsx', '.tsx', '.js', '.ts'];

/**
 * The project file that an import names from `from`; undefined when there is none (a package, an address, a path that climbs out, a
 * file that is missing). Paths are absolute from the project's root, relative, or, as older projects write them, without a slash in front.
 */
export function resolveImport(specifier: string, from: string, has: (path: string) => boolean): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\/|\\|%/i.test(specifier)) return undefined;
  const isRelative = /^\.\.?\//.test(specifier);
  const path = posix.normalize(isRelative ? posix.join(posix.dirname(from), specifier) : specifier.replace(/^\//, ''));
  if (path === '..' || path.startsWith('../') || path.startsWith('/')) return undefined;
  return extensions.map((extension) => path + extension).find((candidate) => has(candidate));
}

/** The file of `<Snippet file="…">`: in one of the folders for snippets, or from the root. */
export function resolveSnippetFile(named: string, has: (path: string) => boolean): string | undefined {
  const path = named.replace(/^\//, '');
  for (const folder of ['_snippets/', 'snippets/', '']) {
    const found = resolveImport(`/${folder}${path}`, '', has);
    if (found !== undefined) return found;
  }
  return undefined;
}
