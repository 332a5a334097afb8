import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { reachedNames } from '#shared/docs/project/imported-files.ts';
import { InvalidProject } from '#shared/docs/project/diagnostics.ts';
import { keptReadings } from '#shared/docs/project/kept-readings.ts';
import { unreadableGroup } from '#shared/docs/project/page-entry.ts';
import { extensionOf, type ProjectFile, type ProjectFiles } from '#shared/docs/project/project-files.ts';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import { readSources } from '#shared/docs/project/read-sources.ts';
import type { Reading } from '#shared/docs/project/readings.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { leftOutOperations } from '#shared/docs/render/left-out-operations.ts';
import { pageSlice, type RenderOptions, sharedInputs } from '#shared/docs/render/page-slice.ts';
import { wildcardRedirects, withWildcards } from '#shared/docs/render/redirects.ts';
import { pageFeed } from '#shared/docs/render/render-closing.ts';
import { searchHead, searchScopes } from '#shared/docs/render/search-index-files.ts';
import { isListed } from '#shared/docs/render/site/crawler-files.ts';
import { siteFiles, type SiteFiles } from '#shared/docs/render/site/render-site.ts';
import { indexAgain, type SiteIndex } from '#shared/docs/render/site-index.ts';
import { notFoundFile } from '#shared/export/bundle/bundle-names.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { findTarget } from './find-target.ts';
import {
  noReading,
  type PageToRender,
  type SearchPlan,
  type SiteAnswer,
  type SiteReading,
  type SiteRequest,
} from './site-questions.ts';

/** Makes a project of files that the parent can read. */
type Reader = (files: readonly ProjectFile[]) => ProjectFiles;

/** One readable version of the project. */
type Site = {
  model: SiteModel;
  index: SiteIndex;
  options: RenderOptions;
  /** Digest of everything that all pages share. */
  shared: { pages: string; navigation: string; others: string };
  /** Parts to leave out of API descriptions, by path. */
  leftOut: ReadonlyMap<string, readonly string[]>;
  wildcard: ReturnType<typeof wildcardRedirects>;
  /** Texts that reading the project made, by their digests. */
  made: ReadonlyMap<string, string>;
};

const contentVersion = `cv_${'0'.repeat(32)}`;
/** Number of pages in a part of the search index. Small parts arrive while others are rendered. */
const searchPartPages = 40;

/**
 * The model of a site while its author writes. It reads the project as a publication does, with the readings of the last time. If only the text of
 * pages and snippets changed, the model gets their new digests and is not read again, because nothing else in it depends on their text.
 */
