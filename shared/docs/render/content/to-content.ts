import type { Element, ElementContent, Properties } from 'hast';
import { h as readElement, s as readDrawn } from 'hastscript';
import type { Code, Definition, Emphasis, FootnoteDefinition, Heading, Nodes, Root, Table, Text } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { defaultHandlers, type Handler, type State, toHast } from 'mdast-util-to-hast';
import type { IconLibrary } from '#shared/docs/icons/find-icon.ts';
import type { BlockMath, InlineMath } from '#shared/docs/project/parse-page.ts';
import { codeBlock } from '#shared/docs/render/code/code-block.ts';
import { propertiesWithoutEffect } from '#shared/docs/format/components.ts';
import { plainText } from '#shared/docs/render/components/component.ts';
import { componentRegistry } from '#shared/docs/render/components/registry.ts';
import { PageFailed } from '#shared/docs/render/evaluate/evaluation.ts';
import {
  type StaticElement,
  type StaticFragment,
  type StaticIsland,
  StaticNodes,
  type StaticProps,
  type StaticSlot,
  type StaticValue,
} from '#shared/docs/render/evaluate/static-tree.ts';
import { markdownOf } from '#shared/docs/render/markdown/page-markdown.ts';
import { contentElements, drawnElements, strippedElements } from '#shared/docs/render/sanitize/content-schema.ts';
import { PageMath } from '#shared/docs/render/math/page-math.ts';
import type { Report } from '../findings.ts';
import { filled, type InterfaceTexts } from '../interface-texts/interface-texts.ts';
import { anchorOf, Anchors, type ContentContext, writtenClasses } from './content-context.ts';
import { h, toText, type Typeset } from './content-tree.ts';
import { withFixedColumns } from './table-columns.ts';

type Content = Pick<ContentContext, 'toc' | 'feedItems' | 'aside' | 'classes' | 'styles'> & {
  main: ElementContent[];
  /** The id of the heading that is the title of the page; undefined if there is none, or if an element of the content has the id. */
  titleId: string | undefined;
  /** All ids and names that links may refer to in the content. */
  ids: ReadonlySet<string>;
  /** Names of the font files that its formulas use. */
  mathFonts: ReadonlySet<string>;
  /** The content has diagrams to draw. */
  hasDiagrams: boolean;
};

const maxHeadingsInToc = 300;
const maxDepth = 250;

/**
 * Renders the components of a static page and gives its headings their ids. The result is an HTML tree for `writeContent`. `texts` are in the page's
 * language. Icons that authors name are looked up in the library, or left out if none is given. `titleHeading` is shown as the title of the page;
 * links may refer to it as to any other heading.
 */
