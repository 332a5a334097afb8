import { fileKind, usableFiles } from './classify-files.ts';
import { present, textOf, textsOf } from './config-fields.ts';
import { decodeSource } from './decode-source.ts';
import { diagnosticList, type Report } from './diagnostic-list.ts';
import { docsFromMint } from './docs-from-mint.ts';
import { ignoreRules } from './ignore-rules.ts';
import { InvalidProject } from './invalid-project.ts';
import { pagePathOf, titleFromPath } from './page-path.ts';
import { pageVisibility } from './page-visibility.ts';
import { isJsonObject, type JsonObject } from './plain-json.ts';
import type { ProjectFile, ProjectFiles } from './project-files.ts';
import { quoted } from './quoted.ts';
import { type PagePlace, readNavigation } from './read-navigation.ts';
import { readRedirects } from './read-redirects.ts';
import { readSettings } from './read-settings.ts';
import { isSource, type ReadSource, readSources } from './read-sources.ts';
import { resolveReferences } from './resolve-references.ts';
import { isSafeHref } from './safe-href.ts';
import type { NavigationNode, PageEntry, SiteModel } from './site-model.ts';
import { importCycles, reachableImports } from './snippet-graph.ts';
import { isSpec, specsOfPage } from './spec-files.ts';

/** A site model that does not know yet under which content version it will be stored. */
export type DocsProject = Omit<SiteModel, 'contentVersion'>;

/** Group of pages whose frontmatter may name groups but cannot be read: nobody is in it. */
export const UNREADABLE_GROUP = 'unreadable-frontmatter';

/**
 * Reads a docs project (`docs.json` or `mint.json` at its root, pages in MDX and Markdown) into what its pages share. Same files, same
 * model, whatever the order of `project.files`. Throws `InvalidProject` when there is nothing to publish; all else that is wrong is in `diagnostics`.
 */
export async function readDocsProject(project: ProjectFiles): Promise<DocsProject> {
  const { report, all } = diagnosticList();
  const files = usableFiles(project.files, report);
  const usable: ProjectFiles = { files, read: (path) => project.read(path) };

  // 1. Configuration: settings and navigation.
  const config = await readConfig(usable);
  const settings = readSettings(config.value, config.file, report);
  const ignored = ignoreRules(await textOfFile(usable, '.mintignore'));
  const pageFiles = filesByPagePath(files, ignored, report);
  const pageAt = (named: string): string | undefined => {
    const candidates = [named, `${named}/index`, named.normalize('NFC'), named.normalize('NFD')];
    return candidates.find((path) => pageFiles.has(path));
  };
  const { nodes, places } = readNavigation(config.value['navigation'], config.file, pageAt, report);

  // 2. Sources: which are pages, which are snippets, what depends on what.
  const candidates = files.filter(({ path }) => {
    const kind = fileKind(path);
    return (kind === 'page' || kind === 'code') && (!ignored(path) || isNamed(path, pageFiles, places));
  });
  const sources = await readSources(
    usable,
    candidates.map(({ path }) => path),
    settings.variables,
    report,
  );
  refuseUndefinedVariables(sources, settings.variables);
  const importsOf = (path: string): readonly string[] => sources.get(path)?.imports ?? [];
  const imported = new Set([...sources.keys()].flatMap((path) => importsOf(path)));
  const isPage = (path: string): boolean =>
    fileKind(path) === 'page' &&
    pageFiles.get(pagePathOf(path)) === path &&
    (isNamed(path, pageFiles, places) || !(imported.has(path) || isInSnippetFolder(path)));
  reportCycles(sources, importsOf, report);

  // 3. Files that are carried as they are.
  const carried = files.filter(({ path }) => !ignored(path) && !config.files.includes(path));
  const ofKind = (kind: 'style' | 'script' | 'asset'): ProjectFile[] =>
    carried.filter(({ path }) => fileKind(path) === kind);
  const specs = await specsOf(usable, ofKind('asset'));
  const specPaths = specs.map(({ path }) => path);

  // 4. Pages.
  const pages: PageEntry[] = [];
  const links = new Map<string, NavigationNode>();
  for (const [file, source] of sources) {
    if (!isPage(file)) continue;
    const path = pagePathOf(file);
    const entry = pageEntry(path, source, places.get(path) ?? [], settings.seo.indexing, [
      ...reachableImports(file, importsOf),
      ...specsOfPage(source.frontmatter.data, specPaths),
    ]);
    const url = textOf(source.frontmatter.data['url']);
    if (url === undefined || !isSafeHref(url)) pages.push(entry);
    else
      links.set(
        path,
        present({ kind: 'link' as const, title: entry.sidebarTitle ?? entry.title, href: url, icon: entry.icon }),
      );
  }
  pages.sort((a, b) => (a.path < b.path ? -1 : 1));
  if (pages.length === 0) {
    const message = `The project has no pages. Add an .mdx file and name it in "navigation" of ${config.file}.`;
    throw new InvalidProject('no-pages', config.file, message);
  }
  const byPath = new Map(pages.map((page) => [page.path, page]));
  return {
    formatVersion: 1,
    settings,
    navigation: withTitles(nodes, byPath, links),
    pages,
    snippets: [...sources.values()]
      .filter(({ entry }) => imported.has(entry.path) || (isSource(entry.path) && !isPage(entry.path)))
      .map(({ entry: { path, sha256, sizeBytes } }) => {
        return { path, sha256, sizeBytes, dependencies: reachableImports(path, importsOf) };
      })
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    specs: specs.map((entry) => entryOf(entry)),
    assets: ofKind('asset').map((entry) => entryOf(entry)),
    styles: ofKind('style').map((entry) => entryOf(entry)),
    scripts: ofKind('script')
      .filter(({ path }) => !imported.has(path))
      .map((entry) => entryOf(entry)),
    redirects: readRedirects(config.value['redirects'], config.file, (path) => byPath.has(path), report),
    diagnostics: all(),
  };
}

