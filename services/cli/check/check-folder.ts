import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { InvalidProject } from '#shared/docs/project/diagnostics.ts';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import type { DocsProject } from '#shared/docs/project/read-docs-project.ts';
import type { RepairableFinding } from '#shared/docs/findings/site-findings.ts';
import { repairOf } from '#shared/docs/findings/repair.ts';
import type { MadeFile } from '#shared/docs/reference/site-reference.ts';
import type { CheckedPage } from '#shared/docs/render/checked-page.ts';
import type { PageInput } from '#shared/docs/render/render-page.ts';
import type { PageSlice, SiteRenderOptions } from '#shared/docs/render/page-slice.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { MovedPages } from './moved-pages.ts';

/** A finding of a check. `repair` is its only right repair. */
export type CheckFinding = Omit<RepairableFinding, 'finding'> & { finding: Diagnostic };

/** An address of another site, and the first place that names it. */
export type ExternalAddress = { address: string; file: string; line?: number; column?: number };

/** The result of a check of one folder. `pages` is 0 if the project cannot be published. */
export type FolderCheck = {
  publishable: boolean;
  pages: number;
  findings: CheckFinding[];
  external: ExternalAddress[];
  /** Paths and sources of all pages. */
  pageFiles: { path: string; file: string; sha256: string }[];
};

/** Reads and renders a project: in this process, or in child processes. */
export type Checker = {
  /** Rejects with `InvalidProject`. */
  read(project: ProjectFiles, keep: (made: MadeFile) => void): Promise<DocsProject>;
  render(
    inputs: readonly (Pick<PageInput, 'slice' | 'source'> & { texts: PageInput['dependencies'] })[],
  ): Promise<CheckedPage[]>;
  /** Pages that were rendered before, by the digest of their slices. */
  known: Map<string, CheckedPage>;
};

export type FolderCheckOptions = {
  /** False: pages are not rendered. */
  pages: boolean;
  /** The pages of an earlier version, with the files that were renamed since. */
  moved?: MovedPages | undefined;
};

export const checkRenderOptions: SiteRenderOptions = {
  domain: 'checked',
  groups: [],
  onPageError: 'fail',
  allowTenantScripts: true,
  deployment: 'client-hosted',
};
const whole = Number.MAX_SAFE_INTEGER;

/** All findings of a project, in the order of the project. Rejects when a file cannot be read, or a process could not start. */
export async function checkFolder(
  project: ProjectFiles,
  checker: Checker,
  { pages, moved }: FolderCheckOptions,
): Promise<FolderCheck> {
  const made: MadeFile[] = [];
  let docs: DocsProject;
  try {
    docs = await checker.read(project, (file) => void made.push(file));
  } catch (error) {
    if (!(error instanceof InvalidProject)) throw error;
    const { code, file, message } = error;
    const finding = { severity: 'error' as const, code, file, message };
    return { publishable: false, pages: 0, findings: [{ finding }], external: [], pageFiles: [] };
  }
  const ofProject = docs.diagnostics.map((finding) => ({ finding }));
  const rendered = pages ? await checkPages(docs, project, made, checker) : undefined;
  const { movedFindings } = await import('./moved-pages.ts');
  return {
    publishable: true,
    pages: docs.pages.length,
    findings: [
      ...ofProject,
      ...(rendered?.findings ?? []),
      ...(moved === undefined ? [] : movedFindings(docs, moved, project.files)),
    ],
    external: rendered?.external ?? [],
    pageFiles: docs.pages.map(({ path, file, sha256 }) => ({ path, file, sha256 })),
  };
}

