import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { extensionOf, pagePathOf } from '#shared/docs/project/project-files.ts';
import { pageFile } from '#shared/docs/render/bundle-paths.ts';
import { textEnds } from '#shared/export/bundle/packed-segment.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { lockFile } from '#shared/docs/reference/remote-files.ts';
import { noParts, type RemoteParts } from '../remote/remote-parts.ts';
import { closingFiles } from './closing-files.ts';
import { devFiles, type FilesChange } from './dev-files.ts';
import { devModel } from './dev-model.ts';
import { type DevPage, devPages, type DevPagesOptions } from './dev-pages.ts';
import { devSearch } from './dev-search.ts';
import type { Tab, TabMessage } from './dev-tabs.ts';
import { invalidProblem, withLines } from './page-problems.ts';
import { noReading, type PageToRender, type SiteAnswer, type SiteReading } from './site-questions.ts';

/** A file of the site as it is answered. */
export type SiteFile =
  | { kind: 'file'; path: string; body: string | Uint8Array; page?: DevPage }
  | { kind: 'redirect'; to: string }
  /** `body`: the page that says so; undefined if there is no readable site yet. */
  | { kind: 'missing'; body: Uint8Array | undefined }
  | { kind: 'refused'; reason: string };

/** The effects of a change, for the line in the terminal. */
export type ChangeDone = {
  names: string[];
  affected: number;
  /** Number of open pages that were changed. */
  shown: number;
  ms: number;
  /** Problems of the project and of the open pages. */
  problems: Diagnostic[];
};

/** The site of a project folder while its author writes. */
export type DevSite = {
  answer(target: string): Promise<SiteFile>;
  /** Checks these files, or all of them, and brings the open pages up to date. Undefined if nothing changed. */
  change(paths: readonly string[] | undefined): Promise<ChangeDone | undefined>;
  /** Takes over the files that the project names by address, and the findings about the missing ones. */
  bring(parts: RemoteParts): Promise<ChangeDone | undefined>;
  /** Brings one open page up to date, such as one whose connection was lost. */
  update(tab: Tab): Promise<void>;
  /** Problems of the project itself. */
  problems(): Diagnostic[];
  pageCount(): number;
  close(): Promise<void>;
};

const whole = Number.MAX_SAFE_INTEGER;

export type DevSiteOptions = {
  /** Files that are not in the folder, by path. */
  extra?: ReadonlyMap<string, Uint8Array> | undefined;
  /** Told about each link that leads out of the repository and was made later. */
  onRefused?: (why: string) => void;
  /** For tests. */
  how?: DevPagesOptions;
};