const entryOf = ({ path, sha256, sizeBytes }: ProjectFile): ProjectFile => ({ path, sha256, sizeBytes });

const isInSnippetFolder = (path: string): boolean => /^_?snippets\//.test(path);

const isNamed = (path: string, pageFiles: ReadonlyMap<string, string>, places: ReadonlyMap<string, unknown>): boolean =>
  places.has(pagePathOf(path)) && pageFiles.get(pagePathOf(path)) === path;

type Config = { value: JsonObject; file: string; files: string[] };

async function readConfig(project: ProjectFiles): Promise<Config> {
  const file = ['docs.json', 'mint.json'].find((name) => project.files.some(({ path }) => path === name));
  if (file === undefined) {
    const message =
      'There is no docs.json (or mint.json) at the root of the project. Publish the folder that has it, or add one.';
    throw new InvalidProject('missing-config', 'docs.json', message);
  }
  const { value, files } = await resolveReferences(project, file);
  if (!isJsonObject(value)) throw new InvalidProject('bad-config', file, `${file} must be a JSON object.`);
  return { value: file === 'mint.json' ? docsFromMint(value) : value, file, files };
}

async function textOfFile(project: ProjectFiles, path: string): Promise<string> {
  const exists = project.files.some((entry) => entry.path === path);
  return exists ? decodeSource(await project.read(path), path).text : '';
}

/** Page path → file. Of `x.mdx` and `x.md` the first is the page. `x` and `x/index` may both be there, but readers find one of them. */
function filesByPagePath(
  files: readonly ProjectFile[],
  ignored: (path: string) => boolean,
  report: Report,
): Map<string, string> {
  const byPath = new Map<string, string>();
  for (const { path: file } of files) {
    if (fileKind(file) !== 'page') continue;
    const path = pagePathOf(file);
    const other = byPath.get(path);
    if (other !== undefined) {
      const message = `${quoted(other)} and ${quoted(file)} would be the same page; the .mdx file is. Rename or remove the other one.`;
      report({ severity: 'warning', code: 'page-collision', message, file });
    }
    if (other === undefined || file.endsWith('.mdx')) byPath.set(path, file);
  }
  for (const [path, file] of byPath) {
    const folder = path.endsWith('/index') ? path.slice(0, -'/index'.length) : undefined;
    const other = folder === undefined ? undefined : byPath.get(folder);
    if (other === undefined || ignored(file) || ignored(other)) continue;
    const message = `${quoted(other)} and ${quoted(file)} are both asked for at "/${folder}". Rename one of them.`;
    report({ severity: 'warning', code: 'page-collision', message, file });
  }
  return byPath;
}

