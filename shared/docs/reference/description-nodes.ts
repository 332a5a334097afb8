import type { Nodes } from 'mdast';
import { markdownToMdast } from 'satteri';
import { micromarkTree } from '#shared/docs/project/micromark-page-parser.ts';
import type { ParseOptions } from '#shared/docs/project/parse-page.ts';
import { fencedLines } from '#shared/docs/project/prepare-source.ts';
import { RecentValues } from '#shared/docs/render/recent-values.ts';
import { brokenLimit } from '#shared/docs/project/source-limits.ts';

const longest = 50_000;
/** Cache: operations of an interface share their schemas, and so their descriptions. */
const recentNodes = new RecentValues<Nodes[]>(500_000);

/** A line without these characters is plain text. */
const marks = /[\\`*_[<&|#~\n\r\0]|:\/\/|www\.|@|^\s*(?:[-+>]|\d+[.)])/;

/**
 * The Markdown of a description as nodes. HTML tags are left out, and text that breaks a limit of pages becomes plain text. With `isField` headings
 * become bold lines, because a field is not a section of the page.
 */
export function descriptionNodes(written: string, parser: ParseOptions['parser'], isField: boolean): Nodes[] {
  const text = written.slice(0, longest).toWellFormed().trim();
  if (text === '') return [];
  if (!marks.test(text)) return [plain(text)];
  // The nodes are never changed, but the list is copied, because callers may add to it.
  return [...recentNodes.get(`${parser} ${isField} ${text}`, () => parsedNodes(text, parser, isField))];
}

function parsedNodes(text: string, parser: ParseOptions['parser'], isField: boolean): Nodes[] {
  const lines = text.replaceAll(/\r\n?/g, '\n').split('\n');
  if (brokenLimit(lines, fencedLines(lines))) return [plain(text)];
  const source = lines.join('\n');
  const tree =
    parser === 'micromark'
      ? micromarkTree(source, 'html', false)
      : (markdownToMdast(source, { features: { frontmatter: false } }) as ReturnType<typeof micromarkTree>);
  return withoutHtml(tree.children, isField, true);
}

const plain = (value: string): Nodes => ({ type: 'paragraph', children: [{ type: 'text', value }] });

function withoutHtml(nodes: readonly Nodes[], isField: boolean, isFlow: boolean): Nodes[] {
  return nodes.flatMap((node): Nodes[] => {
    if (node.type === 'html') return isFlow ? inParagraph(ofHtml(node.value)) : ofHtml(node.value);
    if (!('children' in node)) return [withoutPlace(node)];
    const children = withoutHtml(node.children, isField, flowTypes.has(node.type));
    if (node.type === 'heading' && isField)
      return [{ type: 'paragraph', children: [{ type: 'strong', children: children as [] }] }];
    // The page's own sections are at the second level.
    const depth = node.type === 'heading' ? { depth: Math.max(2, node.depth) } : {};
    return [{ ...withoutPlace(node), ...depth, children } as Nodes];
  });
}

/** Removes HTML tags, with scripts, styles and comments. Text that only looks like a tag, such as `<your-name>`, stays. */
function ofHtml(html: string): Nodes[] {
  if (/^<br\s*\/?>/i.test(html)) return [{ type: 'break' }];
  const others = html.replaceAll(/<!--[\s\S]*?-->|<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, '');
  const hasOther = [...others.matchAll(tag)].some(([, name = '']) => !isHtmlTag(name));
  const shown = others.replaceAll(tag, (written, name: string) => (isHtmlTag(name) ? '' : written)).trim();
  return hasOther ? [{ type: 'text', value: shown }] : [];
}

const inParagraph = (nodes: Nodes[]): Nodes[] =>
  nodes.length === 0 ? [] : [{ type: 'paragraph', children: nodes as [] }];

const flowTypes = new Set(['blockquote', 'listItem', 'footnoteDefinition']);
const tag = /<\/?([a-z][\w.:-]*)\b[^>]*>/gi;

const htmlTags = new Set(
  `a abbr address area article aside audio b base bdi bdo blockquote body br button canvas caption center cite code col colgroup data datalist dd del
  details dfn dialog div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i
  iframe img input ins kbd label legend li link main map mark menu meta meter nav noscript object ol optgroup option output p param picture pre
  progress q rp rt ruby s samp script search section select slot small source span strike strong style sub summary sup svg path table tbody td
  template textarea tfoot th thead time title tr track tt u ul var video wbr`.split(/\s+/),
);
const isHtmlTag = (name: string): boolean => htmlTags.has(name.toLowerCase());

/** Positions in a description are not positions in the page. */
function withoutPlace<N extends Nodes>({ position: _, ...node }: N): N {
  return node as N;
}
