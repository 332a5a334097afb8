import type { DocsProject } from '#shared/docs/project/read-docs-project.ts';
import { pageAddress } from '#shared/docs/render/bundle-paths.ts';
import { siteRedirects } from '#shared/docs/render/redirects.ts';
import type { RepairableFinding } from '#shared/docs/findings/site-findings.ts';

/** The pages of an earlier version of a project, and its files that have another name now. */
export type MovedPages = {
  /** How the version is named in messages. */
  since: string;
  before: readonly { path: string; file: string; sha256: string }[];
  /** New names of files by their old names. */
  renamed: ReadonlyMap<string, string>;
};

/** A finding for each page of the earlier version that is gone, and to whose path no redirect belongs. Pure. */
export function movedFindings(
  { pages, redirects }: Pick<DocsProject, 'pages' | 'redirects'>,
  { since, before, renamed }: MovedPages,
  files: readonly { path: string }[],
): RepairableFinding[] {
  const paths = new Set(pages.map(({ path }) => path));
  const pageOfFile = new Map(pages.map(({ path, file }) => [file, path]));
  const wasThere = new Set(before.map(({ path }) => path));
  /** New pages by their content. Files that git does not know yet are renamed only if they are unchanged. */
  const added = Map.groupBy(
    pages.filter(({ path }) => !wasThere.has(path)),
    ({ sha256 }) => sha256,
  );
  const ends = siteRedirects(redirects, (path) => paths.has(path));
  const isFile = new Set(files.map(({ path }) => path));
  const config = isFile.has('docs.json') ? 'docs.json' : 'mint.json';
  return before.flatMap(({ path, file, sha256 }): RepairableFinding[] => {
    if (paths.has(path) || ends.endOf(`/${path}`) !== undefined) return [];
    const same = added.get(sha256) ?? [];
    const to = pageOfFile.get(renamed.get(file) ?? '') ?? (same.length === 1 ? same[0]?.path : undefined);
    const source = `/${path}`;
    if (to === undefined) {
      const message = `The page ${JSON.stringify(source)} of ${since} is gone, and no redirect leads from its path to another page. Add one if a page replaces it.`;
      return [{ finding: { severity: 'info', code: 'page-removed', message, file: config } }];
    }
    const destination = pageAddress(to);
    const message = `The page ${JSON.stringify(source)} of ${since} is now ${JSON.stringify(destination)}, and no redirect leads there. Add { "source": ${JSON.stringify(source)}, "destination": ${JSON.stringify(destination)} } to "redirects".`;
    return [
      {
        finding: { severity: 'warning', code: 'page-moved', message, file: config },
        repair: { kind: 'redirect', file: config, source, destination },
      },
    ];
  });
}
