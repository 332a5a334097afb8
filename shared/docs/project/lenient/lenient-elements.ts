import type { Nodes, Paragraph, Parents, PhrasingContent, Root } from 'mdast';
import type { CompileContext, Extension, Handle, Token } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import type { MdxJsxFlowElement, MdxJsxTextElement } from 'mdast-util-mdx';
import type { Point } from 'unist';
import { endsBeforeNext, hidesContent, isHtml, isTextElement, isVoid } from './html-names.ts';
import type { LooseTag } from './loose-tag.ts';
import type { Repairs } from './repairs.ts';

type Element = MdxJsxFlowElement | MdxJsxTextElement;
/** A tag as collected by the builder of micromark's JSX. */
type Tag = Pick<LooseTag, 'attributes'> & { name: string | undefined; close: boolean; selfClosing: boolean };
type OpenElement = {
  name: string;
  node: Element;
  parent: Parents;
  token: Token;
  /** True if the closing tag is inside another element or block that began later; the element ends where that ends. */
  isClosing: boolean;
};

const containers = [
  'atxHeading',
  'blockQuote',
  'emphasis',
  'listItem',
  'listOrdered',
  'listUnordered',
  'paragraph',
  'strong',
];

/**
 * Builds elements from tags that do not match: void elements need no slash, an element that is never closed ends with its parent, a closing tag
 * without an opening one is left out, and a placeholder tag such as `<your-key>` becomes text.
 */
