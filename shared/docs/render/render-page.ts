import type { FindingCode } from '#shared/docs/findings/finding-texts.ts';
import type { RenderedPage } from '#shared/contracts/stored-objects.ts';
import { type InlinePictures, withoutPictures } from '#shared/docs/project/inline-pictures.ts';
import type { ParseOptions } from '#shared/docs/project/parse-page.ts';
import { pictureSize } from '#shared/docs/project/picture-size.ts';
import { pageAddress, pageFile, picturesFolderOf, type RenderedFile, type RenderedText } from './bundle-paths.ts';
import { componentRegistry } from './components/registry.ts';
import { h } from './content/content-tree.ts';
import { noteClass } from './content/content-context.ts';
import { type InlineContent, inlineContent } from './content/inline-content.ts';
import { pageAddresses, type SeenAddresses } from './content/page-addresses.ts';
import type { Section } from './content/page-sections.ts';
import { toContent } from './content/to-content.ts';
import { writeContent } from './content/write-content.ts';
import { withReference } from '#shared/docs/reference/reference-content.ts';
import { evaluatePage } from './evaluate/evaluate-page.ts';
import { PageFailed } from './evaluate/evaluation.ts';
import { reportInto } from './findings.ts';
import { type SafeHtml, scriptJson } from './html.ts';
import { findBarriers } from './find-barriers.ts';
import { isolateFile } from './isolate/isolate-file.ts';
import { isIsolated } from './isolate/isolated-types.ts';
import { type PageIslands, pageIslands } from './islands/page-islands.ts';
import { languageOf } from './interface-texts/language.ts';
import { type PageCard, pageCard } from './card/page-card.ts';
import { type PageStyles, pageStyles } from './isolate/page-styles.ts';
import { pageMarkdown } from './markdown/page-markdown.ts';
import { withAnchors } from './markdown/with-anchors.ts';
import { isOfProject, withPlacesInDescription } from './described-place.ts';
import type { PageSlice, RenderOptions } from './page-slice.ts';
import { maxSearchSection } from './search-index-files.ts';
import { fullTextPart } from './site/crawler-files.ts';
import { pageShell } from './shell/page-shell.ts';
import { playgroundParts } from './shell/playground-parts.ts';

export type PageInput = {
  slice: PageSlice;
  /** Source of the page, unchanged. */
  source: string | Uint8Array;
  /** Texts of the slice's dependencies, by path. */
  dependencies: Readonly<Record<string, string>>;
  options: RenderOptions;
  parser?: ParseOptions['parser'];
};

/** Files by their path inside the bundle's top folder, and the facts of the page that the closing segment needs. */
export type RenderedPageFiles = { files: RenderedText[]; pictures?: RenderedFile[]; page: RenderedPage };

/** A page whose card is not drawn yet, because drawing needs a library that loads later than the others. */
type PageWithCard = RenderedPageFiles & { card?: PageCard; seen: SeenAddresses };

const maxDiagnostics = 300;
const maxHtmlBytes = 8 * 1024 * 1024;
const maxMarkdown = 8 * 1024 * 1024;
/** Limit of the characters that are shown of a source that is not rendered. */
const maxPlainSource = 512 * 1024;

/**
 * Renders one page: `<path>.html` and its Markdown twin `<path>.md`. The same input gives the same bytes. Problems of the page are in its
 * diagnostics; only a page that exceeds a limit throws `PageFailed`.
 */
