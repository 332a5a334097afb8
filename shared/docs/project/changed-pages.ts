import { fileKind, largeSourceBytes, pagePathOf, type ProjectFile } from './project-files.ts';
import type { SiteModel } from './site-model.ts';

/*
 * Most publications change the text of a few pages. Such a change has no effect on the site model except the hash, the size and the link targets of
 * these pages, so the model is the last one with these values. Every other change needs all files (`readDocsProject`).
 */

/** A page whose file changed. `before`: the hash of the bytes that the last version has. */
export type ChangedPage = ProjectFile & { before: string };

/** Limit of the pages that are read again; with more, reading the whole project costs hardly more. */
const mostChanged = 1_000;

/** Limit of the link targets of a page that is read again. A page with more is read with the whole project. */
export const mostTargetsOfPage = 1_000;

/**
 * The files that differ between two versions of a project, if the site model can depend only on the text of these. `model` and `before` are of the
 * version with the first files. Undefined if files were added or removed, or if one of the files is more than a page. Pure.
 */
export function changedPages(
  { pages, snippets }: Pick<SiteModel, 'pages' | 'snippets'>,
  before: ReadonlyMap<string, Omit<ProjectFile, 'path'>>,
  after: readonly ProjectFile[],
): ChangedPage[] | undefined {
  if (after.length !== before.size) return undefined;
  const changed: ChangedPage[] = [];
  for (const file of after) {
    const last = before.get(file.path);
    if (last === undefined) return undefined;
    if (last.sha256 === file.sha256) continue;
    // The order in which large files are read decides the order of findings.
    const isOfPage = fileKind(file.path) === 'page' && Math.max(last.sizeBytes, file.sizeBytes) <= largeSourceBytes;
    if (!isOfPage || changed.length === mostChanged) return undefined;
    changed.push({ ...file, before: last.sha256 });
  }
  const imported = new Set(snippets.map(({ path }) => path));
  const hashOf = new Map(pages.map(({ path, sha256 }) => [path, sha256]));
  const isPage = ({ path, before: hash }: ChangedPage): boolean =>
    !imported.has(path) && hashOf.get(pagePathOf(path)) === hash;
  return changed.length > 0 && changed.every(isPage) ? changed : undefined;
}

export type RereadPages = {
  /** Link targets of the pages, in their order. */
  linkTargets: string[][];
  /** Packed readings of all files of the new version. */
  readings: Uint8Array;
};

/**
 * The site model after pages changed, apart from its content version. Undefined if a page whose link targets changed also has those of other files. Pure.
 */
export function revisedModel(
  model: SiteModel,
  changed: readonly ChangedPage[],
  { linkTargets }: Pick<RereadPages, 'linkTargets'>,
): SiteModel | undefined {
  const changes = new Map(changed.map((file, at) => [pagePathOf(file.path), { file, targets: linkTargets[at] ?? [] }]));
  const isSame = (one: readonly string[], other: readonly string[]): boolean =>
    one.length === other.length && one.every((target, at) => target === other[at]);
  let isWhole = true;
  const pages = model.pages.map((page) => {
    const change = changes.get(page.path);
    if (change === undefined) return page;
    const { file, targets } = change;
    isWhole &&= page.dependencies.length === 0 || isSame(page.linkTargets, targets);
    return { ...page, sha256: file.sha256, sizeBytes: file.sizeBytes, linkTargets: targets };
  });
  return isWhole ? { ...model, pages } : undefined;
}