export function liveSite() {
  const files = new Map<string, ProjectFile>();
  const readings = keptReadings();
  let site: Site | undefined;
  /** The files of the site itself, each made when a browser asks for it. */
  let madeFiles: ReturnType<typeof lazyFiles> | undefined;
  let last: SiteReading = noReading;

  async function readAll(reader: Reader, changed: ReadonlySet<string>): Promise<SiteReading> {
    const before = site;
    const made = new Map<string, string>();
    const keep = async ({ sha256, text }: { sha256: string; text: string }): Promise<void> =>
      void made.set(sha256, text);
    try {
      const project = await readDocsProject(reader([...files.values()]), keep, readings);
      readings.dropUnused();
      const model = { ...project, contentVersion };
      const groups = groupsOf(model);
      const options: RenderOptions = {
        groups,
        onPageError: 'fail',
        allowTenantScripts: true,
        deployment: 'client-hosted',
      };
      const index = indexAgain(model, groups, before?.index);
      const shared = sharedDigest(index, options, before);
      site = {
        ...{ model, index, options, shared, made },
        leftOut: leftOutOperations(model, groups),
        wildcard: wildcardRedirects(withWildcards(model.redirects)),
      };
      const isSiteChanged = JSON.stringify(before?.shared) !== JSON.stringify(shared);
      if (isSiteChanged) madeFiles = undefined;
      return {
        revision: last.revision + 1,
        pages: index.exported.size,
        affected: isSiteChanged ? index.exported.size : pagesWith(index, changedNames(before, site, changed)),
        isSiteChanged,
        diagnostics: model.diagnostics,
        hasSite: true,
        colors: model.settings.colors,
      };
    } catch (error) {
      if (!(error instanceof InvalidProject)) throw error;
      const { code, file, message } = error;
      return {
        ...last,
        ...{ revision: last.revision + 1, affected: 0, isSiteChanged: false, diagnostics: [] },
        invalid: { code, file, message },
      };
    }
  }

  /** Changes the model for pages and snippets whose text alone changed. False if the project has to be read again. */
  async function readTexts(reader: Reader, changed: readonly ProjectFile[]): Promise<boolean> {
    if (site === undefined || last.invalid !== undefined || !changed.every(({ path }) => isText(path))) return false;
    const { model, index } = site;
    const { variables } = model.settings;
    const before = new Map(changed.map(({ path }) => [path, readings.source(path)]));
    const project = reader([...files.values()]);
    const paths = changed.map(({ path }) => path);
    const found: Diagnostic[] = [];
    await readSources(project, paths, variables, (diagnostic) => found.push(diagnostic), readings);
    const pageOf = new Map(changed.length < 2 ? [] : model.pages.map((page) => [page.file, page]));
    const patches: (() => void)[] = [];
    for (const { path, sha256, sizeBytes } of changed) {
      const [old, now] = [before.get(path), readings.source(path)];
      if (old === undefined || now === undefined || !isSameOutside(old, now)) return false;
      const page = pageOf.get(path) ?? model.pages.find(({ file }) => file === path);
      const snippet = index.dependencies.get(path);
      if (page === undefined && snippet === undefined) return false;
      patches.push(() => {
        // A page may keep targets that are gone: they are only looked up.
        if (page) Object.assign(page, { sha256, sizeBytes, linkTargets: union(page.linkTargets, now.linkTargets) });
        if (snippet) Object.assign(snippet, { sha256, sizeBytes, linkTargets: now.linkTargets });
        const gone = new Set(old.diagnostics.map((each) => JSON.stringify(each)));
        const kept = model.diagnostics.filter((each) => each.file !== path || !gone.has(JSON.stringify(each)));
        model.diagnostics.splice(0, model.diagnostics.length, ...kept, ...now.diagnostics);
      });
    }
    for (const patch of patches) patch();
    last = {
      ...last,
      revision: last.revision + 1,
      affected: pagesWith(index, new Set(paths)),
      isSiteChanged: false,
      diagnostics: model.diagnostics,
    };
    return true;
  }

  async function change(
    { files: changed, gone }: Extract<SiteRequest, { kind: 'change' }>,
    reader: Reader,
  ): Promise<SiteReading> {
    const isNew = changed.some(({ path }) => !files.has(path));
    for (const file of changed) files.set(file.path, file);
    for (const path of gone) files.delete(path);
    if (gone.length === 0 && !isNew && (await readTexts(reader, changed))) return last;
    return (last = await readAll(reader, new Set([...changed.map(({ path }) => path), ...gone])));
  }

  const filesOfSite = ({ options, index }: Site): ReturnType<typeof lazyFiles> => {
    madeFiles ??= lazyFiles(siteFiles(index, { ...options, domain: 'preview' }));
    return madeFiles;
  };

  const pageOf = ({ index, options, made }: Site, path: string): PageToRender => {
    const slice = pageSlice(index, path, options);
    const own = slice.dependencies.flatMap(({ path: name, sha256 }) => {
      const text = made.get(sha256);
      return text === undefined ? [] : [[name, text] as const];
    });
    const source = made.get(slice.sha256);
    return { slice, made: Object.fromEntries(source === undefined ? own : [...own, [slice.file, source]]) };
  };

  function find(target: string): SiteAnswer {
    if (site === undefined) return { kind: 'no-site' };
    const now = site;
    const found = findTarget(target, { index: now.index, wildcard: now.wildcard, files: () => filesOfSite(now) });
    switch (found.kind) {
      case 'page':
        return { kind: 'of-page', path: found.path, page: pageOf(now, found.page) };
      case 'file': {
        const leftOut = now.leftOut.get(found.path);
        return { ...found, ...(leftOut !== undefined && { leftOut }) };
      }
      case 'made':
        return { ...found, body: filesOfSite(now).get(found.path) ?? new Uint8Array() };
      case 'missing':
        return { ...found, notFound: filesOfSite(now).get(notFoundFile) ?? new Uint8Array() };
      default:
        return found;
    }
  }

  function search({ model, index }: Site): SearchPlan {
    const pages = model.pages.filter(({ path }) => index.exported.has(path));
    const scopes = searchScopes(index.pages, pages);
    const parts = [...scopes.values()].flatMap((found) => {
      const paths = found.map(({ path }) => path);
      return Array.from({ length: Math.ceil(paths.length / searchPartPages) }, (_, at) =>
        paths.slice(at * searchPartPages, (at + 1) * searchPartPages),
      );
    });
    const counts = parts.map((paths) => paths.length);
    return { head: searchHead(index.pages, index.places, scopes, counts), parts };
  }

  return {
    /** The model that answers are made of; undefined before a version of the project was readable. */
    current: (): Pick<Site, 'model' | 'index' | 'made'> | undefined => site,
    async answer(asked: SiteRequest, reader: Reader): Promise<unknown> {
      switch (asked.kind) {
        case 'load':
          files.clear();
          for (const file of asked.files) files.set(file.path, file);
          return (last = await readAll(reader, new Set()));
        case 'change':
          return change(asked, reader);
        case 'find':
          return find(asked.target);
        case 'pages': {
          const now = site;
          return asked.paths.map((path) => (now?.index.exported.has(path) === true ? pageOf(now, path) : null));
        }
        case 'site-files':
          return site === undefined ? [] : filesOfSite(site).digests();
        case 'search':
          return site === undefined ? { head: '', parts: [] } : search(site);
        case 'feed':
          return site === undefined ? '' : pageFeed(site.model, asked.page);
        case 'listed': {
          const now = site;
          if (now === undefined) return [];
          const { pages, settings } = now.model;
          return pages
            .filter((page) => now.index.exported.has(page.path) && isListed(page, settings.seo.indexing))
            .map(({ path }) => path);
        }
      }
    },
  };
}

