import type { Element, ElementContent, Root, RootContent } from 'hast';
import { toText } from '../content/finish-content.ts';
import { voidElements } from '../write-html.ts';

/** Elements of drawings: only shapes, nothing that loads, links, animates or contains HTML. */
export const drawnElements: ReadonlySet<string> = new Set(
  'svg g path circle ellipse line polyline polygon rect text tspan defs linearGradient radialGradient stop clipPath mask title desc'.split(
    ' ',
  ),
);

/** What is around a node. */
type Around = {
  parent: string;
  /** Of the parent. */
  outer: string;
  inDrawing: boolean;
  inLink: boolean;
  inButton: boolean;
  inHeading: boolean;
};

/**
 * Changes the tree until every element is where HTML allows it, so that a parser of the written page sees the same tree. A browser
 * would mend it otherwise: end paragraphs early, move elements out of tables, and take a `title` outside of a drawing for the page's.
 * What stands where it cannot is wrapped in what is missing, or becomes a `div` or `span`; only its text is left of what cannot be in a
 * drawing. Nothing is in elements that hold no elements.
 */
export function nestElements(tree: Root): void {
  const top = { parent: '', outer: '', inDrawing: false, inLink: false, inButton: false, inHeading: false };
  tree.children = nested(tree.children, top);
}

const nested = (nodes: readonly (RootContent | ElementContent)[], around: Around): ElementContent[] =>
  nodes.flatMap((node) => {
    if (node.type === 'text') return [node];
    return node.type === 'element' ? placed(node, around) : [];
  });

/** The element as it may stand here, or what stands for it. */
function placed(element: Element, around: Around): ElementContent[] {
  const isDrawn = drawnElements.has(element.tagName);
  if (isDrawn ? !around.inDrawing && element.tagName !== 'svg' : around.inDrawing) {
    return nested(element.children, around);
  }
  const name = isDrawn ? element.tagName : nameHere(element, around);
  if (name === undefined) return nested(element.children, around);
  if (around.inLink && isLinkToItself(element)) return [];
  if (name !== element.tagName) becomePlain(element, name);
  if (voidElements.has(name)) {
    const after = nested(element.children, around);
    element.children = [];
    return [element, ...after];
  }
  element.children = childrenOf(element, {
    parent: name,
    outer: around.parent,
    inDrawing: isDrawn,
    inLink: around.inLink || name === 'a',
    inButton: around.inButton || name === 'button',
    inHeading: around.inHeading || isHeading(name),
  });
  if (name === 'p' && element.children.some(endsParagraph)) element.tagName = 'div';
  return [element];
}

function childrenOf(element: Element, inside: Around): ElementContent[] {
  if (element.tagName === 'iframe') return [];
  if (inside.inDrawing && (element.tagName === 'title' || element.tagName === 'desc')) {
    const value = toText(element.children);
    return value === '' ? [] : [{ type: 'text', value }];
  }
  const children = nested(element.children, inside);
  const wrap = tableParts.get(element.tagName);
  return wrap === undefined ? children : wrap(children);
}

const isHeading = (name: string): boolean => /^h[1-6]$/.test(name);

/** Headings have a link to themselves. In another link there is no use for it. */
const isLinkToItself = ({ properties }: Element): boolean =>
  Array.isArray(properties.className) && properties.className.includes('heading-anchor');

/** What an element is called where it stands; undefined: only its content may stand here. */
function nameHere({ tagName }: Element, around: Around): string | undefined {
  const { parent, outer } = around;
  switch (tagName) {
    case 'a':
      return around.inLink ? 'span' : tagName;
    case 'button':
      return around.inButton ? 'span' : tagName;
    case 'label':
      return around.inLink || around.inButton ? 'span' : tagName;
    case 'p':
    case 'div':
      return around.inHeading ? 'span' : tagName;
    case 'li':
      return parent === 'ul' || parent === 'ol' ? tagName : 'div';
    case 'dt':
    case 'dd':
      return parent === 'dl' || (parent === 'div' && outer === 'dl') ? tagName : 'div';
    case 'rt':
    case 'rp':
      return parent === 'ruby' ? tagName : 'span';
    case 'caption':
    case 'colgroup':
    case 'thead':
    case 'tbody':
    case 'tfoot':
      return parent === 'table' ? tagName : undefined;
    case 'tr':
      return /^(table|thead|tbody|tfoot)$/.test(parent) ? tagName : undefined;
    case 'td':
    case 'th':
      return /^(table|thead|tbody|tfoot|tr)$/.test(parent) ? tagName : 'div';
    case 'col':
      return parent === 'table' || parent === 'colgroup' ? tagName : undefined;
    default:
      return isHeading(tagName) && around.inHeading ? 'span' : tagName;
  }
}

/** Gives an element a plain name. What the old name meant goes with it. */
function becomePlain(element: Element, name: string): void {
  element.tagName = name;
  for (const property of [
    'href',
    'target',
    'rel',
    'download',
    'type',
    'htmlFor',
    'value',
    'colSpan',
    'rowSpan',
    'headers',
    'scope',
  ])
    delete element.properties[property];
}

/** Elements before which a parser ends an open paragraph. */
const endingParagraph = new Set(
  `address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6
  header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp`.split(/\s+/),
);

/** Inside of a button, a parser does not look for open paragraphs around it. */
const endsParagraph = (node: ElementContent): boolean =>
  node.type === 'element' &&
  (endingParagraph.has(node.tagName) || (node.tagName !== 'button' && node.children.some(endsParagraph)));

/** Children of a table and its parts: spaces are left out, and what may not be a child is wrapped in what is missing. */
const tableParts: ReadonlyMap<string, (children: ElementContent[]) => ElementContent[]> = new Map([
  [
    'table',
    (children) =>
      wrapped(children, /^(caption|colgroup|thead|tbody|tfoot)$/, (name) => (name === 'col' ? 'colgroup' : 'tbody')),
  ],
  ['thead', rows],
  ['tbody', rows],
  ['tfoot', rows],
  ['tr', (children) => wrapped(children, /^(td|th)$/, () => 'td')],
  ['colgroup', (children) => children.filter((child) => child.type === 'element' && child.tagName === 'col')],
]);

function rows(children: ElementContent[]): ElementContent[] {
  return wrapped(children, /^tr$/, () => 'tr');
}

/** Runs of children that may not be here become one element each, as `wrapperOf` says by their names. */
function wrapped(
  children: readonly ElementContent[],
  allowed: RegExp,
  wrapperOf: (name: string) => string,
): ElementContent[] {
  const fitting: ElementContent[] = [];
  const made: Element[] = [];
  let open: Element | undefined;
  for (const child of children) {
    if (child.type === 'text' && child.value.trim() === '' && open?.tagName !== 'td') continue;
    const name = child.type === 'element' ? child.tagName : '';
    if (allowed.test(name)) {
      open = undefined;
      fitting.push(child);
      continue;
    }
    const wrapper = wrapperOf(name);
    if (open?.tagName !== wrapper) {
      open = { type: 'element', tagName: wrapper, properties: {}, children: [] };
      fitting.push(open);
      made.push(open);
    }
    open.children.push(child);
  }
  for (const wrapper of made)
    wrapper.children = tableParts.get(wrapper.tagName)?.(wrapper.children) ?? wrapper.children;
  return fitting;
}