export function toContent(
  tree: Root,
  report: Report,
  texts: InterfaceTexts,
  iconLibrary?: IconLibrary,
  titleHeading?: Heading,
): Content {
  let depth = 0;
  let state: State | undefined;
  const context: ContentContext = {
    anchors: new Anchors(),
    toc: [],
    feedItems: [],
    linkNames: [],
    styles: [],
    aside: [],
    codeLength: 0,
    math: new PageMath(),
    classes: new Set(),
    diagrams: { count: 0 },
    children: () => [],
    inlineMarkdown(text) {
      const parsed = fromMarkdown(text.slice(0, 5000));
      const blocks = parsed.children.filter((node) => node.type !== 'html');
      return blocks.flatMap((node) =>
        node.type === 'paragraph' ? context.children(node.children) : context.children([node]),
      );
    },
    markdown: markdownOf,
    texts,
    iconLibrary,
    report,
  };

  const said = new Set<string>();
  const component: Handler = (pageState, element: StaticElement) => {
    state = pageState;
    depth += 1;
    try {
      if (depth > maxDepth) throw new PageFailed('nesting-too-deep', 'its components are nested too deep');
      const known = componentRegistry.get(element.name);
      if (known) reportWithoutEffect(element, said, report);
      const shown = known ? known.html(element, context) : htmlElement(element, context);
      if (element.position) placeAt(element.position, shown);
      return shown;
    } finally {
      depth -= 1;
    }
  };
  const fragment: Handler = (pageState, node: StaticFragment) => {
    state = pageState;
    return context.children(node.children);
  };
  const island: Handler = (pageState, { number, isInline, children }: StaticIsland) => {
    state = pageState;
    const shown = context.children(children);
    // Readers without scripts see this notice. With scripts it is removed before it is visible.
    const instead = h(isInline ? 'span' : 'p', { className: ['island-without'] }, texts.scripts.islandNotRun);
    const inside = shown.length === 0 ? instead : shown;
    return h(isInline ? 'span' : 'div', { className: ['island'], dataIsland: String(number) }, inside);
  };
  const slot: Handler = (pageState, { number, isInline, isHidden, children }: StaticSlot) => {
    state = pageState;
    const shown = context.children(children);
    if (number === undefined) return shown;
    const classes = isHidden ? ['island-slot', 'island-rest'] : ['island-slot'];
    return h(isInline ? 'span' : 'div', { className: classes, dataSlot: String(number) }, shown);
  };
  const code: Handler = (_state, node: Code) =>
    codeBlock({ code: node.value, language: node.lang, meta: node.meta }, context);
  const heading: Handler = (pageState, node: Heading) => {
    const children = pageState.all(node);
    const text = node.data?.name ?? toText(children).trim();
    return headingElement(node.depth, children, text, node.data?.id, context, false);
  };
  const table: Handler = (pageState, node: Table) => {
    const made = withFixedColumns(defaultHandlers.table(pageState, node));
    return h('div', { className: ['table-wrap'], tabIndex: 0 }, made);
  };
  const text: Handler = (pageState, node: Text) =>
    // The default handler removes spaces around line breaks; texts without line breaks do not need it.
    /[\n\r]/.test(node.value) ? defaultHandlers.text(pageState, node) : { type: 'text', value: node.value };
  const math: Handler = (_state, node: InlineMath | BlockMath) => formula(node, context);

  // Renders children with the state of the whole page, so that definitions and footnotes work everywhere. An inline parent avoids the line breaks
  // between blocks of a root.
  context.children = (nodes) => state?.all({ type: 'emphasis', children: [...nodes] as Emphasis['children'] }) ?? [];
  const options = {
    handlers: {
      root(pageState: State) {
        state = pageState;
        // Shares the position of each node instead of copying it.
        pageState.patch = (from, made) => {
          if (from.position && made.type !== 'typeset' && made.type !== 'repeated') made.position = from.position;
        };
        return pageState.wrap(pageState.all(tree), false);
      },
      staticElement: component,
      staticFragment: fragment,
      staticIsland: island,
      staticSlot: slot,
      code,
      text,
      heading,
      table,
      math,
      inlineMath: math,
    },
    clobberPrefix: 'note-',
    footnoteLabel: texts.footnotes,
    footnoteBackLabel: (number: number) => filled(texts.backToReference, { number: String(number + 1) }),
  };
  // The library searches the whole tree for definitions. Collecting them here and passing only those is faster.
  const made = toHast({ type: 'root', children: definitionsIn(tree) }, options);
  const main = (made.type === 'root' ? made.children : [made]) as ElementContent[];
  context.toc.splice(maxHeadingsInToc);
  const titleId = titleHeading && context.anchors.claimIfFree(idOfTitle(titleHeading, context));
  for (const { name, element } of context.linkNames) element.properties.id = context.anchors.claimIfFree(name);
  const { toc, feedItems, classes, styles, aside, diagrams } = context;
  const mathFonts = context.math.fonts;
  const { ids } = context.anchors;
  return { main, titleId, aside, toc, feedItems, classes, styles, ids, mathFonts, hasDiagrams: diagrams.count > 0 };
}

/** Gives the elements that a component made, and not those of its content, the place of the component. Drawings may be shared between pages. */
function placeAt(position: NonNullable<StaticElement['position']>, made: ElementContent | ElementContent[]): void {
  for (const node of Array.isArray(made) ? made : [made]) {
    if (node.type !== 'element' || node.position !== undefined || node.tagName === 'svg') continue;
    node.position = position;
    placeAt(position, node.children);
  }
}

const withoutEffect = propertiesWithoutEffect();

/** Reports properties that have no effect, each once per page. */
function reportWithoutEffect(element: StaticElement, said: Set<string>, report: Report): void {
  for (const [property, why] of withoutEffect.get(element.name) ?? []) {
    const value = element.props.get(property);
    const key = `${element.name} ${property}`;
    if (value === undefined || value === false || said.has(key)) continue;
    said.add(key);
    report('property-without-effect', `"${property}" of <${element.name}> has no effect: ${why}.`, element);
  }
}

/** Definitions that references of the page may use, in the order of the page. */
function definitionsIn({ children }: { children: readonly Nodes[] }, found: Definitions = []): Definitions {
  for (const node of children) {
    if (node.type === 'definition' || node.type === 'footnoteDefinition') found.push(node);
    if ('children' in node) definitionsIn(node, found);
  }
  return found;
}

type Definitions = (Definition | FootnoteDefinition)[];

/** A formula, or its source if it is invalid. */
function formula(node: InlineMath | BlockMath, context: ContentContext): Element {
  const isBlock = node.type === 'math';
  // True for `$$` over several lines in the middle of a paragraph.
  const inLines = node.position !== undefined && node.position.start.line < node.position.end.line;
  const isDisplayed = isBlock || (node.display && inLines);
  const made = context.math.render(node.value, isDisplayed);
  let shown: Element;
  if ('html' in made) {
    const typeset: Typeset = { type: 'typeset', of: 'formula', html: () => made.html, text: node.value };
    const formulaElement = h('span', { className: ['math'] }, typeset);
    shown = isDisplayed ? h('span', { className: ['math-block'], tabIndex: 0 }, formulaElement) : formulaElement;
  } else {
    context.report('math-not-rendered', `A formula is shown as its source: ${made.problem}.`, node);
    shown = h('code', { className: ['math'] }, node.value);
  }
  return isBlock ? h('div', shown) : shown;
}

