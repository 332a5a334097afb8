import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import { byPath } from '#shared/export/bundle/archive-names.ts';
import { reportedFiles } from './bundled-files.ts';
import { diagnosticList, InvalidProject, type Report } from './diagnostics.ts';
import { ignoreRules } from './ignore-rules.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { jsonCopy, textOf } from './json-values.ts';
import { isSafeHref } from './url-policy.ts';
import { pageEntry, unreadableGroup } from './page-entry.ts';
import { importsOfPages } from './page-imports.ts';
import {
  type FileKind,
  fileKind,
  filesByPagePath,
  isSource,
  isTooLarge,
  isSpec,
  mayBeSpec,
  pagePathOf,
  type ProjectFile,
  type ProjectFiles,
  sniffedBytes,
  usableFiles,
} from './project-files.ts';
import { checkIcons } from './read-icons.ts';
import { pictureSizes } from './picture-size.ts';
import { namedFiles } from './named-files.ts';
import { readFonts } from './read-fonts.ts';
import { readConfig, readIgnoreFile } from './read-config.ts';
import { readNavigation, withTitles } from './read-navigation.ts';
import { readRedirects } from './read-redirects.ts';
import { checkPictures, readSettings } from './read-settings.ts';
import { readAgentSkills } from './read-agent-skills.ts';
import { readAssistantGuidance } from './read-assistant-guidance.ts';
import { readSynonyms } from './read-synonyms.ts';
import { importCycles, type ReadSource, readSources } from './read-sources.ts';
import { openReadings, type Readings } from './readings.ts';
import type { NavigationNode, PageEntry, SiteModel } from './site-model.ts';
import { maxSpecificationBytes } from '#shared/docs/reference/specification-limits.ts';
import {
  reportFrontmatterWithoutEffect,
  reportSettingsWithoutEffect,
} from '#shared/docs/format/report-without-effect.ts';
import { isRemoteFile, lockFile } from '#shared/docs/reference/remote-files.ts';
import {
  type MadeFile,
  type MadePage,
  openSiteReference,
  type PageReference,
} from '#shared/docs/reference/site-reference.ts';

/** A site model before its content version is known. */
export type DocsProject = Omit<SiteModel, 'contentVersion'>;

/**
 * Reads a docs project (`docs.json` or `mint.json` at its root, pages in MDX and Markdown) into its site model. The result does not depend on the
 * order of the files. `keep` gets the files that are made for pages: the model names them by their hashes. The result does not depend on `readings`
 * either, which make it unnecessary to read files that an earlier version had. Throws `InvalidProject` if there is nothing to publish; every other
 * problem is in `diagnostics`.
 */