/** Files of a site by path, each made once. */
function lazyFiles({ ofPages, others }: SiteFiles) {
  const made = new Map<string, Uint8Array>();
  let all: ReadonlyMap<string, () => string> | undefined;
  const makerOf = (path: string): (() => string) | undefined => ofPages.get(path) ?? (all ??= others()).get(path);
  const get = (path: string): Uint8Array | undefined => {
    const make = made.has(path) ? undefined : makerOf(path);
    if (make !== undefined) made.set(path, Buffer.from(make()));
    return made.get(path);
  };
  return {
    get,
    has: (path: string) => makerOf(path) !== undefined,
    /** Names and digests of the files that open pages may show. */
    digests: () => Array.from(ofPages.keys(), (path) => [path, sha256Of(get(path) ?? '')] as const),
  };
}

/** Digest of everything that pages share. The parts that are the same objects as before are not read again, because they are most of it. */
function sharedDigest(index: SiteIndex, options: RenderOptions, before: Site | undefined): Site['shared'] {
  const { navigation, pages, exported, ...others } = sharedInputs(index, options);
  const known = before?.index;
  const isSame = known?.model.pages === index.model.pages && known.exported === index.exported;
  const digest = (value: unknown): string => sha256Of(JSON.stringify(value));
  return {
    pages: isSame && before !== undefined ? before.shared.pages : digest([pages, exported]),
    navigation:
      before !== undefined && known?.model.navigation === index.model.navigation
        ? before.shared.navigation
        : digest(navigation),
    others: digest(others),
  };
}

/** The groups of all pages: an author sees every page, as in an export for all groups. */
const groupsOf = ({ pages }: SiteModel): string[] =>
  [...new Set(pages.flatMap(({ groups }) => groups))].filter((group) => group !== unreadableGroup).sort();

/** True for pages and snippets. Other scripts may be part of every page. */
const isText = (path: string): boolean => ['mdx', 'md', 'jsx', 'tsx'].includes(extensionOf(path));

/** True if nothing of the reading differs on which more of the model depends than the file's own entry. */
function isSameOutside(a: Reading<'source'>, b: Reading<'source'>): boolean {
  if (b.undefinedVariables.length > 0) return false;
  const outside = ({ linkTargets: _1, diagnostics: _2, variables: _3, ...others }: Reading<'source'>): string =>
    JSON.stringify(others);
  return outside(a) === outside(b);
}

const union = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])].sort();

/** Names of the files whose content differs, with the parts of API descriptions that pages show. */
function changedNames(before: Site | undefined, after: Site, changed: ReadonlySet<string>): Set<string> {
  const digests = new Map(before?.model.operations?.map(({ path, sha256 }) => [path, sha256]));
  const operations = (after.model.operations ?? []).filter(({ path, sha256 }) => digests.get(path) !== sha256);
  return new Set([...changed, ...operations.map(({ path }) => path)]);
}

/** The number of pages of an export that are made of these files, or include them. */
function pagesWith(index: SiteIndex, names: ReadonlySet<string>): number {
  let count = 0;
  for (const path of index.exported) {
    const page = index.pages.get(path);
    if (page === undefined) continue;
    const has = (name: string): boolean => names.has(name);
    if (has(page.file) || (page.dependencies.length > 0 && reaches(index, page.dependencies, has))) count += 1;
  }
  return count;
}

const reaches = (index: SiteIndex, dependencies: readonly string[], has: (name: string) => boolean): boolean =>
  [...reachedNames(index.dependencies, dependencies)].some(has);