/** A heading with its id and a link to itself. Headings of levels 2 and 3 are also in the table of contents. */
function headingElement(
  depth: number,
  children: ElementContent[],
  text: string,
  writtenId: string | undefined,
  context: ContentContext,
  noAnchor: boolean,
): Element {
  const id = context.anchors.claim(text, writtenId);
  if ((depth === 2 || depth === 3) && text !== '') context.toc.push({ anchor: id, title: text.slice(0, 300), depth });
  const link = noAnchor
    ? []
    : [h('a', { className: ['heading-anchor'], href: `#${id}`, ariaLabel: context.texts.linkToSection })];
  return h(`h${depth}`, { id }, [...children, ...link]);
}

/** The id that the heading would have in the content. */
const idOfTitle = ({ children, data }: Heading, context: ContentContext): string =>
  data?.id ?? anchorOf(data?.name ?? toText(context.children(children)).trim());

/** An HTML element of an author. Its attributes are sanitized later, when it is written. */
function htmlElement(element: StaticElement, context: ContentContext): ElementContent[] {
  const { name, props, children } = element;
  if (name === 'style') {
    context.styles.push(styleText(element));
    return [];
  }
  if (strippedElements.has(name)) {
    context.report('element-not-allowed', `<${name}> is left out: it cannot be in a page.`, element);
    return [];
  }
  if (!contentElements.has(name)) {
    context.report(
      'element-not-allowed',
      `<${name.slice(0, 60)}> is left out, its content is shown without it.`,
      element,
    );
    return context.children(children);
  }
  const heading = /^h([1-6])$/.exec(name);
  const id = props.get('id');
  if (heading) {
    const content = context.children(children);
    const made = headingElement(
      Number(heading[1]),
      content,
      toText(content).trim(),
      typeof id === 'string' ? id : undefined,
      context,
      props.get('noAnchor') === true,
    );
    const { id: made_, ...rest } = { ...propertiesOf(props, context), ...made.properties };
    return [{ ...made, properties: { id: made_, ...rest } }];
  }
  const properties = propertiesOf(props, context);
  if (typeof id === 'string') properties.id = context.anchors.claimWritten(id);
  if (name === 'iframe' && properties.title === undefined) properties.title = context.texts.embeddedContent;
  if (drawnElements.has(name)) return [readDrawn(name, properties, context.children(children))];
  const { name: linkName } = properties;
  if (name === 'a') delete properties.name;
  const made = readElement(name, properties, context.children(children));
  if (name === 'a' && typeof linkName === 'string' && linkName !== '' && typeof id !== 'string')
    context.linkNames.push({ name: linkName, element: made });
  if (name === 'iframe') return [h('div', { className: ['embed'] }, [made])];
  return [name === 'table' ? h('div', { className: ['table-wrap'], tabIndex: 0 }, made) : made];
}

/** Text of a `<style>` element: its children, or React's `dangerouslySetInnerHTML`. */
function styleText({ props, children }: StaticElement): string {
  const given = props.get('dangerouslySetInnerHTML');
  const text = given instanceof Map ? given.get('__html') : undefined;
  return typeof text === 'string' ? text : plainText(children);
}

function propertiesOf(props: StaticProps, context: ContentContext): Properties {
  const properties: Properties = {};
  for (const [key, value] of props) {
    if (/^on/i.test(key) || key === 'key' || key === 'ref' || key === 'noAnchor') continue;
    // hastscript looks names up in plain objects, where it would find inherited properties.
    if (key.toLowerCase() in Object.prototype) continue;
    if (key === 'style') {
      const style = styleOf(value);
      if (style !== undefined) properties.style = style;
    } else if (key === 'className' || key === 'class') {
      if (typeof value === 'string') properties.className = writtenClasses(value, context);
    } else if (key === 'noZoom') properties.dataNoZoom = '';
    else if (typeof value === 'string' || typeof value === 'number' || value === true) properties[key] = value;
  }
  return properties;
}

/** Declarations of a `style` such as `{{ fontSize: 12 }}`. Names that CSS does not have are dropped later. */
export function styleOf(value: StaticValue): string | undefined {
  if (typeof value === 'string') return value;
  if (!(value instanceof Map)) return undefined;
  const declarations: string[] = [];
  for (const [name, part] of value) {
    if (part instanceof StaticNodes || (typeof part !== 'string' && typeof part !== 'number')) continue;
    const property = name.startsWith('--') ? name : name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const isLength = typeof part === 'number' && part !== 0 && !unitless.has(name);
    declarations.push(`${property}: ${part}${isLength ? 'px' : ''}`);
  }
  return declarations.join('; ');
}

const unitless = new Set(
  'opacity zIndex fontWeight lineHeight flex flexGrow flexShrink order zoom columns columnCount aspectRatio'.split(' '),
);