export async function readDocsProject(
  project: ProjectFiles,
  keep: (made: MadeFile) => Promise<void> = () => Promise.resolve(),
  readings: Readings = openReadings(undefined, ''),
): Promise<DocsProject> {
  const { report, all } = diagnosticList();
  const { files, names } = usableFilesOf(project.files, readings, report);
  const usable: ProjectFiles = { files, read: (path, maxBytes) => project.read(path, maxBytes) };

  // 1. Configuration: settings and navigation.
  const config = await readConfig(usable);
  const settings = readSettings(config.value, config.file, report);
  reportSettingsWithoutEffect(config.value, config.file, report);
  const ignoreText = await readIgnoreFile(usable);
  const { pageFiles, pathOf, kinds, ignored } = readings.step(
    'files',
    '',
    [names, ignoreText],
    (told) => sortedOut(files, ignoreText, told),
    report,
  );
  const pageAt = (named: string): string | undefined => {
    if (pageFiles.has(named)) return named;
    const candidates = [`${named}/index`, named.normalize('NFC'), named.normalize('NFD')];
    return candidates.find((path) => pageFiles.has(path));
  };
  const isOfSite = (path: string): boolean => path !== lockFile && !config.files.includes(path) && !isRemoteFile(path);
  const ofKind = (kind: 'style' | 'script' | 'asset'): ProjectFile[] =>
    files.filter(({ path }, at) => kinds[at] === kind && !ignored[at] && isOfSite(path));
  const carried = { assets: ofKind('asset'), styles: ofKind('style'), scripts: ofKind('script') };
  const specs = await specsOf(usable, carried.assets, readings);
  const reference = await openSiteReference(
    usable,
    specs,
    { api: settings.api, files: config.files },
    (path) => pageFiles.has(path),
    report,
  );
  const { nodes, places, addOperations } = readNavigation(
    config.value['navigation'],
    config.file,
    pageAt,
    report,
    reference,
  );

  // 2. Sources: pages, snippets, and the dependencies between them.
  const isNamed = (path: string): boolean => {
    const page = pathOf.get(path);
    return page !== undefined && places.has(page);
  };
  const candidates = files.filter(({ path }, at) => {
    const kind = kinds[at];
    return (kind === 'page' || kind === 'code') && (ignored[at] !== true || isNamed(path));
  });
  const read = await readSources(
    usable,
    candidates.map(({ path }) => path),
    settings.variables,
    report,
    readings,
  );
  const sources = readings.step('sources', '', [...read.values()], () => read);
  refuseUndefinedVariables(sources, settings.variables);
  const importsOf = (path: string): readonly string[] => sources.get(path)?.imports ?? [];
  const imported = readings.step(
    'imported',
    '',
    [sources],
    () => new Set([...sources.keys()].flatMap((path) => importsOf(path))),
  );
  const isPage = (path: string): boolean =>
    pathOf.has(path) && (isNamed(path) || !(imported.has(path) || isInSnippetFolder(path)));
  readings.step('cycles', '', [sources], (told) => reportCycles(sources, importsOf, told), report);

  // 3. Files that are copied unchanged.
  const scripts = carried.scripts.filter(({ path }) => !imported.has(path));

  // 4. Pages.
  const shown = new Map<string, PageReference>();
  const noted = (found: PageReference | undefined): PageReference | undefined => {
    if (found) shown.set(found.entry.path, found);
    return found;
  };
  const pageSources = [...sources].filter(([file]) => isPage(file));
  /** The pages with their files, in the same list as the last time if it has the same members. */
  const sourcesOfPages = readings.step(
    'pages',
    '',
    pageSources.map(([, source]) => source),
    () => pageSources.map(([file, source]) => ({ file, path: pagePathOf(file), source })),
  );
  const written = new Map<string, PageReference>();
  for (const { file, path, source } of sourcesOfPages) {
    const found = noted(reference.ofFrontmatter(source.frontmatter, file, places.get(path)?.[0]?.source));
    if (found !== undefined) written.set(path, found);
  }
  const frontmatters = () => sourcesOfPages.map(({ file, source }) => [file, source.frontmatter] as const);
  const tellOfFrontmatter = (told: Report): void => reportFrontmatterWithoutEffect(frontmatters(), told);
  readings.step('frontmatter', '', [sourcesOfPages], tellOfFrontmatter, report);
  addOperations((path) => written.get(path)?.file);
  const found: PageEntry[] = [];
  const links = new Map<string, NavigationNode>();
  const hiddenLinks = new Set<string>();
  const filesOfPages = () => sourcesOfPages.map(({ file }) => file);
  const imports = readings.step('imports', '', [sourcesOfPages, sources], () =>
    importsOfPages(filesOfPages(), sources),
  );
  const { indexing } = settings.seo;
  for (const { file, path, source } of sourcesOfPages) {
    const { dependencies = [], linkTargets = [] } = imports.get(file) ?? {};
    const around = places.get(path) ?? [];
    const shownPart = written.get(path);
    const inputs: unknown[] = [source, indexing, shownPart && JSON.stringify(shownPart), dependencies.length];
    for (const { hidden, searchable, language, version } of around) inputs.push(hidden, searchable, language, version);
    // The lists of a page without imports follow from its source, which is an input already.
    if (dependencies.length > 0) inputs.push(...dependencies, ...linkTargets);
    const entry = readings.step('page', path, inputs, () =>
      jsonCopy(pageEntry(path, { ...source, linkTargets }, around, indexing, dependencies, shownPart)),
    );
    if (entry.groups.includes(unreadableGroup)) report(closedPage(file));
    const url = textOf(source.frontmatter['url']);
    if (url === undefined || !isSafeHref(url)) found.push(entry);
    else if (entry.groups.length > 0) report(closedLink(file));
    else {
      if (entry.hidden) hiddenLinks.add(path);
      links.set(path, {
        kind: 'link' as const,
        title: entry.sidebarTitle ?? entry.title,
        href: url,
        icon: entry.icon,
      });
    }
  }
  for (const made of reference.pages.values()) {
    noted(made);
    found.push(jsonCopy(madeEntry(made, places.get(made.path) ?? [], indexing)));
  }
  const carriedFiles = [...carried.assets, ...carried.styles, ...scripts];
  const { pages, files: named } = bundledFilesOf(found.sort(byPath), carriedFiles, readings, report);
  const hasName = new Set(named);
  const entriesOf = (list: readonly ProjectFile[]) => list.filter((file) => hasName.has(file)).map(entryOf);
  if (pages.length === 0) {
    const message = `The project has no pages. Add an .mdx file and name it in "navigation" of ${config.file}.`;
    throw new InvalidProject('no-pages', config.file, message);
  }
  const pageOf = new Map(pages.map((page) => [page.path, page]));
  const navigation = withTitles(nodes, pageOf, new Map([...links].filter(([path]) => !hiddenLinks.has(path))));
  const carriedPaths = new Set(carriedFiles.map(({ path }) => path));
  const assets = entriesOf(carried.assets);
  const pictures = await pictureSizes(assets, usable, (file, make) => readings.of('picture', file, make));
  for (const made of reference.files()) await keep(made);
  const withStyles = [...named, ...files.filter(({ path }) => isRemoteFile(path))];
  const fonts = await readFonts(config.value['fonts'], config.file, { ...usable, files: withStyles }, report);
  checkPictures(settings, config.file, (path) => carriedPaths.has(path), report);
  checkIcons({ settings, navigation, pages }, config.file, (path) => carriedPaths.has(path), report);
  return {
    formatVersion: 1,
    settings: jsonCopy({ ...settings, fonts }),
    navigation: readings.step('navigation', '', [JSON.stringify(navigation)], () => jsonCopy(navigation)),
    pages: readings.step('entries', '', pages, () => pages),
    snippets: [...sources.values()]
      .filter(({ entry }) => imported.has(entry.path) || (!isPage(entry.path) && isSource(entry.path)))
      .map(({ entry: { path, sha256, sizeBytes }, imports: dependencies, linkTargets }) => {
        // The entry has direct names only: otherwise each file in a chain of imports would list all files after it.
        return { path, sha256, sizeBytes, dependencies, linkTargets };
      })
      .sort(byPath),
    ...jsonCopy<Omit<DocsProject, 'formatVersion' | 'settings' | 'navigation' | 'pages' | 'snippets'>>({
      specs: specs.map(entryOf),
      operations: [...shown.values()].map(({ entry }) => entry).sort(byPath),
      assets: assets.map((file) => ({ ...file, picture: pictures.get(file.path) })),
      styles: entriesOf(carried.styles),
      scripts: entriesOf(scripts),
      namedFiles: await namedFiles(named, usable),
      synonyms: readSynonyms(config.value['search'], config.file, report),
      guidance: await readAssistantGuidance(usable, report),
      agentSkills: await readAgentSkills(usable, report),
      redirects: [
        ...readRedirects(config.value['redirects'], config.file, (path) => pageOf.has(path), report),
        ...redirectsOf(links),
      ],
      diagnostics: all(),
    }),
  };
}

