import { posix } from 'node:path';
import { importedFiles, type ImportedFiles, reachedFiles } from '#shared/docs/project/imported-files.ts';
import type { JsonValue } from '#shared/docs/project/json-values.ts';
import type { FileEntry, NavigationNode, PageEntry, SiteModel } from '#shared/docs/project/site-model.ts';
import { decoded } from '#shared/docs/project/url-policy.ts';
import { stemOf } from '#shared/docs/reference/remote-files.ts';
import { pagePathOfAddress } from './bundle-paths.ts';

/**
 * Decides which files of the project a bundle with these pages has. A file that only left-out pages name would reveal their content, so it is left
 * out. Unnamed files are also left out if their folder has such files, and none that shown pages name. Pages name files as targets, in their
 * frontmatter, and by the API descriptions that they show; docs.json, style sheets and scripts name files, too. All other files stay, because other
 * sites may link to them. Models that were published earlier do not list the names in style sheets and scripts; their bundles have all files. Pure.
 */
export function usedFiles(model: SiteModel, exported: ReadonlySet<string>): (file: Pick<FileEntry, 'path'>) => boolean {
  const leftOut = model.pages.filter(({ path }) => !exported.has(path));
  if (leftOut.length === 0 || model.namedFiles === undefined) return () => true;
  const snippets = importedFiles(model);
  const shown = namesOf(
    model.pages.filter(({ path }) => exported.has(path)),
    snippets,
  );
  const { settings, navigation, redirects } = model;
  for (const text of textsIn([settings, shownNodes(navigation, exported), redirects] as JsonValue))
    addName(shown, text, '');
  for (const path of [
    ...model.namedFiles,
    ...model.styles.map((file) => file.path),
    ...model.scripts.map((file) => file.path),
  ])
    shown.add(path);
  const hidden = namesOf(leftOut, snippets);
  // Pages name the copy of a file at an address without its extension.
  const isIn = (names: ReadonlySet<string>, path: string): boolean =>
    names.has(path) || names.has(stemOf(path) ?? path);
  const files = [...model.assets, ...model.specs].map(({ path }) => path);
  const ofShown = new Set(files.filter((path) => isIn(shown, path)).map(folderOf));
  const ofHidden = new Set(files.filter((path) => isIn(hidden, path) && !isIn(shown, path)).map(folderOf));
  return ({ path }) => {
    if (isIn(shown, path)) return true;
    if (isIn(hidden, path)) return false;
    const folder = folderOf(path);
    return folder === '.' || ofShown.has(folder) || !ofHidden.has(folder);
  };
}

/** The navigation without left-out pages, and without groups that become empty. */
function shownNodes(nodes: readonly NavigationNode[], exported: ReadonlySet<string>): NavigationNode[] {
  return nodes.flatMap((node): NavigationNode[] => {
    if (node.kind === 'page') return exported.has(node.path) ? [node] : [];
    if (node.kind === 'link') return [node];
    const children = shownNodes(node.children, exported);
    const hasRoot = 'root' in node && node.root !== undefined && exported.has(node.root);
    return children.length > 0 || hasRoot || ('href' in node && node.href !== undefined) ? [{ ...node, children }] : [];
  });
}

const folderOf = (path: string): string => posix.dirname(path);

/** All names in these pages and in the snippets that they reach, without a slash in front. Some of the names may be neither files nor pages. */
function namesOf(pages: readonly PageEntry[], snippets: ImportedFiles): Set<string> {
  const names = new Set<string>();
  const imported = reachedFiles(
    snippets,
    pages.flatMap(({ dependencies }) => dependencies),
  );
  for (const { linkTargets = [] } of [...pages, ...imported])
    for (const target of linkTargets) names.add(pagePathOfAddress(decoded(target)));
  for (const { file, frontmatter, reference } of pages) {
    for (const text of textsIn(frontmatter)) addName(names, text, folderOf(file));
    if (reference !== undefined) names.add(reference.slice(0, reference.indexOf('#')));
  }
  return names;
}

/** Adds a text of settings that may be a path, relative to the root of the project and to the folder of the file. */
function addName(names: Set<string>, text: string, folder: string): void {
  const [path = ''] = text.split(/[?#]/, 1);
  if (path === '' || path.length > 500) return;
  for (const each of new Set([path, decoded(path)])) {
    names.add(posix.normalize(pagePathOfAddress(each)));
    if (!each.startsWith('/')) names.add(posix.join(folder, each));
  }
}

/** All texts in a value, and their parts between blanks, such as those of `openapi: file.json GET /users`. */
function* textsIn(value: JsonValue | undefined): Generator<string> {
  if (typeof value === 'string') {
    yield value;
    if (/\s/.test(value)) yield* value.split(/[\s"'()]+/);
  } else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) yield* textsIn(item);
}
