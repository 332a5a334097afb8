import { posix } from 'node:path';
import {
  type CompletionItem,
  CompletionItemKind,
  CompletionItemTag,
  type CompletionList,
  InsertTextFormat,
} from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Support } from '#shared/docs/format/support.ts';
import type { ValueKind } from '#shared/docs/format/value-kinds.ts';
import { iconNames } from '#shared/docs/icons/find-icon.ts';
import { extensionOf } from '#shared/docs/project/project-files.ts';
import { pageAddress } from '#shared/docs/render/bundle-paths.ts';
import { componentWords, documentationOf, frontmatterWords, settingAt } from './format-words.ts';
import type { ProjectOutline } from './project-questions.ts';
import { placeInJson, placeInPage } from './written-place.ts';

/** The project around a document, for its completion. `anchorsOf`: the anchors of a page by the file of the page. */
export type CompletionContext = {
  file: string;
  outline: ProjectOutline;
  anchorsOf: (file: string) => Promise<readonly string[]>;
  /** False if the editor inserts texts as they are. */
  snippets: boolean;
};

/** Limit of the proposals of one answer; the editor asks again after the next letter. */
const mostItems = 200;

type Range = { start: number; end: number };

/** Proposals at an offset of a page, a snippet or `docs.json`. Pure but for `anchorsOf`. */
export async function completionsAt(
  document: TextDocument,
  offset: number,
  context: CompletionContext,
): Promise<CompletionList> {
  const text = document.getText();
  const list = (found: readonly CompletionItem[], range: Range): CompletionList => {
    const written = text.slice(range.start, offset).toLowerCase();
    const matching =
      found.length <= mostItems ? found : found.filter(({ label }) => label.toLowerCase().includes(written));
    const edited = { start: document.positionAt(range.start), end: document.positionAt(range.end) };
    const items = matching.slice(0, mostItems).map((item): CompletionItem => {
      const { insertText = item.label, ...rest } = item;
      return { ...rest, filterText: item.filterText ?? item.label, textEdit: { range: edited, newText: insertText } };
    });
    return { isIncomplete: matching.length > mostItems || found.length > mostItems, items };
  };
  if (extensionOf(context.file) === 'json') return inConfig(text, offset, context, list);
  const place = placeInPage(text, offset);
  switch (place?.kind) {
    case undefined:
      return none;
    case 'frontmatter-key': {
      const others = [...frontmatterWords].filter(
        ([name]) => !place.keys.includes(name) || text.slice(place.start, place.end) === name,
      );
      return list(
        others.map(([name, support]) => ({
          ...itemOf(name, support, CompletionItemKind.Property),
          insertText: afterKey(text, place.end, name),
        })),
        place,
      );
    }
    case 'frontmatter-value':
      return list(
        await valuesFor(frontmatterWords.get(place.key)?.value, text.slice(place.start, offset), context),
        place,
      );
    case 'address':
      return list(await addresses(place.of, place.text, context), place);
    case 'component':
      return list([...componentItems, ...importedComponents(text)], place);
    case 'prop': {
      const props = componentWords.get(place.component)?.props ?? new Map<string, Support>();
      const open = [...props].filter(([name]) => !place.written.includes(name));
      return list(
        open.map(([name, support]) => ({
          ...itemOf(name, support, CompletionItemKind.Field),
          ...propText(text, place.end, name, support, context),
        })),
        place,
      );
    }
    case 'prop-value': {
      const kind = place.component === 'Snippet' ? componentWords.get('Snippet')?.props.get('file')?.value : undefined;
      const known =
        componentWords.get(place.component)?.props.get(place.prop)?.value ?? kind ?? valueOfHtml[place.prop];
      return list(await valuesFor(known, text.slice(place.start, offset), context), place);
    }
  }
}

const none: CompletionList = { isIncomplete: false, items: [] };

/** Attributes of HTML elements that name things of the project. */
const valueOfHtml: Readonly<Record<string, ValueKind>> = {
  href: { schema: {}, names: 'page' },
  src: { schema: {}, names: 'picture' },
  icon: { schema: {}, names: 'icon' },
};

function itemOf(name: string, support: Support, kind: CompletionItemKind): CompletionItem {
  const hasNone = support.is === 'not';
  return {
    label: name,
    kind,
    documentation: { kind: 'markdown', value: documentationOf(support) },
    // Names without effect come last.
    sortText: `${hasNone ? 1 : 0}${name}`,
    ...(hasNone && { tags: [CompletionItemTag.Deprecated] }),
  };
}

const afterKey = (text: string, end: number, name: string): string => (text[end] === ':' ? name : `${name}: `);

/** A prop with the begin of its value, if none is written yet. */
function propText(
  text: string,
  end: number,
  name: string,
  { value: { schema } }: Support,
  { snippets }: CompletionContext,
): Partial<CompletionItem> {
  if (text[end] === '=' || schema.type === 'boolean') return { insertText: name };
  const [open, close] = schema.type === 'number' || schema.type === 'array' ? ['{', '}'] : ['"', '"'];
  return snippets
    ? { insertText: `${name}=${open}$1${close}`, insertTextFormat: InsertTextFormat.Snippet }
    : { insertText: `${name}=${open}${close}` };
}

