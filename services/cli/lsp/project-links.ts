import { posix } from 'node:path';
import { addressPlace } from '#shared/docs/findings/repair.ts';
import { extensionOf, pagePathOf, resolvePath } from '#shared/docs/project/project-files.ts';
import type { PageEntry } from '#shared/docs/project/site-model.ts';
import { decoded, rootedPath } from '#shared/docs/project/url-policy.ts';
import { cut } from '#shared/docs/render/broken-link.ts';
import { namedPage, pageAddress, pagePathOfAddress } from '#shared/docs/render/bundle-paths.ts';
import type { CheckedPage } from '#shared/docs/render/checked-page.ts';
import type { SiteIndex } from '#shared/docs/render/site-index.ts';
import type { FileEdit, FileLink } from './project-questions.ts';

/** A string in a text, without its quotation marks. */
type Written = { start: number; text: string };

const importForm = /^[ \t]*(?:import|export)\b[^'"\n]*?\bfrom[ \t]*(['"])([^'"\n]+)\1/gm;
const snippetForm = /<Snippet\b[^>]*?\bfile=(['"])([^'"\n]+)\1/g;
const pictureForm = /(?:!\[[^\]\n]*\]\(<?|\b(?:src|img|icon)=["'])([^\s"'<>)]+)/g;
const stringForm = /"((?:[^"\\\n]|\\.)*)"(?!\s*:)/g;

const matchesOf = (text: string, form: RegExp): Written[] =>
  [...text.matchAll(form)].map((match) => {
    const found = match.at(-1) ?? '';
    return { start: match.index + match[0].lastIndexOf(found), text: found };
  });

/** Strings of imports, and names of included snippets. */
const importsIn = (text: string): Written[] => [...matchesOf(text, importForm), ...matchesOf(text, snippetForm)];

/** The file of the project that an import or a snippet names. */
function importedFile(written: string, from: string, names: { has(path: string): boolean }): string | undefined {
  const path = resolvePath(written, from);
  const bare = written.replace(/^\//, '');
  const candidates = [path, path && `${path}.mdx`, path && `${path}.md`, `snippets/${bare}`, `_snippets/${bare}`];
  return candidates.find((each) => each !== undefined && names.has(each));
}

/** The page that a target of a rendered link leads to, and the anchor. */
function pageOfTarget(
  target: string,
  pages: { has(path: string): boolean },
): [page: string | undefined, anchor?: string] {
  const [rooted, anchor] = cut(target);
  const page = namedPage(pagePathOfAddress(decoded(rooted)), pages);
  return anchor === undefined ? [page] : [page, anchor];
}

/** The page that a string of the configuration names. */
const pageInConfig = (text: string, pages: { has(path: string): boolean }): string | undefined => {
  const path = text
    .replace(/^\//, '')
    .replace(/\/$/, '')
    .replace(/\.mdx?$/, '');
  return namedPage(path === '' && text === '/' ? 'index' : path, pages);
};

/**
 * The links of a document to files of its project, in their order: those that rendering found, imports, pictures, and pages and files that the
 * configuration names. `pages`: files of pages by path. `names`: all files. Pure.
 */
export function linksIn(
  file: string,
  text: string,
  {
    page,
    pages,
    names,
  }: { page: CheckedPage | undefined; pages: ReadonlyMap<string, string>; names: ReadonlySet<string> },
): FileLink[] {
  const found: FileLink[] = [];
  const add = ({ start, text: written }: Written, to: string | undefined, anchor?: string): void => {
    if (to === undefined || found.some((link) => link.start === start)) return;
    found.push({ start, end: start + written.length, file: to, ...(anchor !== undefined && { anchor }) });
  };
  if (extensionOf(file) === 'json') {
    for (const written of matchesOf(text, stringForm)) {
      const named = pageInConfig(written.text, pages);
      const path = resolvePath(written.text, file);
      add(written, named === undefined ? (path !== undefined && names.has(path) ? path : undefined) : pages.get(named));
    }
    return found;
  }
  for (const { written, target, line, column, file: of } of page?.seen.links ?? []) {
    if (of !== undefined || line === undefined) continue;
    const start = addressPlace(text, line, column, written);
    const [named, anchor] = pageOfTarget(target, pages);
    const asFile = decoded(cut(target)[0]).replace(/^\//, '');
    const to = named === undefined ? (names.has(asFile) ? asFile : undefined) : pages.get(named);
    if (start !== undefined) add({ start, text: written }, to, anchor);
  }
  for (const written of importsIn(text)) add(written, importedFile(written.text, file, names));
  for (const written of matchesOf(text, pictureForm)) {
    const path = rootedPath(written.text, file).replace(/^\//, '');
    add(written, names.has(path) ? path : undefined);
  }
  return found.sort((a, b) => a.start - b.start);
}

type RenameContext = {
  at: SiteIndex;
  sourceOf: (file: string) => Promise<string>;
  rendered: (path: string) => Promise<CheckedPage>;
  linkingTo: (path: string) => readonly PageEntry[];
};

/** Limit of pages whose links are changed by one renaming. */
const mostPages = 2_000;

/**
 * The changes of other texts that a renaming of files or folders needs: links to pages, entries of `docs.json`, imports and pictures; and in a page that
 * gets another folder, its own relative links.
 */
export async function renameEdits(
  files: readonly { from: string; to: string }[],
  { at, sourceOf, rendered, linkingTo }: RenameContext,
): Promise<FileEdit[]> {
  const allFiles = new Set([
    ...[...at.pages.values()].map(({ file }) => file),
    ...at.dependencies.keys(),
    ...at.files.keys(),
  ]);
  const moved = new Map(
    files.flatMap(({ from, to }) =>
      [...allFiles].flatMap((file): [string, string][] =>
        file === from ? [[file, to]] : file.startsWith(`${from}/`) ? [[file, to + file.slice(from.length)]] : [],
      ),
    ),
  );
  const fileOf = (path: string): string => at.pages.get(path)?.file ?? '';
  const movedPages = new Map(
    [...at.pages.values()].flatMap(({ path, file }): [string, string][] => {
      const to = moved.get(file);
      return to !== undefined && /\.mdx?$/i.test(to) ? [[path, pagePathOf(to)]] : [];
    }),
  );
  const edits: FileEdit[] = [];
  const seen = new Set<string>();
  const add = (file: string, { start, text }: Written, by: string): void => {
    const key = `${file}\0${start}`;
    if (by === text || seen.has(key)) return;
    seen.add(key);
    edits.push({ file, start, end: start + text.length, text: by });
  };

  const linking = new Set([...movedPages.keys()].flatMap((path) => linkingTo(path).map((page) => page.path)));
  for (const path of movedPages.keys()) if (at.exported.has(path)) linking.add(path);
  for (const path of [...linking].slice(0, mostPages)) {
    const page = await rendered(path);
    const own = fileOf(path);
    for (const { written, target, line, column, file = own } of page.seen.links) {
      const [old] = pageOfTarget(target, at.pages);
      const isRelative = !/^[/#?]/.test(written);
      const place = moved.get(file) ?? file;
      if (old === undefined || line === undefined || /^[#?]/.test(written)) continue;
      if (!movedPages.has(old) && !(isRelative && posix.dirname(place) !== posix.dirname(file))) continue;
      const text = await sourceOf(file);
      const start = addressPlace(text, line, column, written);
      const rest = /[?#].*$/s.exec(written)?.[0] ?? '';
      const ending = /\.mdx?$/i.exec(written.slice(0, written.length - rest.length))?.[0] ?? '';
      const now = movedPages.get(old) ?? old;
      const address = isRelative ? relativePath(place, now) : pageAddress(now);
      if (start !== undefined) add(file, { start, text: written }, `${address}${ending}${rest}`);
    }
  }

  for (const written of matchesOf(await sourceOf('docs.json'), stringForm)) {
    const old = pageInConfig(written.text, at.pages);
    const to = old === undefined ? undefined : movedPages.get(old);
    const path = resolvePath(written.text, 'docs.json');
    const file = path === undefined || old !== undefined ? undefined : moved.get(path);
    const slash = written.text.startsWith('/') ? '/' : '';
    const ending = /\.mdx?$/.exec(written.text)?.[0] ?? '';
    if (to !== undefined) add('docs.json', written, JSON.stringify(`${slash}${to}${ending}`).slice(1, -1));
    else if (file !== undefined) add('docs.json', written, JSON.stringify(slash + file).slice(1, -1));
  }

  const importers = [...at.pages.values(), ...[...at.dependencies.values()].map((one) => ({ ...one, file: one.path }))];
  for (const { file, dependencies = [] } of importers) {
    if (!moved.has(file) && !dependencies.some((name) => moved.has(name))) continue;
    for (const written of importsIn(await sourceOf(file))) {
      const old = importedFile(written.text, file, allFiles);
      const place = moved.get(file) ?? file;
      const to = old === undefined ? undefined : (moved.get(old) ?? old);
      if (to === undefined || !/^[./]/.test(written.text)) continue;
      if (written.text.startsWith('/')) add(file, written, `/${to}`);
      else add(file, written, relativePath(place, to));
    }
  }
  return edits;
}

function relativePath(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
}
