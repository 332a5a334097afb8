import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import { textOf } from '#shared/docs/project/json-values.ts';
import type { PageEntry } from '#shared/docs/project/site-model.ts';

/*
 * The content of a page that is made for an operation or a channel comes from `x-mint.content` of an API description. Its lines and columns are not
 * those of the description's file, which may have the whole content in one line. Findings therefore name the operation and count lines in the
 * content.
 */

type SourceOfPage = Pick<PageEntry, 'file' | 'frontmatter'>;

/** True if the page is a file of the project, and false if it is made from an API description. */
export const isOfProject = ({ file }: Pick<PageEntry, 'file'>): boolean => /\.mdx?$/i.test(file);

/**
 * A place in an API description, such as `line 3 of the x-mint.content of GET /users`; undefined for a place in a file of the project. Line 0 stands
 * for an unknown line.
 */
export function placeInDescription(page: SourceOfPage, line: number): string | undefined {
  if (isOfProject(page)) return undefined;
  const { openapi, asyncapi } = page.frontmatter;
  const named = textOf(openapi) ?? textOf(asyncapi) ?? '';
  const name = named.startsWith(`${page.file} `) ? named.slice(page.file.length + 1) : named;
  return line === 0 ? `the page of ${name}` : `line ${line} of the x-mint.content of ${name}`;
}

/** Rewrites findings of a page from an API description, so that they name the operation instead of a line of the file. */
export function withPlacesInDescription(page: SourceOfPage, found: Finding[]): Finding[] {
  if (isOfProject(page)) return found;
  return found.map((finding) => {
    if (finding.file !== page.file) return finding;
    const { line, column: _, ...rest } = finding;
    return { ...rest, message: `${finding.message} It is in ${placeInDescription(page, line ?? 0)}.` };
  });
}
