import type { Nodes, Root } from 'mdast';
import type { Report } from './findings.ts';
import type { StaticElement } from './evaluate/static-tree.ts';
import { plainText } from './components/component.ts';

/**
 * Reports what keeps readers from using a page with a screen reader: pictures without descriptions, skipped levels of headings, and links whose text
 * does not say where they lead. `tree`: the page after evaluation, so that expressions and snippets count as readers get them.
 */
export function findBarriers(tree: Root, report: Report): void {
  visit(tree.children, { level: 1 }, report);
}

/** The level of the last heading; undefined at the start of a part that has an outline of its own. */
type Outline = { level: number | undefined };

/** Components whose content readers open or filter on its own, so its first heading may have any level. */
const ownOutline = new Set(
  'Accordion Expandable Tab Tabs.Tab View Step Update Panel ParamField ResponseField Card Tile'.split(' '),
);
/** Content that screen readers do not read, or that is not for people. */
const isHidden = ({ name, props }: StaticElement): boolean =>
  props.get('aria-hidden') === 'true' ||
  props.get('aria-hidden') === true ||
  props.get('ariaHidden') === true ||
  (name === 'Visibility' && props.get('for') === 'agents');

function visit(nodes: readonly Nodes[], outline: Outline, report: Report): void {
  for (const node of nodes) {
    switch (node.type) {
      case 'image':
      case 'imageReference':
        if ((node.alt ?? '').trim() === '') reportPicture(node, report);
        break;
      case 'heading':
        heading(node.depth, node, outline, report);
        visit(node.children, outline, report);
        break;
      case 'link':
        link(node.children, node.url, node, report);
        visit(node.children, outline, report);
        break;
      case 'staticElement':
        element(node, outline, report);
        break;
      case 'staticIsland':
        break;
      default:
        if ('children' in node) visit(node.children, outline, report);
    }
  }
}

function element(node: StaticElement, outline: Outline, report: Report): void {
  const { name, props, children } = node;
  if (isHidden(node)) return;
  if (name === 'img' || name === 'Image') {
    const isMissing = props.get('alt') === undefined && props.get('aria-label') === undefined;
    const role = props.get('role');
    if (isMissing && role !== 'presentation' && role !== 'none') reportPicture(node, report);
    return;
  }
  const level = name === 'Heading' ? Number(props.get('level') ?? Number.NaN) : Number(/^h([1-6])$/.exec(name)?.[1]);
  if (level >= 1 && level <= 6) heading(level, node, outline, report);
  const href = props.get('href');
  const isLink = name === 'a' || name === 'Link';
  const isNamed = props.has('aria-label') || props.has('title');
  if (isLink && typeof href === 'string' && !isNamed) link(children, href, node, report);
  visit(children, ownOutline.has(name) ? { level: undefined } : outline, report);
}

function reportPicture(place: Nodes, report: Report): void {
  report(
    'missing-alt-text',
    'This picture has no description for readers who do not see it. Say what it shows, or write alt="" in an <img> that only decorates.',
    place,
  );
}

function heading(level: number, place: Nodes, outline: Outline, report: Report): void {
  const before = outline.level;
  outline.level = level;
  if (before === undefined || level <= before + 1) return;
  const after = before === 1 ? 'the title of the page' : `a heading of level ${before}`;
  const message = `This heading has level ${level} and follows ${after}. Use level ${before + 1}.`;
  report('skipped-heading-level', message, place, 'info');
}

/** Texts that say nothing without the words around them, in lower case and without punctuation. */
const vagueTexts = new Set(
  [
    'here|click here|right here|over here|this|this link|this page|link|the link|this one|click|click this|read more|more|see more|see here',
    'hier|hier klicken|dieser link|mehr|ici|cliquez ici|ce lien|aquí|aqui|haga clic aquí|este enlace|clique aqui|qui|clicca qui',
    '这里|此处|点击这里|点此|こちら|ここ|여기|здесь|тут',
  ]
    .join('|')
    .split('|'),
);

function link(children: readonly Nodes[], href: string, place: Nodes, report: Report): void {
  const text = readable(children)
    .trim()
    .replace(/^[\s"'“”«»([]+|[\s"'“”«»)\].,;:!?…→»]+$/g, '')
    .toLowerCase();
  // A link without text and with an anchor of its own page is a target of other links in older pages.
  if (text === '' && !hasContent(children)) {
    if (!href.startsWith('#') && href !== '')
      report('empty-link-text', `The link to ${quoted(href)} has no text. Write where it leads.`, place);
  } else if (vagueTexts.has(text))
    report(
      'vague-link-text',
      `The link text ${quoted(readable(children).trim())} does not say where it leads. Name the target in it.`,
      place,
      'info',
    );
}

/** The text of a link as a screen reader reads it. */
const readable = (nodes: readonly Nodes[]): string =>
  nodes
    .map((node) => {
      if (node.type === 'image' || node.type === 'imageReference') return node.alt ?? '';
      if (node.type === 'staticElement') {
        const alt = node.props.get(node.name === 'svg' ? 'aria-label' : 'alt');
        return typeof alt === 'string' ? alt : readable(node.children);
      }
      return 'value' in node ? node.value : 'children' in node ? readable(node.children) : plainText([node]);
    })
    .join('');

/** True for a link with a picture, a component or code in it. A picture without a description has a finding of its own. */
const hasContent = (nodes: readonly Nodes[]): boolean =>
  nodes.some(
    (node) =>
      ('value' in node && node.value.trim() !== '') ||
      node.type === 'image' ||
      node.type === 'imageReference' ||
      node.type === 'staticElement' ||
      node.type === 'staticIsland' ||
      ('children' in node && hasContent(node.children)),
  );

const quoted = (text: string): string => JSON.stringify(text.slice(0, 100));