const componentItems: readonly CompletionItem[] = [...componentWords.values()].map(({ name, support }) =>
  itemOf(name, support, CompletionItemKind.Class),
);

/** Names that the document imports or exports. */
const importedComponents = (text: string): CompletionItem[] =>
  [...text.matchAll(/^[ \t]*(?:import|export)\b([^'"\n=]*)/gm)]
    .flatMap(([, names = '']) => names.match(/\b[A-Z]\w*/g) ?? [])
    .map((label) => ({ label, kind: CompletionItemKind.Module }));

async function valuesFor(
  kind: ValueKind | undefined,
  written: string,
  context: CompletionContext,
): Promise<CompletionItem[]> {
  if (kind === undefined) return [];
  const { schema, names } = kind;
  const texts = [...(schema.enum ?? []), ...(schema.type === 'boolean' ? ['true', 'false'] : [])];
  const items = texts.map((label): CompletionItem => ({ label, kind: CompletionItemKind.EnumMember }));
  if (names === 'icon') return iconItems(context);
  if (names === 'page') return addresses('link', written, context);
  if (names === 'picture') return addresses('picture', written, context);
  if (names === 'snippet') return addresses('snippet', written, context);
  if (names === 'file') return fileItems(context.outline.files.filter((file) => /\.(?:json|ya?ml)$/i.test(file)));
  return items;
}

const iconItems = ({ outline: { iconLibrary } }: CompletionContext): CompletionItem[] =>
  iconNames(iconLibrary).map((label) => ({ label, kind: CompletionItemKind.Value }));

const fileItems = (paths: readonly string[]): CompletionItem[] =>
  paths.map((label) => ({ label, kind: CompletionItemKind.File }));

/** Paths that an address can have, and after a hash the anchors of its page. */
async function addresses(
  of: 'link' | 'picture' | 'import' | 'snippet',
  written: string,
  { file, outline, anchorsOf }: CompletionContext,
): Promise<CompletionItem[]> {
  const { pages, files, snippets } = outline;
  if (of === 'import') return fileItems(snippets.map((path) => `/${path}`));
  if (of === 'snippet') return fileItems(snippets.map((path) => path.replace(/^_?snippets\//, '')));
  if (of === 'picture') return fileItems(files.filter(isPicture).map((path) => `/${path}`));
  const hash = written.indexOf('#');
  if (hash >= 0) {
    const address = written.slice(0, hash);
    const page = pageAt(address, file, outline);
    const anchors = page === undefined ? [] : await anchorsOf(page);
    return anchors.map((anchor) => ({ label: `${address}#${anchor}`, kind: CompletionItemKind.Reference }));
  }
  return [
    ...pages.map(
      ({ path, title, description }): CompletionItem => ({
        label: pageAddress(path),
        kind: CompletionItemKind.File,
        detail: title,
        filterText: `${pageAddress(path)} ${title}`,
        ...(description !== undefined && { documentation: description }),
      }),
    ),
    ...fileItems(files.filter((path) => !isPicture(path)).map((path) => `/${path}`)),
  ];
}

const isPicture = (path: string): boolean => /\.(?:png|jpe?g|gif|webp|avif|svg|mp4|webm)$/i.test(path);

/** The file of the page of an address in a document; '' is its own page. */
function pageAt(address: string, file: string, { pages }: ProjectOutline): string | undefined {
  if (address === '') return file;
  const rooted = address.startsWith('/') ? address : posix.join('/', posix.dirname(file), address);
  const path = rooted.replace(/\.mdx?$/i, '').replace(/^\/|\/$/g, '') || 'index';
  return pages.find((page) => page.path === path || page.path === `${path}/index`)?.file;
}

async function inConfig(
  text: string,
  offset: number,
  context: CompletionContext,
  list: (found: readonly CompletionItem[], range: Range) => CompletionList,
): Promise<CompletionList> {
  const place = placeInJson(text, offset);
  if (place === undefined || place.isKey) return none;
  const [top] = place.path;
  const named = place.path.findLast((part) => typeof part === 'string');
  if (top === 'navigation' && (named === 'pages' || named === 'root' || named === 'groups')) {
    const written = text.slice(place.start, place.end);
    // Pages that the navigation lacks come first.
    return list(
      context.outline.pages
        .filter(({ file }) => /\.mdx?$/i.test(file))
        .map(({ path, title, inNavigation }) => ({
          label: path,
          kind: CompletionItemKind.File,
          detail: title,
          filterText: `${path} ${title}`,
          sortText: `${inNavigation && path !== written ? 1 : 0}${path}`,
        })),
      place,
    );
  }
  const value = settingAt(place.path)?.support?.value;
  return list(await valuesFor(value, text.slice(place.start, offset), context), place);
}