async function checkPages(
  docs: DocsProject,
  { read }: Pick<ProjectFiles, 'read'>,
  made: readonly MadeFile[],
  checker: Checker,
): Promise<Pick<FolderCheck, 'findings' | 'external'>> {
  const [{ indexSite }, { pageSlice }, { siteFindings }] = await Promise.all([
    import('#shared/docs/render/site-index.ts'),
    import('#shared/docs/render/page-slice.ts'),
    import('#shared/docs/findings/site-findings.ts'),
  ]);
  const model = { ...docs, contentVersion: `cv_${'0'.repeat(32)}` };
  const index = indexSite(model);
  const texts = new Map(made.map(({ sha256, text }) => [sha256, Promise.resolve(text)]));
  const textOf = ({ path, sha256 }: { path: string; sha256: string }): Promise<string> => {
    const text = texts.get(sha256) ?? read(path, whole).then((bytes) => Buffer.from(bytes).toString());
    texts.set(sha256, text);
    return text;
  };
  const unread: Diagnostic[] = [];
  const inputOf = async (slice: PageSlice) => {
    const pairs = slice.dependencies.map(async (file) => [file.path, await textOf(file)] as const);
    const { sha256, file } = slice;
    const source = texts.has(sha256) ? await textOf({ path: file, sha256 }) : await read(file, whole);
    return { slice, source, texts: Object.fromEntries(await Promise.all(pairs)) as Record<string, string> };
  };
  const pages = new Map<string, CheckedPage>();
  const waiting: { path: string; key: string; slice: PageSlice }[] = [];
  for (const path of index.exported) {
    const slice = pageSlice(index, path, checkRenderOptions);
    const key = sha256Of(JSON.stringify(slice));
    const known = checker.known.get(key);
    if (known) pages.set(path, known);
    else waiting.push({ path, key, slice });
  }
  for (let at = 0; at < waiting.length; at += pagesAtOnce) {
    const batch = waiting.slice(at, at + pagesAtOnce);
    const read = await Promise.all(
      batch.map(async ({ path, key, slice }) => {
        try {
          return { path, key, input: await inputOf(slice) };
        } catch (error) {
          // The file vanished, or lost its rights, after the project was read.
          const message = `The page cannot be read: ${messageOf(error)}. Check again when the file is there.`;
          unread.push({ severity: 'error', code: 'file-not-read', message, file: slice.file });
          return undefined;
        }
      }),
    );
    const inputs = read.filter((one) => one !== undefined);
    const rendered = await checker.render(inputs.map(({ input }) => input));
    for (const [place, page] of rendered.entries()) {
      const { path, key } = inputs[place] ?? { path: '', key: '' };
      checker.known.set(key, page);
      pages.set(path, page);
    }
  }
  const inOrder = [...index.exported].flatMap((path) => pages.get(path) ?? []);
  const fileOf = new Map(model.pages.map(({ path, file }) => [path, file]));
  const external = new Map<string, ExternalAddress>();
  for (const { path, seen } of inOrder) {
    for (const { written, file = fileOf.get(path) ?? path, line, column } of seen.external)
      if (!external.has(written))
        external.set(written, {
          ...{ address: written, file },
          ...(line !== undefined && { line }),
          ...(column !== undefined && { column }),
        });
  }
  const found = siteFindings(model, inOrder, checkRenderOptions);
  const ofUnread = unread.map((finding) => ({ finding }));
  return { findings: [...ofUnread, ...findingsOfPages(inOrder), ...once(found)], external: [...external.values()] };
}

/** The findings of rendered pages that need no other page. */
export const findingsOfPages = (pages: readonly CheckedPage[]): CheckFinding[] =>
  cardsTogether(foundOnce(pages.flatMap(({ diagnostics }) => diagnostics))).map((finding) => {
    const repair = repairOf(finding);
    return { finding, ...(repair && { repair }) };
  });

/** Pages that are read before the first of them is rendered. */
const pagesAtOnce = 256;

/** Removes duplicates: a snippet has the same findings on every page that includes it. */
const foundOnce = (found: readonly Diagnostic[]): Diagnostic[] => [
  ...new Map(found.map((each) => [JSON.stringify(each), each])).values(),
];

/** More pages than these without a picture are one finding: a site in a language that the fonts lack has one on each page. */
const mostCards = 3;

function cardsTogether(found: readonly Diagnostic[]): Diagnostic[] {
  const cards = found.filter(({ code }) => code === 'card-left-out');
  const [first] = cards;
  if (first === undefined || cards.length <= mostCards) return [...found];
  const message = `${first.message} The same is true for ${cards.length - 1} more pages.`;
  return found.flatMap((one) => (one === first ? [{ ...one, message }] : one.code === 'card-left-out' ? [] : [one]));
}

/** Removes duplicates of findings. */
export const once = (found: readonly RepairableFinding[]): RepairableFinding[] => [
  ...new Map(found.map((each) => [JSON.stringify(each.finding), each])).values(),
];