export function renderPage({ slice, source, dependencies, options, parser }: PageInput): PageWithCard {
  const { variables, latex } = slice.settings;
  const evaluated = evaluatePage(
    { file: slice.file, source, dependencies },
    {
      variables,
      latex,
      parser,
      // An API description may have another author than the project, so nothing in its content runs.
      allowsScripts: options.allowTenantScripts && isOfProject(slice),
      title: slice.title,
      pictureFolder: picturesFolderOf(slice.path),
    },
    componentRegistry,
  );
  const { diagnostics } = evaluated;
  const report = reportInto(diagnostics, slice.file, maxDiagnostics);
  const islands = pageIslands(evaluated.islands, slice, diagnostics);
  const language = languageOf(slice.language);
  const { texts } = language;
  const { path: sliceName, ...reference } = slice.reference ?? { examples: {} };
  const sliceText = sliceName === undefined ? undefined : dependencies[sliceName];
  const hasDescription = typeof slice.frontmatter.description === 'string';
  const withForm = slice.playground !== undefined;
  const page = withReference(evaluated, sliceText, { ...reference, texts, hasDescription, parser, withForm, report });
  const markdown = pageMarkdown(slice, page);
  if (markdown.length > maxMarkdown) throw new PageFailed('page-too-large', 'its Markdown has more than 8 MB');

  const playground = page.form && slice.playground && playgroundParts(page.form, slice.playground, language);
  const content = toContent(page.tree, report, texts, slice.settings.iconLibrary, page.titleHeading);
  if (isOfProject(slice)) findBarriers(page.tree, report);
  const addresses = pageAddresses(withSizes(slice, evaluated.pictures), content.ids, report);
  const main = writeContent(content.main, { addresses });
  const aside = writeContent(content.aside, { addresses });
  const { titleId } = content;
  const ids = [...(titleId === undefined ? [] : [titleId]), ...main.ids, ...aside.ids];

  const { links } = addresses;
  const styles = pageStyles(lastOfEach([...evaluated.styles, ...content.styles]), slice, report);
  const description = descriptionOf(slice, content.ids);
  for (const target of description?.links ?? []) if (!links.has(target)) links.set(target, {});
  const card = pageCard(slice, description?.text, (message) => {
    if (diagnostics.length < maxDiagnostics)
      diagnostics.push({ severity: 'info', code: 'card-left-out', message, file: slice.file });
  });
  const html = pageShell(slice, {
    content: main.html,
    aside: aside.html.text === '' ? undefined : aside.html,
    titleId,
    toc: content.toc,
    ids: new Set(ids),
    banner: banner(slice),
    description,
    hasFeed: content.feedItems.length > 0,
    hasMath: content.mathFonts.size > 0,
    hasDiagrams: content.hasDiagrams,
    playground,
    islands: islands && islands.path,
    styles: styles?.path,
    card: card?.path,
    endpoint: page.added?.endpoint,
  });
  if (Buffer.byteLength(html) > maxHtmlBytes) throw new PageFailed('page-too-large', 'its HTML has more than 8 MB');
  for (const name of islands?.classes ?? []) noteClass(name, content);
  const rendered = renderedFiles(slice, description?.text, html, {
    markdown: withAnchors(markdown, addresses.healed),
    islands,
    styles,
    pictures: picturesIn(html, evaluated.pictures, options.allowTenantScripts),
    sections: [...main.sections, ...aside.sections],
    links: [...links.keys()],
    ...(links.size > 0 && {
      linkLines: Array.from(links.values(), ({ line = 0 }) => line),
      linkColumns: Array.from(links.values(), ({ column = 0 }) => column),
      ...(links.values().some(({ file }) => file !== undefined) && {
        linkFiles: Array.from(links.values(), ({ file = '' }) => file),
      }),
    }),
    anchors: ids,
    classes: [...content.classes].sort(),
    diagnostics: withPlacesInDescription(slice, diagnostics),
    feedItems: content.feedItems,
    ...(content.hasDiagrams && { hasDiagrams: true }),
    ...(playground?.isInteractive === true && { playground: language.textsName ?? 'en' }),
    ...(islands && { hasIslands: true }),
    ...(content.mathFonts.size > 0 && { mathFonts: [...content.mathFonts].sort() }),
  });
  return { ...rendered, ...(card && { card }), seen: addresses.seen };
}

/** Each text once, at its last place: a style sheet that occurs twice counts where it occurs last, as in a browser. */
const lastOfEach = (texts: readonly string[]): string[] => [...new Set(texts.toReversed())].reverse();

/** The files of pictures that a page shows. SVG files are isolated where the project's scripts are not allowed, so that they run nothing. */
function picturesIn(html: string, pictures: InlinePictures, allowsScripts: boolean): RenderedFile[] {
  if (pictures.size === 0) return [];
  // A search for each picture would take long in a page with thousands of them.
  const names = new Set(html.match(/[0-9a-f]{32}\.[a-z]{3,4}\b/g));
  const shown = [...pictures].filter(([path]) => names.has(path.slice(path.lastIndexOf('/') + 1)));
  return shown.map(([path, body]) => ({
    path,
    body: !allowsScripts && isIsolated(path) ? isolateFile(path, body) : body,
  }));
}

