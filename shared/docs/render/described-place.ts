import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { textOf } from '#shared/docs/project/json-values.ts';
import type { PageEntry } from '#shared/docs/project/site-model.ts';

/*
 * The content of a page that is made for an operation or a channel is the `x-mint.content` of an API description. Lines and columns of it are none of
 * the description's file, which may have the whole content in one line. So its findings name the operation, and count lines in the content.
 */

type SourceOfPage = Pick<PageEntry, 'file' | 'frontmatter'>;

/** The page is a file of the project, and not made from an API description. */
export const isOfProject = ({ file }: Pick<PageEntry, 'file'>): boolean => /\.mdx?$/i.test(file);

/** `line 3 of the x-mint.content of GET /users`; undefined for a place in a file of the project. Line 0 stands for an unknown one. */
export function placeInDescription(page: SourceOfPage, line: number): string | undefined {
  if (isOfProject(page)) return undefined;
  const { openapi, asyncapi } = page.frontmatter;
  const named = textOf(openapi) ?? textOf(asyncapi) ?? '';
  const name = named.startsWith(`${page.file} `) ? named.slice(page.file.length + 1) : named;
  return line === 0 ? `the page of ${name}` : `line ${line} of the x-mint.content of ${name}`;
}

/** Findings of a page as its author can use them: those of the content of an API description say in which operation of the file they are. */
export function withPlacesInDescription(page: SourceOfPage, found: Diagnostic[]): Diagnostic[] {
  if (isOfProject(page)) return found;
  return found.map((finding) => {
    if (finding.file !== page.file) return finding;
    const { line, column: _, ...rest } = finding;
    return { ...rest, message: `${finding.message} It is in ${placeInDescription(page, line ?? 0)}.` };
  });
}
