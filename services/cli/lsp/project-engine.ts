import { LRUCache } from 'lru-cache';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { ProjectFile, ProjectFiles } from '#shared/docs/project/project-files.ts';
import { fileKind } from '#shared/docs/project/project-files.ts';
import type { PageEntry } from '#shared/docs/project/site-model.ts';
import { reachedNames } from '#shared/docs/project/imported-files.ts';
import { pagesOfAnchors, siteFindings } from '#shared/docs/findings/site-findings.ts';
import { type CheckedPage, checkedPages } from '#shared/docs/render/checked-page.ts';
import { pageSlice } from '#shared/docs/render/page-slice.ts';
import { indexSite, type SiteIndex } from '#shared/docs/render/site-index.ts';
import { lockFile, stemOf } from '#shared/docs/reference/remote-files.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { type CheckFinding, checkRenderOptions, findingsOfPages, once } from '../check/check-folder.ts';
import { withPlace } from '../check/print-findings.ts';
import { lockedFiles, lockedParts, noParts } from '../remote/remote-parts.ts';
import { devFiles, type DevFiles, type FilesChange } from '../dev/dev-files.ts';
import { liveSite } from '../dev/live-site.ts';
import { invalidProblem } from '../dev/page-problems.ts';
import type { SiteReading } from '../dev/site-questions.ts';
import { linksIn, renameEdits } from './project-links.ts';
import type { FileLink, ProjectAnswers, ProjectChange, ProjectOutline, ProjectQuestion } from './project-questions.ts';

/** Limit of pages that are rendered because they depend on an open document, so that one change of a page with a thousand links stays cheap. */
const mostDependents = 40;
/** Number of rendered pages whose facts are kept. The facts of a page take some kilobytes. */
const keptPages = 2_000;
const whole = Number.MAX_SAFE_INTEGER;

/**
 * A project with the texts of open documents in place of their files, read and checked by the code of `bindery dev` and `bindery check`. `alive` is
 * called before each page that is rendered. Nothing is fetched: of the files that the project names by address, those of its lock that are in
 * `partsFolder` are used, by default the user's cache.
 */