export function lenientElements(repairs: Repairs): Extension {
  const open: OpenElement[] = [];
  const endedWithParagraph: { node: Element; paragraph: Paragraph }[] = [];
  const exitTag: Handle = function (token) {
    const { mdxJsxTag } = this.data as { mdxJsxTag?: Tag };
    this.resume();
    if (mdxJsxTag) placeTag(this, token, mdxJsxTag);
  };
  const looseTag: Handle = function (token) {
    const { looseTag: tag } = token as Token & { looseTag?: LooseTag };
    if (tag === undefined) return;
    repairs.note(token.start, `The tag <${tag.isClosing ? '/' : ''}${tag.name}> ${tag.mended}.`);
    placeTag(this, token, { ...tag, close: tag.isClosing, selfClosing: tag.isSelfClosing });
  };
  const nothing: Handle = () => undefined;

  function placeTag(context: CompileContext, token: Token, tag: Tag): void {
    const name = tag.name ?? '';
    if (tag.close) return closeElement(context, token, name);
    if (isVoid(name) && !tag.selfClosing) {
      if (tag.attributes.length === 0 && !/^[bhw]/.test(name)) return addText(context, token, name);
      repairs.noteVoid(token.start, name);
      tag.selfClosing = true;
    }
    const parent = context.stack.at(-1);
    if (parent === undefined || !('children' in parent)) return;
    if (!tag.selfClosing && (parent.type as string) === 'fragment' && !isClosedInLabel(token, name)) {
      return addText(context, token, name);
    }
    const type = isText(token) ? 'mdxJsxTextElement' : 'mdxJsxFlowElement';
    const node = {
      type,
      name: name === '' ? null : name,
      attributes: tag.attributes,
      children: [],
    } as unknown as Element;
    context.enter(node, token, onUnclosed);
    if (tag.selfClosing) take(context, token.end);
    else open.push({ name, node, parent: parent as Parents, token, isClosing: false });
  }

  /** Pops the innermost element from the stacks. */
  function take(context: CompileContext, end: Point): void {
    const node = context.stack.pop();
    context.tokenStack.pop();
    if (node?.position) node.position.end = pointOf(end);
  }

  function closeElement(context: CompileContext, token: Token, name: string): void {
    const index = open.findLastIndex((element) => element.name === name && !element.isClosing);
    const element = open[index];
    const place = element === undefined ? -1 : context.stack.indexOf(element.node);
    if (element === undefined || place < 0) return closesNothing(context, token, name);
    const within = context.stack.slice(place + 1).findLast((node) => !open.some((other) => other.node === node));
    if (within === undefined) {
      for (const inner of open.splice(index + 1).reverse()) {
        take(context, token.start);
        settle(inner);
      }
      open.pop();
      take(context, token.end);
      return;
    }
    if ((within.type as string) === 'fragment') return closesNothing(context, token, name);
    element.isClosing = true;
    const message = `The closing tag </${name}> is in a ${wordFor(within.type)} that began after <${name}>. The element ends after it; put each tag on a separate line.`;
    repairs.note(token.start, message);
  }

  function closesNothing(context: CompileContext, token: Token, name: string): void {
    // Browsers read `<br></br>` as one or two line breaks; authors mean one.
    if (isVoid(name)) return;
    if (!isElement(name)) return addText(context, token, `/${name}`);
    if (closesParagraph(context, name)) return;
    repairs.note(
      token.start,
      `The closing tag </${name}> closes nothing and is left out. Remove it, or add <${name}> before it.`,
    );
  }

  /**
   * Handles the closing tag of an element that begins a paragraph and should contain more: `<Note>text`, lines, `</Note>`. The element gets the
   * blocks up to the closing tag. The author was already warned at its start.
   */
  function closesParagraph({ stack }: CompileContext, name: string): boolean {
    const index = endedWithParagraph.findLastIndex((ended) => ended.node.name === name);
    const ended = endedWithParagraph[index];
    if (ended === undefined) return false;
    const container = [stack.at(-1), stack.at(-2)].find(
      (node) => node && 'children' in node && (node.children as Nodes[]).includes(ended.paragraph),
    );
    if (container === undefined || !('children' in container)) return false;
    endedWithParagraph.splice(index);
    const siblings = container.children as Nodes[];
    const { paragraph, node } = ended;
    paragraph.children = [...node.children, ...paragraph.children.slice(1)] as typeof paragraph.children;
    const children = siblings.splice(siblings.indexOf(paragraph));
    const { type: _, ...element } = node;
    siblings.push({ ...element, type: 'mdxJsxFlowElement', children } as MdxJsxFlowElement);
    return true;
  }

  function addText(context: CompileContext, token: Token, name: string): void {
    noteText(token, name);
    const parent = context.stack.at(-1) as Parents | undefined;
    const text = { type: 'text', value: sourceOf(token), position: positionOf(token) } as const;
    if (parent === undefined) return;
    if (isText(token)) appendText(parent, text);
    else (parent.children as Nodes[]).push({ type: 'paragraph', children: [text], position: positionOf(token) });
  }

  const noteText = (token: Token, name: string): void => {
    const why = name.startsWith('/') ? 'closes nothing' : 'is never closed and is not an element';
    repairs.note(token.start, `<${name}> ${why}, so it is shown as text. Put it in backticks, or write &lt;${name}>.`);
  };

  /** Closes the elements inside a construct when that construct ends. */
  const onUnclosed = function (this: Omit<CompileContext, 'sliceSerialize'>, token: Token | undefined): undefined {
    const element = open.pop();
    if (element !== undefined) settle(element);
    if (token === undefined) for (const left of open.splice(0).reverse()) settle(left);
    else (this as CompileContext).exit(token);
    return undefined;
  };

  /** Completes an element that has ended without a closing tag of its own. It is the last child of its parent. */
  function settle({ name, node, parent, token, isClosing }: OpenElement): void {
    const last = node.children.at(-1)?.position?.end ?? token.end;
    if (node.position) node.position.end ??= pointOf(last);
    if (isClosing) return;
    const siblings = parent.children as Nodes[];
    const index = siblings.indexOf(node);
    if (isPlaceholder(name, node)) {
      noteText(token, name);
      const text = { type: 'text', value: sourceOf(token), position: positionOf(token) } as const;
      siblings.splice(index);
      if (isText(token)) appendText(parent, text);
      else siblings.push({ type: 'paragraph', children: [text], position: positionOf(token) });
      for (const child of node.children) {
        if (child.type === 'text') appendText(parent, child);
        else siblings.push(child);
      }
      return;
    }
    if (parent.type === 'paragraph' && index === 0 && !isTextElement(name))
      endedWithParagraph.push({ node, paragraph: parent });
    const next = endsBeforeNext(name) ? node.children.findIndex((child) => 'name' in child && child.name === name) : -1;
    // The children are added one at a time, because a call takes a limited number of arguments.
    if (next >= 0) for (const child of node.children.splice(next)) siblings.push(child);
    const end = next >= 0 ? `before the next <${name}>` : 'with its parent';
    repairs.note(token.start, `<${name}> is never closed. It ends ${end}; add </${name}>.`);
  }

  function isPlaceholder(name: string, { attributes, type }: Element): boolean {
    if (hidesContent(name)) return true;
    if (!isElement(name)) return attributes.every((attribute) => !('name' in attribute) || attribute.value === null);
    return type === 'mdxJsxTextElement' && attributes.length === 0 && isHtml(name) && !isTextElement(name);
  }

  const isElement = (name: string): boolean => isHtml(name) || (/^[A-Z]/.test(name) && repairs.isComponent(name));

  /**
   * True if the element is closed within the text of a link. It cannot stay open there, because the end of the label decides whether there is a link.
   */
  function isClosedInLabel({ end }: Token, name: string): boolean {
    const label = repairs.text.slice(end.offset, end.offset + 2_000).split(/\]|\n[ \t]*\n/, 1)[0] ?? '';
    return label.includes(`</${name}`);
  }

  const sourceOf = ({ start, end }: Token): string => repairs.text.slice(start.offset, end.offset);

  const closeEnded = (context: CompileContext, end: Point): void => {
    for (let last = open.at(-1); last?.isClosing === true && context.stack.at(-1) === last.node; last = open.at(-1)) {
      open.pop();
      take(context, end);
    }
  };
  const exits = containers.map((type): [string, Handle] => {
    const exit = exitOf(type);
    return [
      type,
      function (token) {
        exit.call(this, token);
        closeEnded(this, token.end);
      },
    ];
  });
  return {
    enter: {
      mdxJsxFlowTagClosingMarker: nothing,
      mdxJsxTextTagClosingMarker: nothing,
    },
    exit: {
      ...Object.fromEntries(exits),
      mdxJsxFlowTag: exitTag,
      mdxJsxTextTag: exitTag,
      looseFlowTag: looseTag,
      looseTextTag: looseTag,
    },
  };
}

/** The handler with which GFM ends a container of this kind. It looks for task list boxes in paragraphs. */
function exitOf(type: string): Handle {
  const known = gfmFromMarkdown().map(({ exit }) => (exit as Record<string, Handle> | undefined)?.[type]);
  const found = known.find((handle) => handle !== undefined);
  return (
    found ??
    function (token) {
      this.exit(token);
    }
  );
}

const isText = ({ type }: Token): boolean => type.endsWith('TextTag');
const pointOf = ({ line, column, offset }: Point): Point => ({ line, column, ...(offset !== undefined && { offset }) });
const positionOf = ({ start, end }: Token) => ({ start: pointOf(start), end: pointOf(end) });
const wordFor = (type: string): string =>
  ({ listItem: 'list', emphasis: 'emphasis', blockquote: 'quote' })[type] ?? type;

/** Appends text to a parent, or to its last child if that is text. */
function appendText(parent: Parents | Root, text: Extract<PhrasingContent, { type: 'text' }>): void {
  const last = parent.children.at(-1);
  if (last?.type !== 'text') (parent.children as Nodes[]).push(text);
  else {
    last.value += text.value;
    if (last.position && text.position) last.position.end = text.position.end;
  }
}