/** Adds the sizes of the pictures that are embedded in the page's source. */
function withSizes(slice: PageSlice, pictures: InlinePictures): PageSlice {
  if (pictures.size === 0) return slice;
  const sizes = [...pictures].flatMap(([path, bytes]) => {
    const size = pictureSize(bytes);
    return size === undefined ? [] : [[path, size] as const];
  });
  return { ...slice, pictures: { ...slice.pictures, ...Object.fromEntries(sizes) } };
}

/**
 * Renders the title and plain source of a page that exceeds a limit, or that crashed or hung while `onPageError` is "report". `reason`: the cause as
 * a sentence. `code`: the limit.
 */
export function renderFailedPage(
  { slice, source }: Pick<PageInput, 'slice' | 'source'>,
  reason: string,
  code: FindingCode = 'page-not-rendered',
): RenderedPageFiles {
  const text = plainSource(source);
  const note = languageOf(slice.language).texts.pageNotRendered;
  const description = descriptionOf(slice);
  const content = [
    h('div', { className: ['callout', 'callout-warning'], role: 'note' }, [
      h('div', { className: ['callout-content'] }, note),
    ]),
    h('pre', { className: ['plain-source'], tabIndex: 0 }, [h('code', text)]),
  ];
  const html = pageShell(slice, {
    content: writeContent(content).html,
    aside: undefined,
    toc: [],
    ids: new Set(),
    banner: banner(slice),
    description,
    hasFeed: false,
    hasMath: false,
    hasDiagrams: false,
    playground: undefined,
  });
  const failure = reason.slice(0, 300);
  return renderedFiles(slice, description?.text, html, {
    markdown: `# ${slice.title}\n\n${text}\n`,
    sections: [],
    links: [],
    anchors: [],
    classes: [],
    diagnostics: withPlacesInDescription(slice, [{ severity: 'error', code, message: failure, file: slice.file }]),
    failure,
    feedItems: [],
  });
}

type PageContent = Pick<
  RenderedPage,
  | 'links'
  | 'linkLines'
  | 'linkColumns'
  | 'linkFiles'
  | 'anchors'
  | 'classes'
  | 'diagnostics'
  | 'hasDiagrams'
  | 'playground'
  | 'hasIslands'
  | 'mathFonts'
  | 'failure'
  | 'feedItems'
> & {
  markdown: string;
  islands?: PageIslands | undefined;
  styles?: PageStyles | undefined;
  pictures?: RenderedFile[];
  sections: readonly Section[];
};

/** The files of a page, and its facts for the closing segment. */
function renderedFiles(
  { path, title, canonical = pageAddress(path) }: PageSlice,
  description: string | undefined,
  html: string,
  { markdown, islands, styles, pictures = [], sections, ...facts }: PageContent,
): RenderedPageFiles {
  const fullText = fullTextPart(canonical, markdown);
  const found = sections.map(({ anchor, heading, text }) => [
    anchor,
    heading,
    text.slice(0, maxSearchSection).toWellFormed(),
  ]);
  const search = scriptJson(found);
  return {
    files: [
      { path: pageFile(path), body: html },
      { path: `${path}.md`, body: markdown },
      ...(islands ? [{ path: islands.path, body: islands.script }] : []),
      ...(styles ? [{ path: styles.path, body: styles.text }] : []),
    ],
    ...(pictures.length > 0 && { pictures }),
    page: {
      path,
      title,
      fullTextBytes: Buffer.byteLength(fullText),
      searchBytes: Buffer.byteLength(search),
      searchCharacters: sections.reduce((sum, { text }) => sum + Math.min(maxSearchSection, text.length), 0),
      fullText,
      search,
      ...facts,
      ...(description !== undefined && { description }),
    },
  };
}

function plainSource(source: string | Uint8Array): string {
  const text = typeof source === 'string' ? source.toWellFormed() : new TextDecoder().decode(source);
  const shown = withoutPictures(text)
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .replace(/^---\n[\s\S]*?\n---(\n|$)/, '')
    .replaceAll('\0', '\ufffd');
  return shown.length > maxPlainSource ? `${shown.slice(0, maxPlainSource).toWellFormed()}\n…` : shown;
}

/** The banner: one line of Markdown from the settings. */
function banner(slice: PageSlice): SafeHtml | undefined {
  return slice.settings.banner && inlineContent(slice.settings.banner.content, slice, 'left out').html;
}

/** The description: one line of Markdown in which HTML is text. */
function descriptionOf(slice: PageSlice, ids?: ReadonlySet<string>): InlineContent | undefined {
  return slice.description === undefined ? undefined : inlineContent(slice.description, slice, 'shown', ids);
}