/** The usable files, and the digest of the names of all files: as long as it is the same, so is everything that only names decide. */
function usableFilesOf(
  all: readonly ProjectFile[],
  readings: Readings,
  report: Report,
): { files: ProjectFile[]; names: string } {
  const sorted = all.toSorted(byPath);
  const names = sha256Of(JSON.stringify(sorted.map((file) => (isTooLarge(file) ? [file.path] : file.path))));
  const leftOut = readings.step(
    'usable',
    '',
    [names],
    (told) => {
      const usable = new Set(usableFiles(sorted, told));
      return new Set(sorted.flatMap((file, at) => (usable.has(file) ? [] : [at])));
    },
    report,
  );
  return { files: leftOut.size === 0 ? sorted : sorted.filter((_file, at) => !leftOut.has(at)), names };
}

/** Kinds of files by their places in the list, pages by their paths, and paths of pages by their files. */
type SortedFiles = {
  kinds: FileKind[];
  ignored: boolean[];
  pageFiles: ReadonlyMap<string, string>;
  pathOf: ReadonlyMap<string, string>;
};

function sortedOut(files: readonly ProjectFile[], ignoreText: string, report: Report): SortedFiles {
  const isIgnored = ignoreRules(ignoreText);
  const pageFiles = filesByPagePath(files, isIgnored, report);
  return {
    kinds: files.map(({ path }) => fileKind(path)),
    ignored: files.map(({ path }) => isIgnored(path)),
    pageFiles,
    pathOf: new Map([...pageFiles].map(([path, file]) => [file, path])),
  };
}