/** Reads the project and starts the children. `tabs`: the open pages. Throws as `projectFilesIn`. */
export async function devSite(
  folder: string,
  tabs: () => readonly Tab[],
  { extra, onRefused, how }: DevSiteOptions = {},
): Promise<DevSite> {
  const files = await devFiles(folder, extra, onRefused);
  const stopping = new AbortController();
  const [model, pages] = await Promise.all([devModel(files, stopping.signal), devPages(files, stopping.signal, how)]);
  const closing = closingFiles();
  const search = devSearch(model, pages);
  let reading = await readOr(noReading, () => model.load());
  let last: Promise<unknown> = Promise.resolve();
  let remote = noParts;
  /** Changes of the last seconds, in their order. */
  let recent: (FilesChange & { at: number })[] = [];
  /** Digests of the files of the site itself that browsers may have. */
  let siteFiles: ReadonlyMap<string, string> | undefined;

  async function render(asked: PageToRender): Promise<DevPage> {
    const page = await pages.render(asked);
    closing.add(page);
    return page;
  }

  async function answer(target: string): Promise<SiteFile> {
    const name = nameIn(target);
    if (name?.startsWith('_bindery/') === true) {
      const body =
        (await closing.fileAt(name, reading.colors)) ??
        (await search.fileAt(name, reading.revision)) ??
        pages.fileOf(name);
      if (body !== undefined) return { kind: 'file', path: name, body };
    }
    const found = await model.find(target);
    return found.kind === 'missing' && name === 'llms-full.txt'
      ? { kind: 'file', path: name, body: await fullText() }
      : fileOf(found);
  }

  async function fileOf(found: SiteAnswer): Promise<SiteFile> {
    switch (found.kind) {
      case 'of-page': {
        const page = await render(found.page);
        const { path } = found;
        const body = path === `${page.path}/rss.xml` ? await feedOf(page) : page.files.get(path);
        if (body === undefined) return { kind: 'missing', body: undefined };
        return { kind: 'file', path, body, ...(path === pageFile(page.path) && { page }) };
      }
      case 'file': {
        const body = await files.read(found.path, whole).catch(() => undefined);
        if (body === undefined) return { kind: 'missing', body: undefined };
        const { path, leftOut } = found;
        const published = leftOut && (await pages.published(path, body, leftOut));
        return { kind: 'file', path, body: published ?? body };
      }
      case 'made':
        return { kind: 'file', path: found.path, body: found.body };
      case 'missing':
        return { kind: 'missing', body: found.notFound };
      case 'no-site':
        return { kind: 'missing', body: undefined };
      default:
        return found;
    }
  }

  async function feedOf({ facts }: DevPage): Promise<string | undefined> {
    const { path, title, description, feedItems } = facts;
    if (feedItems.length === 0) return undefined;
    return model.feed({ path, title, feedItems, ...(description !== undefined && { description }) });
  }

  /** The Markdown of all listed pages, which are rendered for it one after the other. */
  async function fullText(): Promise<string> {
    const texts: string[] = [];
    for (const path of await model.listed()) {
      const [asked] = await model.pages([path]);
      if (asked) texts.push((await render(asked)).facts.fullText + textEnds.fullText);
    }
    return texts.join('');
  }

  async function changeNow(look: () => Promise<FilesChange>): Promise<ChangeDone | undefined> {
    const begunAt = performance.now();
    const found = await look();
    const { changed, gone } = found;
    const names = [...changed, ...gone].map(({ path }) => path);
    if (names.length === 0) return undefined;
    recent = [...recent.filter(isRecent), { ...found, at: performance.now() }];
    const isRead = reading.hasSite;
    const before = siteFiles;
    for (const tab of tabs()) tell(tab, names);
    reading = await readOr(reading, () =>
      model.change(
        changed,
        gone.map(({ path }) => path),
      ),
    );
    const open = tabs();
    const shown = await updateAll(open);
    if (!isRead && reading.hasSite) for (const tab of open) tab.send({ kind: 'reload' });
    if (before !== undefined && reading.isSiteChanged) {
      const other = (await siteFilesNow()).filter(([path, sha256]) => before.get(path) !== sha256);
      const message: TabMessage = { kind: 'files', files: other.map(([path]) => path) };
      for (const tab of other.length > 0 ? open : []) tab.send(message);
    }
    const problems = [...projectProblems(), ...open.flatMap(({ shown: page }) => (page ? pageProblems(page) : []))];
    return { names, affected: reading.affected, shown, ms: performance.now() - begunAt, problems: once(problems) };
  }

  /** The new path of a page whose file was renamed; undefined if it was not. */
  function movedTo(page: string): string | undefined {
    const lately = recent.filter(isRecent);
    const old = lately.flatMap(({ gone }) => gone).findLast(({ path }) => pagePathOf(path) === page);
    const now = lately
      .flatMap(({ changed }) => changed)
      .findLast(
        ({ path, sha256 }) =>
          sha256 === old?.sha256 && path !== old.path && files.files.some((file) => file.path === path),
      );
    return now && pagePathOf(now.path);
  }

  /** Tells a page about files that it shows as they are. */
  function tell(tab: Tab, names: readonly string[]): void {
    if (names.some((name) => tab.shown?.scripts.includes(name))) return tab.send({ kind: 'reload' });
    const seen = names.filter((name) => !['mdx', 'md', 'js', 'jsx', 'tsx'].includes(extensionOf(name)));
    if (seen.length > 0) tab.send({ kind: 'files', files: seen });
  }

  async function siteFilesNow(): Promise<[path: string, sha256: string][]> {
    const found = await model.siteFiles();
    siteFiles = new Map(found);
    return found;
  }

  /** Brings pages up to date; returns the number of those that show something else now. */
  async function updateAll(open: readonly Tab[]): Promise<number> {
    const paths = [...new Set(open.flatMap(({ page }) => page ?? []))];
    const asked = paths.length === 0 ? [] : await model.pages(paths).catch(() => paths.map(() => undefined));
    const outcomes = await Promise.all(
      open.map(async (tab) => {
        if (tab.page === undefined) return updateMissing(tab);
        const found = asked[paths.indexOf(tab.page)];
        if (found === undefined) return false;
        if (found === null) {
          const to = movedTo(tab.page);
          tab.send({ kind: 'reload', ...(to !== undefined && { to: `/${pageFile(to)}` }) });
          return true;
        }
        return show(tab, found);
      }),
    );
    return outcomes.filter(Boolean).length;
  }

  /** A page that says that there is nothing at its address is loaded again as soon as there is something. */
  async function updateMissing(tab: Tab): Promise<boolean> {
    const found = await model.find(tab.target).catch(() => undefined);
    const isThere = found !== undefined && !['missing', 'no-site', 'refused'].includes(found.kind);
    const to = isThere ? undefined : movedTo((nameIn(tab.target) ?? '').replace(/\.html$/, ''));
    if (isThere) tab.send({ kind: 'reload' });
    else if (to !== undefined) tab.send({ kind: 'reload', to: `/${pageFile(to)}` });
    else await tellProblems(tab, projectProblems());
    return isThere;
  }

  async function show(tab: Tab, asked: PageToRender): Promise<boolean> {
    let page: DevPage;
    const sheet = await closing.classSheet(reading.colors);
    try {
      page = await render(asked);
    } catch (error) {
      const message = `The page cannot be rendered: ${messageOf(error)}.`;
      await tellProblems(tab, [{ severity: 'error', code: 'page-not-rendered', message, file: asked.slice.file }]);
      return false;
    }
    const before = tab.shown;
    const isOther = page.key !== tab.key;
    tab.shown = page;
    tab.key = page.key;
    if (isOther) {
      const other = before === undefined ? [] : otherFiles(before, page);
      if ((await closing.classSheet(reading.colors)) !== sheet) other.push('_bindery/classes.css');
      tab.send({ kind: 'page', key: page.key, html: String(page.files.get(pageFile(page.path))), files: other });
    }
    await tellProblems(tab, [...projectProblems(page), ...pageProblems(page)]);
    return isOther;
  }

  async function tellProblems(tab: Tab, problems: readonly Diagnostic[]): Promise<void> {
    const shown = await withLines(once(problems), files);
    const text = JSON.stringify(shown);
    if (tab.problems === text) return;
    tab.problems = text;
    tab.send({ kind: 'problems', problems: shown });
  }

  /** Runs changes one after the other. */
  function inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = last.then(change);
    last = done.catch(() => undefined);
    return done;
  }

  /** Problems of the project: all that a page has to do with, or those of the project as a whole. */
  function projectProblems(page?: DevPage): Diagnostic[] {
    const { invalid, diagnostics } = reading;
    const own = new Set(['', 'docs.json', 'mint.json', lockFile, ...(page ? [page.file, ...page.includes] : [])]);
    return [
      ...(invalid === undefined ? [] : [invalidProblem(invalid)]),
      ...remote.diagnostics.filter(({ file }) => own.has(file)),
      ...remote.withoutSaid(diagnostics).filter(({ severity, file }) => severity !== 'info' && own.has(file)),
    ];
  }

  return {
    answer,
    change: (paths) => inTurn(() => changeNow(() => (paths === undefined ? files.lookAtAll() : files.look(paths)))),
    bring: (parts) =>
      inTurn(async () => {
        remote = parts;
        const done = await changeNow(async () => files.bring(parts.files));
        // Also without a change of files, the findings may be others.
        if (done === undefined) await updateAll(tabs());
        return done;
      }),
    async update(tab) {
      await last;
      if (siteFiles === undefined && reading.hasSite) void siteFilesNow().catch(() => undefined);
      await updateAll([tab]);
    },
    problems: () => projectProblems(),
    pageCount: () => reading.pages,
    async close() {
      stopping.abort();
      await Promise.all([model.close(), pages.close()]);
    },
  };
}

