import type { Nodes } from 'mdast';
import { markdownToMdast } from 'satteri';
import { micromarkTree } from '#shared/docs/project/micromark-page-parser.ts';
import type { ParseOptions } from '#shared/docs/project/parse-page.ts';
import { fencedLines } from '#shared/docs/project/prepare-source.ts';
import { RecentValues } from '#shared/docs/render/recent-values.ts';
import { brokenLimit } from '#shared/docs/project/source-limits.ts';

const longest = 50_000;
/** Operations of an interface share their schemas, and so the descriptions in them. */
const recentNodes = new RecentValues<Nodes[]>(500_000);

/** Without one of these a line is only words. */
const marks = /[\\`*_[<&|#~\n\r\0]|:\/\/|www\.|@|^\s*(?:[-+>]|\d+[.)])/;

/**
 * The Markdown of a description as nodes. HTML in it is left out, and what breaks a limit of pages is plain text. `isField`: its headings are
 * bold lines, because a field is no section of the page.
 */
export function descriptionNodes(written: string, parser: ParseOptions['parser'], isField: boolean): Nodes[] {
  const text = written.slice(0, longest).toWellFormed().trim();
  if (text === '') return [];
  if (!marks.test(text)) return [plain(text)];
  // Nobody changes them, but a list of its own each gets: it may be added to.
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
  return withoutHtml(tree.children, isField);
}

const plain = (value: string): Nodes => ({ type: 'paragraph', children: [{ type: 'text', value }] });

function withoutHtml(nodes: readonly Nodes[], isField: boolean): Nodes[] {
  return nodes.flatMap((node): Nodes[] => {
    if (node.type === 'html') return /^<br\s*\/?>/i.test(node.value) ? [{ type: 'break' }] : [];
    if (!('children' in node)) return [withoutPlace(node)];
    const children = withoutHtml(node.children, isField);
    if (node.type === 'heading' && isField)
      return [{ type: 'paragraph', children: [{ type: 'strong', children: children as [] }] }];
    // The page's own sections are of the second level.
    const depth = node.type === 'heading' ? { depth: Math.max(2, node.depth) } : {};
    return [{ ...withoutPlace(node), ...depth, children } as Nodes];
  });
}

/** Its lines are those of no page. */
function withoutPlace<N extends Nodes>({ position: _, ...node }: N): N {
  return node as N;
}