function refuseUndefinedVariables(sources: ReadonlyMap<string, ReadSource>, variables: Record<string, string>): void {
  // Without any variables of its own a project that shows {{braces}} means another language's templates.
  if (Object.keys(variables).length === 0) return;
  for (const [file, { undefinedVariables }] of sources) {
    const [name] = undefinedVariables;
    if (name === undefined) continue;
    const message = `${file} uses {{${name}}}, which has no value. Add it to "variables" in docs.json, or write it as code.`;
    throw new InvalidProject('undefined-variable', file, message);
  }
}

function reportCycles(
  sources: ReadonlyMap<string, ReadSource>,
  importsOf: (path: string) => readonly string[],
  report: Report,
): void {
  for (const chain of importCycles([...sources.keys()].sort(), importsOf)) {
    const message = `These files import each other in a circle: ${chain.slice(0, 10).join(' → ')}. Break it; what is included again is left out.`;
    report({ severity: 'error', code: 'snippet-cycle', message, file: chain[0] ?? '' });
  }
}

async function specsOf(project: ProjectFiles, assets: readonly ProjectFile[]): Promise<ProjectFile[]> {
  const maybe = assets.filter(({ path }) => /\.(?:json|ya?ml)$/i.test(path));
  const checked = await Promise.all(
    maybe.map(async (entry) => (isSpec(await project.read(entry.path), entry.path) ? entry : undefined)),
  );
  return checked.filter((entry) => entry !== undefined);
}

function pageEntry(
  path: string,
  { entry, frontmatter, linkTargets }: ReadSource,
  places: readonly PagePlace[],
  indexing: 'navigable' | 'all',
  dependencies: string[],
): PageEntry {
  const { data } = frontmatter;
  const [place] = places;
  return present({
    path,
    file: entry.path,
    sha256: entry.sha256,
    sizeBytes: entry.sizeBytes,
    title: textOf(data['title']) ?? titleFromPath(path),
    sidebarTitle: textOf(data['sidebarTitle']),
    description: textOf(data['description']),
    icon: textOf(data['icon']),
    tag: textOf(data['tag']),
    deprecated: data['deprecated'] === true || data['deprecated'] === 'true',
    ...pageVisibility(data, places, indexing),
    groups: groupsOf(frontmatter.data, frontmatter.broken, frontmatter.raw),
    keywords: textsOf(data['keywords']).flatMap((text) => text.split(/\s*,\s*/)),
    language: place?.language,
    version: place?.version,
    frontmatter: data,
    dependencies: [...new Set(dependencies)].sort(),
    linkTargets,
  });
}

/** Who may see the page. What cannot be read closes the page instead of opening it to everyone. */
function groupsOf(data: JsonObject, broken: boolean, raw: string): string[] {
  if (broken) return /^\s*["']?groups["']?\s*:/m.test(raw) ? [UNREADABLE_GROUP] : [];
  const { groups } = data;
  if (groups === undefined || groups === null || (Array.isArray(groups) && groups.length === 0)) return [];
  const named = textsOf(groups);
  return named.length > 0 ? named : [UNREADABLE_GROUP];
}

/** Puts the titles of the pages into their places, and links where a page is nothing but one. */
function withTitles(
  nodes: readonly NavigationNode[],
  pages: ReadonlyMap<string, PageEntry>,
  links: ReadonlyMap<string, NavigationNode>,
): NavigationNode[] {
  return nodes.flatMap((node): NavigationNode[] => {
    if (node.kind === 'link') return [node];
    if (node.kind !== 'page') return [{ ...node, children: withTitles(node.children, pages, links) }];
    const link = links.get(node.path);
    const page = pages.get(node.path);
    if (link || !page) return link ? [link] : [];
    return [present({ ...node, title: page.sidebarTitle ?? page.title, icon: page.icon, tag: page.tag })];
  });
}
