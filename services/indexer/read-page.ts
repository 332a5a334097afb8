import { withReference } from '#shared/docs/reference/reference-content.ts';
import type { PageReferenceInput } from '#shared/docs/reference/page-reference.ts';
import type { ParseOptions } from '#shared/docs/project/parse-page.ts';
import { componentRegistry } from '#shared/docs/render/components/registry.ts';
import { toContent } from '#shared/docs/render/content/to-content.ts';
import { evaluatePage } from '#shared/docs/render/evaluate/evaluate-page.ts';
import { languageOf } from '#shared/docs/render/interface-texts/language.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { pageMarkdown } from '#shared/docs/render/markdown/page-markdown.ts';
import { anchorCharacters, headingCharacters, mostPassages, passageCharacters } from './cut-limits.ts';
import { asPeopleRead, isHidden, withoutHidden } from './hidden-content.ts';
import { linksOf, type WrittenLink } from './page-links.ts';
import { readSections } from './read-sections.ts';

export type PageToRead = {
  /** Path in the project. */
  file: string;
  source: Uint8Array | string;
  /** Text of possible imports, by path in the project. */
  dependencies: Readonly<Record<string, string>>;
  title: string;
  description?: string | undefined;
  /** `variables` and `styling.latex` of the site's settings. */
  variables: Record<string, string>;
  latex?: boolean | undefined;
  /** Present if the page describes an operation, a schema or a channel. `hasDescription`: it has a description of its own. */
  reference?: (PageReferenceInput & { hasDescription: boolean }) | undefined;
  parser?: ParseOptions['parser'];
};

/** The visible text under one heading; `anchor` and `heading` are empty before the first. */
export type PageSection = { anchor: string; heading: string; text: string };

/** A page, ready for the index. `peoplesMarkdown` is absent if it equals the Markdown. */
export type CutPage = {
  passages: PageSection[];
  links: WrittenLink[];
  markdown: string;
  peoplesMarkdown?: string | undefined;
};

/** A request to the child: pages with the paths of their possible imports, and the texts of these. */
export type CutRequest = {
  pages: (Omit<PageToRead, 'dependencies'> & { dependencies: readonly string[] })[];
  texts: Readonly<Record<string, string>>;
};

/** The child's response, page by page. `failed`: a sentence about the page's error. */
export type CutResponse = (CutPage | { failed: string })[];

/** Reads pages and cuts them into passages. */
export function readAndCut({ pages, texts }: CutRequest): CutResponse {
  return pages.map((page) => {
    const dependencies = Object.fromEntries(page.dependencies.map((path) => [path, texts[path] ?? '']));
    try {
      const { sections, ...read } = readPage({ ...page, dependencies });
      return { passages: cutPassages(sections), ...read };
    } catch (error) {
      return { failed: messageOf(error) };
    }
  });
}

/**
 * The visible text of a page by section, its links and its Markdown. The steps are those of an export, so that anchors are those of the site, and
 * snippets and variables are included. Throws `PageFailed` for a page that breaks a limit.
 */
export function readPage(page: PageToRead) {
  const { file, source, dependencies, title, description, variables, latex, reference, parser } = page;
  const evaluated = evaluatePage(
    { file, source, dependencies },
    { variables, latex, parser, title },
    componentRegistry,
  );
  const { texts } = languageOf(undefined);
  const { path, ...rest } = reference ?? { examples: {}, hasDescription: false };
  const sliceText = path === undefined ? undefined : dependencies[path];
  const complete = (tree: typeof evaluated.tree) =>
    withReference({ ...evaluated, tree }, sliceText, { ...rest, texts, parser });
  // Anchors are those of the whole page, because hidden headings use up anchors too.
  const whole = complete(evaluated.tree);
  const visible = withoutHidden(evaluated.tree);
  const shown = visible === evaluated.tree ? whole : complete(visible);
  const content = toContent(whole.tree, () => undefined, texts);
  const sections = [content.main, content.aside].flatMap(readSections);
  const links = linksOf([...content.main, ...content.aside], file, (properties) => isHidden(properties));
  const markdownOf = (of: typeof shown): string => pageMarkdown({ title, description }, of);
  const peoples = asPeopleRead(visible);
  const peoplesMarkdown = peoples === visible ? undefined : markdownOf(complete(peoples));
  return { sections, links, markdown: markdownOf(shown), peoplesMarkdown };
}

/** Minimum length of a passage. A shorter rest stays with the text before it. */
const scrapCharacters = 200;

/**
 * Cuts sections into passages of about 1,200 characters: at empty lines if there are any, else at line ends, ends of sentences, words, and finally
 * anywhere. Sections are never mixed, so each passage has one anchor. A heading without text is a passage too, because a reader may search for its
 * words. Excessive content is cut: a long heading, and the end of a page with thousands of headings.
 */
export function cutPassages(sections: readonly PageSection[]): PageSection[] {
  const passages = sections.slice(0, mostPassages).flatMap(({ anchor: id, heading: written, text }) => {
    const anchor = id.length <= anchorCharacters ? id : '';
    const heading = written.length <= headingCharacters ? written : written.slice(0, headingCharacters).toWellFormed();
    const pieces = cutText(text.trim());
    if (pieces.length === 0) return heading === '' ? [] : [{ anchor, heading, text: heading }];
    return pieces.map((piece) => ({ anchor, heading, text: piece }));
  });
  return passages.slice(0, mostPassages);
}

function cutText(text: string, separators: readonly RegExp[] = boundaries): string[] {
  if (text.length <= passageCharacters) return text === '' ? [] : [text];
  const [separator, ...finer] = separators;
  if (!separator) return slices(text);
  const pieces: string[] = [];
  let piece = '';
  for (const part of text.split(separator)) {
    if (piece !== '' && piece.length + part.length > passageCharacters) {
      pieces.push(piece);
      piece = '';
    }
    piece += part;
  }
  if (piece.length < scrapCharacters && pieces.length > 0) pieces.push((pieces.pop() ?? '') + piece);
  else pieces.push(piece);
  return pieces.flatMap((part) =>
    part.length <= passageCharacters + scrapCharacters ? tidy(part) : cutText(part.trim(), finer),
  );
}

/** Boundaries of passages, the coarsest first. Each matches the empty position after a boundary, so that splitting loses nothing. */
const boundaries = [/(?<=\n\n)/, /(?<=\n)/, /(?<=[.!?]\s)|(?<=[。！？])/, /(?<=\s)/];

const tidy = (text: string): string[] => (text.trim() === '' ? [] : [text.trim()]);

function slices(text: string): string[] {
  const characters = Array.from(text);
  const count = Math.ceil(characters.length / passageCharacters);
  return Array.from({ length: count }, (_, at) =>
    characters.slice(at * passageCharacters, (at + 1) * passageCharacters).join(''),
  );
}