/** Time within which the system reports both ends of a renaming, which may be apart. */
const renamedWithinMs = 2_000;

const isRecent = ({ at }: { at: number }): boolean => at > performance.now() - renamedWithinMs;

/** The outcome of reading the project, or the last one with the reason why it could not be read. */
async function readOr(last: SiteReading, read: () => Promise<SiteReading>): Promise<SiteReading> {
  try {
    return await read();
  } catch (error) {
    const message = `The project cannot be read: ${messageOf(error)}. Take back the last change to find its cause.`;
    const invalid = { code: 'project-not-read', file: '', message };
    return { ...last, affected: 0, isSiteChanged: false, invalid };
  }
}

/** Files beside its HTML that have other bytes in a newer version of a page. */
function otherFiles(before: DevPage, after: DevPage): string[] {
  const isOther = (path: string, body: string | Uint8Array): boolean => {
    const old = before.files.get(path);
    return old !== undefined && Buffer.compare(Buffer.from(old), Buffer.from(body)) !== 0;
  };
  const own = [...after.files].flatMap(([path, body]) => (isOther(path, body) ? [path] : []));
  const fonts = ({ facts }: DevPage): string => JSON.stringify(facts.mathFonts);
  return [
    ...own.filter((path) => !/\.(html|md)$/.test(path)),
    ...(fonts(before) === fonts(after) ? [] : ['_bindery/math.css']),
  ];
}

function pageProblems({ facts, failure, file }: DevPage): Diagnostic[] {
  const errors = facts.diagnostics.filter(({ severity }) => severity !== 'info');
  if (failure === undefined) return errors;
  const message = `The page cannot be rendered: ${failure}.`;
  return [{ severity: 'error', code: 'page-not-rendered', message, file }, ...errors];
}

const once = (problems: readonly Diagnostic[]): Diagnostic[] => [
  ...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values(),
];

/** The decoded name of a file in a request target; undefined if it is not one. */
function nameIn(target: string): string | undefined {
  try {
    return decodeURIComponent(target.split('?', 1)[0] ?? '').slice(1);
  } catch {
    return undefined;
  }
}