/** `reportedFiles` for lists in which only names decide. */
function bundledFilesOf(
  pages: readonly PageEntry[],
  files: readonly ProjectFile[],
  readings: Readings,
  report: Report,
): { pages: PageEntry[]; files: ProjectFile[] } {
  const names = [pages.map(({ path, file }) => [path, file]), files.map(({ path }) => path)];
  const leftOut = readings.step(
    'bundled',
    '',
    [sha256Of(JSON.stringify(names))],
    (told) => {
      const bundled = reportedFiles(pages, files, told);
      const has = new Set<PageEntry | ProjectFile>([...bundled.pages, ...bundled.files]);
      return new Set([...pages, ...files].flatMap((each, at) => (has.has(each) ? [] : [at])));
    },
    report,
  );
  return {
    pages: pages.filter((_page, at) => !leftOut.has(at)),
    files: files.filter((_file, at) => !leftOut.has(pages.length + at)),
  };
}

const closedPage = (file: string): Finding => ({
  severity: 'warning',
  code: 'groups-not-read',
  message:
    'Nobody can see this page: the groups in its frontmatter cannot be read. Write them as "groups: [staff, admins]".',
  file,
});

/** Everyone sees the navigation and the redirects, and a link has no page that could be restricted to groups. */
const closedLink = (file: string): Finding => ({
  severity: 'warning',
  code: 'link-of-groups',
  message: 'This link is left out, because only pages can be restricted to groups. Put it on a page of these groups.',
  file,
});

/** The entry of a page that is made from a specification. */
function madeEntry(
  made: MadePage,
  places: Parameters<typeof pageEntry>[2],
  indexing: Parameters<typeof pageEntry>[3],
): PageEntry {
  const { path, file, frontmatter, source } = made;
  const entry = { path: file, sha256: source.sha256, sizeBytes: Buffer.byteLength(source.text) };
  const read = { entry, frontmatter, groupsUnreadable: false, imports: [], linkTargets: [], undefinedVariables: [] };
  return pageEntry(path, read, places, indexing, [], made);
}

/** Redirects for pages that are only a link: a link to such a page leads to its target. */
const redirectsOf = (links: ReadonlyMap<string, NavigationNode>): SiteModel['redirects'] =>
  [...links].flatMap(([path, node]) =>
    node.kind === 'link' ? [{ source: `/${path}`, destination: node.href, permanent: false }] : [],
  );

const entryOf = ({ path, sha256, sizeBytes }: ProjectFile): ProjectFile => ({ path, sha256, sizeBytes });

const isInSnippetFolder = (path: string): boolean => /^_?snippets\//.test(path);

function refuseUndefinedVariables(sources: ReadonlyMap<string, ReadSource>, variables: Record<string, string>): void {
  // In a project without variables, `{{braces}}` belong to templates of another language.
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
    const message = `These files import each other in a circle: ${chain.slice(0, 10).join(' → ')}. Break the circle; the repeated import is left out.`;
    report({ severity: 'error', code: 'snippet-cycle', message, file: chain[0] ?? '' });
  }
}

async function specsOf(
  project: ProjectFiles,
  assets: readonly ProjectFile[],
  readings: Readings,
): Promise<ProjectFile[]> {
  const specs: ProjectFile[] = [];
  for (const entry of assets) {
    const { path } = entry;
    if (!/\.(?:json|ya?ml)$/i.test(path)) continue;
    const isDescription = await readings.of('description', entry, async () => {
      const start = (await project.read(path, sniffedBytes)).subarray(0, sniffedBytes);
      if (isSpec(start, path)) return true;
      return mayBeSpec(start, path) && isSpec(await project.read(path, maxSpecificationBytes), path);
    });
    if (isDescription) specs.push(entry);
  }
  return specs;
}