export function projectEngine(alive: (page?: { file: string; digest: string }) => void, partsFolder?: string) {
  const site = liveSite();
  const texts = new Map<string, { bytes: Uint8Array; file: ProjectFile; text: string }>();
  const kept = new LRUCache<string, CheckedPage>({ max: keptPages });
  /** Digests of sources that are not rendered. */
  let skipped: ReadonlySet<string> = new Set();
  let disk: DevFiles | undefined;
  let root = '';
  /** The files that the project names by address, and findings about those that its lock has and this machine has not. */
  let remote = noParts;
  let reading: SiteReading | undefined;
  let index: { of: unknown; revision: number; index: SiteIndex } | undefined;
  let outlined = '';
  /** The anchors of open pages as they were when they were opened: pages that link to them are checked again only if these change. */
  const anchorsBefore = new Map<string, string>();

  const read = async (path: string, maxBytes: number): Promise<Uint8Array> =>
    texts.get(path)?.bytes.subarray(0, maxBytes) ?? (await filesOf().read(path, maxBytes));
  const reader = (files: readonly ProjectFile[]): ProjectFiles => ({ files, read });

  function filesOf(): DevFiles {
    if (disk === undefined) throw new Error('The project is not open.');
    return disk;
  }

  async function open(folder: string): Promise<void> {
    root = folder;
    disk = await devFiles(folder, await lockedFiles(folder, partsFolder));
    const files = disk.files.filter(({ path }) => !texts.has(path));
    const request = { files: [...files, ...[...texts.values()].map(({ file }) => file)], read: disk.takeRead() };
    reading = (await site.answer({ kind: 'load', ...request }, reader)) as SiteReading;
    remote = await lockedParts(reader(filesNow()), root, partsFolder);
  }

  const filesNow = (): ProjectFile[] => [
    ...filesOf().files.filter(({ path }) => !texts.has(path)),
    ...[...texts.values()].map(({ file }) => file),
  ];

  /** Takes over the files of a lock that another program has written. */
  async function bringLocked(): Promise<FilesChange> {
    remote = await lockedParts(reader(filesNow()), root, partsFolder);
    return filesOf().bring(remote.files);
  }

  async function change({ texts: written, disk: names }: ProjectChange): Promise<void> {
    const looks = [names === undefined ? await filesOf().lookAtAll() : await filesOf().look(names)];
    if (names === undefined || names.includes(lockFile)) looks.push(await bringLocked());
    const found = { changed: looks.flatMap((one) => one.changed), gone: looks.flatMap((one) => one.gone) };
    const changed = new Map(found.changed.filter(({ path }) => !texts.has(path)).map((file) => [file.path, file]));
    const gone = new Set(found.gone.map(({ path }) => path).filter((path) => !texts.has(path)));
    for (const [path, text] of written) {
      const before = texts.get(path)?.file.sha256;
      if (text === undefined) {
        texts.delete(path);
        anchorsBefore.delete(path);
        const file = filesOf().files.find((one) => one.path === path);
        if (file === undefined) gone.add(path);
        else if (file.sha256 !== before) changed.set(path, file);
        continue;
      }
      const bytes = Buffer.from(text);
      const file = { path, sha256: sha256Of(bytes), sizeBytes: bytes.length };
      const isSame = (before ?? filesOf().files.find((one) => one.path === path)?.sha256) === file.sha256;
      texts.set(path, { bytes, file, text });
      if (!isSame) changed.set(path, file);
    }
    if (changed.size === 0 && gone.size === 0) return;
    reading = (await site.answer(
      { kind: 'change', files: [...changed.values()], gone: [...gone] },
      reader,
    )) as SiteReading;
  }

  /** The index of the pages that a check covers: those that need no group. */
  function indexNow(): SiteIndex | undefined {
    const now = site.current();
    if (now === undefined || reading === undefined) return undefined;
    if (now.model.pages.every(({ groups }) => groups.length === 0)) return now.index;
    const { revision } = reading;
    if (index?.of !== now.model || index.revision !== revision)
      index = { of: now.model, revision, index: indexSite(now.model) };
    return index.index;
  }

  async function textOf(path: string, sha256: string): Promise<string> {
    const made = site.current()?.made.get(sha256);
    return made ?? Buffer.from(await read(path, whole).catch(() => new Uint8Array())).toString();
  }

  async function rendered(at: SiteIndex, path: string): Promise<CheckedPage> {
    const slice = pageSlice(at, path, checkRenderOptions);
    const key = sha256Of(JSON.stringify(slice));
    const known = kept.get(key);
    if (known !== undefined) return known;
    const { file, sha256 } = slice;
    const source = site.current()?.made.get(sha256) ?? (await read(file, whole).catch(() => new Uint8Array()));
    const pairs = slice.dependencies.map(async (one) => [one.path, await textOf(one.path, one.sha256)] as const);
    const own = Object.fromEntries(await Promise.all(pairs)) as Record<string, string>;
    if (skipped.has(sha256)) return hanging(path, file);
    alive({ file, digest: sha256 });
    const [page] = checkedPages({ pages: [{ slice, source }], texts: own, options: checkRenderOptions });
    alive();
    if (page === undefined) throw new Error(`${path} was not rendered.`);
    kept.set(key, page);
    return page;
  }

  async function renderedAll(at: SiteIndex, paths: Iterable<string>): Promise<CheckedPage[]> {
    const pages: CheckedPage[] = [];
    for (const path of paths) pages.push(await rendered(at, path));
    return pages;
  }

  /** The pages whose bytes depend on a snippet. */
  function pagesIncluding(at: SiteIndex, file: string): string[] {
    const found: string[] = [];
    for (const path of at.exported) {
      const page = at.pages.get(path);
      if (page === undefined || page.dependencies.length === 0) continue;
      if (page.dependencies.includes(file) || reachedNames(at.dependencies, page.dependencies).has(file))
        found.push(path);
      if (found.length >= mostDependents) break;
    }
    return found;
  }

  const pagesLinkingTo = (at: SiteIndex, path: string): PageEntry[] => {
    const names = new Set([`/${path}`, ...(path === 'index' ? ['/'] : [`/${path.replace(/\/index$/, '')}`])]);
    return [...at.pages.values()].filter(({ linkTargets }) => linkTargets.some((target) => names.has(target)));
  };

  async function findings(open: readonly string[]): Promise<ProjectAnswers['findings']> {
    const now = site.current();
    const at = indexNow();
    const wanted = new Set(open);
    const configFile =
      filesOf().files.some(({ path }) => path === 'docs.json') || texts.has('docs.json') ? 'docs.json' : 'mint.json';
    wanted.add(configFile);
    const found: CheckFinding[] = [];
    const invalid = reading?.invalid;
    if (invalid !== undefined) {
      // The project cannot be read, but its pages are checked as of its last readable version.
      found.push({ finding: invalidProblem(invalid) });
      if (invalid.file !== '') wanted.add(invalid.file);
    }
    if (now !== undefined && at !== undefined) {
      const pageOf = new Map([...at.exported].map((path) => [at.pages.get(path)?.file ?? '', path]));
      const own = new Set<string>();
      for (const file of open) {
        const page = pageOf.get(file);
        if (page !== undefined) own.add(page);
        else if (fileKind(file) === 'page' || fileKind(file) === 'code')
          for (const path of pagesIncluding(at, file)) own.add(path);
      }
      const pages = await renderedAll(at, own);
      const dependents = new Set<string>();
      for (const { path, anchors } of pages) {
        const file = at.pages.get(path)?.file ?? '';
        if (!wanted.has(file)) continue;
        const names = JSON.stringify(anchors);
        if (!anchorsBefore.has(file)) anchorsBefore.set(file, names);
        if (anchorsBefore.get(file) === names) continue;
        for (const page of pagesLinkingTo(at, path)) if (dependents.size < mostDependents) dependents.add(page.path);
      }
      pages.push(
        ...(await renderedAll(
          at,
          [...dependents].filter((path) => !own.has(path)),
        )),
      );
      for (const path of dependents) wanted.add(at.pages.get(path)?.file ?? '');
      const shown = new Set(pages.map(({ path }) => path));
      const targets = [...pagesOfAnchors(now.model, pages, at.exported)].filter((path) => !shown.has(path));
      const all = [...pages, ...(await renderedAll(at, targets))];
      if (invalid === undefined) {
        const ofProject = [...remote.diagnostics, ...remote.withoutSaid(now.model.diagnostics)];
        found.push(...ofProject.map((finding) => ({ finding })));
      }
      found.push(...findingsOfPages(pages), ...once(siteFindings(now.model, all, checkRenderOptions, at.exported)));
    }
    const byFile = Map.groupBy(found, ({ finding }) => (finding.file === '' ? configFile : finding.file));
    const answer: ProjectAnswers['findings'] = [];
    for (const file of wanted) {
      const ofFile = byFile.get(file) ?? [];
      const needsPlace = ofFile.some(({ finding }) => finding.line === undefined);
      const lines = needsPlace ? (await sourceOf(file)).split(/\r\n|\r|\n/) : [];
      answer.push([
        file,
        ofFile.map((one) => ({ ...one, finding: needsPlace ? withPlace(one.finding, lines) : one.finding })),
      ]);
    }
    return answer;
  }

  const sourceOf = async (file: string): Promise<string> =>
    texts.get(file)?.text ?? Buffer.from(await read(file, whole).catch(() => new Uint8Array())).toString();

  async function pageOfFile(file: string): Promise<{ page: CheckedPage; at: SiteIndex } | undefined> {
    const at = indexNow();
    const path = at && [...at.exported].find((one) => at.pages.get(one)?.file === file);
    return at === undefined || path === undefined ? undefined : { page: await rendered(at, path), at };
  }

  async function links(file: string): Promise<FileLink[]> {
    const now = site.current();
    const found = await pageOfFile(file);
    const text = await sourceOf(file);
    const names = new Set(filesOf().files.map(({ path }) => path));
    const pages = new Map(now?.model.pages.map((page) => [page.path, page.file]));
    return linksIn(file, text, { page: found?.page, pages, names });
  }

  function outline(): ProjectOutline {
    const now = site.current();
    const pages = now?.model.pages ?? [];
    const isImported = new Set(now?.model.snippets.map(({ path }) => path));
    return {
      pages: pages.map(({ path, file, title, description, inNavigation }) => ({
        ...{ path, file, title, inNavigation },
        ...(description !== undefined && { description }),
      })),
      snippets: [...isImported].sort(),
      files: filesOf()
        .files.map(({ path }) => path)
        .filter((path) => stemOf(path) === undefined && ['asset', 'style', 'script'].includes(fileKind(path))),
      iconLibrary: now?.model.settings.iconLibrary ?? 'fontawesome',
      variables: Object.keys(now?.model.settings.variables ?? {}),
    };
  }

  /** The outline if it is another one than before. */
  function outlineIfNew(): ProjectOutline | undefined {
    const now = outline();
    const text = sha256Of(JSON.stringify(now));
    if (text === outlined) return undefined;
    outlined = text;
    return now;
  }

  return async (asked: ProjectQuestion): Promise<unknown> => {
    switch (asked.kind) {
      case 'open':
        skipped = new Set(asked.skipped);
        await open(asked.folder);
        return outlineIfNew() ?? outline();
      case 'change': {
        const before = site.current()?.model;
        const files = filesOf().files.length;
        await change(asked.change);
        return site.current()?.model === before && filesOf().files.length === files ? undefined : outlineIfNew();
      }
      case 'findings':
        return findings(asked.open);
      case 'anchors':
        return (await pageOfFile(asked.file))?.page.anchors ?? [];
      case 'links':
        return links(asked.file);
      case 'rename': {
        const now = site.current();
        const at = indexNow();
        if (now === undefined || at === undefined) return [];
        return renameEdits(asked.files, {
          at,
          sourceOf,
          rendered: (path) => rendered(at, path),
          linkingTo: (path) => pagesLinkingTo(at, path).filter((page) => at.exported.has(page.path)),
        });
      }
    }
  };
}

/** The facts of a page whose rendering did not end. */
const hanging = (path: string, file: string): CheckedPage => {
  const message = 'The page cannot be rendered: it takes too long. Split it, or take back the last change.';
  const finding: Diagnostic = { severity: 'error', code: 'page-not-rendered', message, file };
  return {
    path,
    anchors: [],
    diagnostics: [finding],
    hasFeed: false,
    htmlBytes: 0,
    seen: { links: [], external: [], media: [] },
  };
};
