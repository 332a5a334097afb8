import type { MdxJsxFlowElement, MdxJsxTextElement } from 'mdast-util-mdx';

type Element = MdxJsxFlowElement | MdxJsxTextElement;

const neverShown = new Set(['script', 'style', 'template', 'noscript', 'iframe', 'svg', 'head', 'Icon']);

/** Attributes that the built-in components show as text, by component; `param` and `name` ones first, as they are read. */
const shownByComponent: Readonly<Record<string, readonly string[]>> = {
  Accordion: ['title', 'description'],
  Card: ['title', 'cta'],
  Expandable: ['title'],
  Frame: ['caption'],
  Heading: ['title'],
  ParamField: ['path', 'query', 'body', 'header', 'type', 'default'],
  Prompt: ['description'],
  ResponseField: ['name', 'type', 'default'],
  Step: ['title'],
  Tab: ['title'],
  Tile: ['title', 'description'],
  Tooltip: ['tip'],
  Update: ['label', 'description'],
  View: ['title'],
  'Tree.Folder': ['name'],
  'Tree.File': ['name'],
};

/** Text attributes that readers see. */
export function shownAttributes(element: Element): string[] {
  const shown = shownByComponent[element.name ?? ''] ?? [];
  return shown
    .map((name) => attribute(element, name))
    .filter((value) => value !== undefined && value !== '') as string[];
}

/** Hidden from readers by its kind, or by what its author wrote on it. */
export function isInvisible(element: Element): boolean {
  const { name } = element;
  if (name !== null && neverShown.has(name)) return true;
  if (name === 'Visibility') return attribute(element, 'for') === 'agents';
  const classes = attribute(element, 'className') ?? attribute(element, 'class') ?? '';
  return (
    has(element, 'hidden') ||
    attribute(element, 'aria-hidden') === 'true' ||
    /(^|\s)(hidden|invisible|sr-only|opacity-0)(\s|$)/.test(classes) ||
    /display\W+none|visibility\W+hidden/.test(attribute(element, 'style') ?? '')
  );
}

const has = (element: Element, name: string): boolean =>
  element.attributes.some((candidate) => candidate.type === 'mdxJsxAttribute' && candidate.name === name);

/** The value as written; of expressions their source. */
function attribute(element: Element, name: string): string | undefined {
  for (const candidate of element.attributes) {
    if (candidate.type !== 'mdxJsxAttribute' || candidate.name !== name) continue;
    return typeof candidate.value === 'string' ? candidate.value : candidate.value?.value;
  }
  return undefined;
}
