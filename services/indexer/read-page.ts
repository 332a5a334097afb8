import { micromarkPageParser } from '#shared/docs-project/micromark-page-parser.ts';
import { finishContent, type Section } from '#shared/render/content/finish-content.ts';
import { toContent } from '#shared/render/content/to-content.ts';
import { evaluatePage } from '#shared/render/evaluate/evaluate-page.ts';
import { pageMarkdown } from '#shared/render/markdown/to-markdown.ts';
import { sanitizeContent } from '#shared/render/sanitize/sanitize-content.ts';
import { withoutHidden } from './without-hidden.ts';

export type PageToRead = {
  /** Path in the project. */
  file: string;
  source: Uint8Array | string;
  /** Text of what it may import, by path in the project. */
  dependencies: Readonly<Record<string, string>>;
  title: string;
  description?: string | undefined;
  /** `variables` and `styling.latex` of the site's settings. */
  variables: Record<string, string>;
  latex?: boolean | undefined;
};

export type ReadPage = { sections: Section[]; markdown: string };

/**
 * What readers see of a page, by section, and its Markdown: by the same steps as in an export, so that anchors are those of the site, and
 * snippets and variables are read. Throws `PageFailed` for a page that breaks a limit.
 */
export function readPage({ file, source, dependencies, title, description, variables, latex }: PageToRead): ReadPage {
  const { tree } = evaluatePage({ file, source, dependencies }, micromarkPageParser, { variables, latex });
  const content = toContent(tree, () => undefined);
  const parts = [content.tree, content.aside].map((part) => {
    return finishContent(withoutHidden(sanitizeContent(part)), content.codes).sections;
  });
  return { sections: parts.flat(), markdown: pageMarkdown({ title, description }, tree) };
}
