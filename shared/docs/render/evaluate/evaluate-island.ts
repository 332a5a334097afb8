import type { FindingCode } from '#shared/docs/findings/finding-texts.ts';
import type { Node } from 'estree';
import type { Nodes } from 'mdast';
import type { Place } from '../findings.ts';
import { startOf } from '../findings.ts';
import type { Frame } from './evaluation.ts';
import { namesIn } from './names-in.ts';
import {
  Closure,
  type Module,
  StaticNodes,
  type StaticObject,
  type StaticSlot,
  type StaticValue,
} from './static-tree.ts';

/** An attribute whose value only the reader's browser can compute; it is not among the props. */
export type Unread = { name: string; code: string; tree: Node | undefined; why: string; failure?: FindingCode };

/** The component and props of an island as code of the page's script, and the values that can be shown. */
export type Given = { module: Module; component: string; props: string; shown: StaticObject; slots: StaticSlot[] };

type Asked = { name: string; props: StaticObject; children: Nodes[]; unread: readonly Unread[] };

/**
 * The code with which the page's script uses a component. Undefined if that is impossible, because neither the page's script nor this evaluation
 * knows one of its values, or because the component has no name. `target`: the component, if it is known.
 */
export function givenTo(target: Closure | undefined, asked: Asked, frame: Frame): Given | undefined {
  const { name, props, children, unread } = asked;
  if (!unread.every((attribute) => isKnown(attribute, frame.module))) return undefined;
  const own = unread.length === 0 && target !== undefined ? nameOf(target) : undefined;
  const module = own === undefined ? frame.module : (target?.module ?? frame.module);
  const isElement = /^[a-z]/.test(name) && !name.includes('.');
  if (own === undefined && !isElement && !module.scope.has(name.split('.')[0] ?? '')) return undefined;
  const slots: StaticSlot[] = [];
  const shown: StaticObject = new Map();
  const parts: string[] = [];
  const add = (key: string, value: StaticValue): boolean => {
    const written = encode(value, slots, module);
    if (written === undefined) return false;
    parts.push(`${JSON.stringify(key)}: ${written.code}`);
    shown.set(key, written.shown);
    return true;
  };
  for (const [key, value] of props) {
    if (unread.some((attribute) => attribute.name === key)) continue;
    if (!add(key, value)) return undefined;
  }
  for (const { name: key, code } of unread) parts.push(`${JSON.stringify(key)}: (${code}\n)`);
  if (children.length > 0) add('children', new StaticNodes(children));
  return {
    module,
    component: own ?? (isElement ? JSON.stringify(name) : name),
    props: `{ ${parts.join(', ')} }`,
    shown,
    slots,
  };
}

/** The name of a component that its file defines at the top level. */
function nameOf({ name, module, scope }: Closure): string | undefined {
  return scope === module.scope && module.scope.get(name) instanceof Closure ? name : undefined;
}

/** Globals that scripts in a browser may use. */
const ofBrowsers = new Set(
  `React undefined NaN Infinity globalThis window document navigator location history localStorage sessionStorage console fetch alert confirm
  prompt setTimeout clearTimeout setInterval clearInterval requestAnimationFrame cancelAnimationFrame queueMicrotask structuredClone
  Math JSON Object Array String Number Boolean Date RegExp Map Set WeakMap WeakSet Promise Symbol BigInt Error TypeError Intl URL
  URLSearchParams Blob File FileReader FormData Headers Request Response AbortController Event CustomEvent Image Audio crypto performance
  parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent encodeURI decodeURI btoa atob matchMedia getComputedStyle
  screen innerWidth innerHeight scrollX scrollY scrollTo scrollBy open close print addEventListener removeEventListener dispatchEvent
  IntersectionObserver MutationObserver ResizeObserver TextEncoder TextDecoder Uint8Array Float32Array`.split(/\s+/),
);

/** True if every name in the attribute is defined in its file or by browsers. Otherwise the attribute is a mistake, which is reported as such. */
function isKnown({ tree }: Unread, { scope }: Module): boolean {
  if (tree === undefined) return false;
  try {
    const { used, bound } = namesIn(tree);
    return [...used].every((name) => bound.has(name) || scope.has(name) || ofBrowsers.has(name));
  } catch {
    return false;
  }
}

/** A value as JavaScript, and as a value that can be shown. JSX becomes a slot with content of the page; plain text becomes a string. */
function encode(
  value: StaticValue,
  slots: StaticSlot[],
  module: Module,
): { code: string; shown: StaticValue } | undefined {
  if (typeof value === 'string') return { code: JSON.stringify(value), shown: value };
  if (typeof value === 'bigint') return { code: `${value}n`, shown: value };
  if (typeof value === 'number') return { code: Object.is(value, -0) ? '-0' : String(value), shown: value };
  if (value === null || value === undefined || typeof value === 'boolean') return { code: String(value), shown: value };
  if (value instanceof StaticNodes) {
    const { nodes } = value;
    if (nodes.every((node) => node.type === 'text'))
      return { code: JSON.stringify(nodes.map((node) => node.value).join('')), shown: value };
    const slot: StaticSlot = {
      type: 'staticSlot',
      number: slots.length,
      isInline: isInline(nodes),
      isHidden: false,
      children: nodes,
    };
    slots.push(slot);
    return { code: `bindery$slot(${slot.number})`, shown: new StaticNodes([slot]) };
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => encode(item, slots, module));
    if (items.some((item) => item === undefined)) return undefined;
    const known = items as { code: string; shown: StaticValue }[];
    return { code: `[${known.map(({ code }) => code).join(', ')}]`, shown: known.map(({ shown }) => shown) };
  }
  if (value instanceof Map) {
    const code: string[] = [];
    const shown: StaticObject = new Map();
    for (const [key, part] of value) {
      const written = encode(part, slots, module);
      if (written === undefined || key === '__proto__') return undefined;
      code.push(`${JSON.stringify(key)}: ${written.code}`);
      shown.set(key, written.shown);
    }
    return { code: `{ ${code.join(', ')} }`, shown };
  }
  if (!(value instanceof Closure) || value.module !== module) return undefined;
  const name = nameOf(value);
  return name === undefined ? undefined : { code: name, shown: value };
}

/**
 * Nodes of an island in the page: its first look, followed by the content that it was given and does not show yet. If scripts are not allowed, only
 * the first look is in the page.
 */
export function islandNodes(given: Given, first: Nodes[], place: Place, frame: Frame): Nodes[] {
  const { islands, allowsScripts, budget } = frame.evaluation;
  const seen = slotsIn(first);
  const rest = given.slots.filter((slot) => !seen.has(slot)).map((slot) => ({ ...slot, isHidden: true }));
  const children = [...first, ...rest] as Nodes[];
  if (!allowsScripts) {
    for (const slot of [...seen, ...rest]) slot.number = undefined;
    return children;
  }
  const { module, component, props } = given;
  budget.text(props.length);
  islands.push({ module, component, props, file: frame.module.path, ...lineOf(place) });
  const number = islands.length - 1;
  return [{ type: 'staticIsland', number, isInline: isInline(children), children }];
}

const lineOf = (place: Place): { line?: number } => {
  const { line } = startOf(place);
  return line === undefined ? {} : { line };
};

function slotsIn(nodes: readonly Nodes[]): Set<StaticSlot> {
  const found = new Set<StaticSlot>();
  const pending: Nodes[] = [...nodes];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.type === 'staticSlot') {
      found.add(node);
      continue;
    }
    if ('children' in node) for (const child of node.children) pending.push(child);
    if (node.type === 'staticElement') for (const value of node.props.values()) pending.push(...nodesIn(value));
  }
  return found;
}

/** The nodes of a static value: of content, or of all content in an array and its nested arrays. Empty for other values. */
export function nodesIn(value: StaticValue): Nodes[] {
  if (value instanceof StaticNodes) return value.nodes;
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  return [];
}

const lines = new Set(
  'text emphasis strong delete inlineCode break link linkReference image imageReference inlineMath'.split(' '),
);
/** Elements and components that stand in a line of text. A component of the house among them has `isInline`. */
export const lineElements: ReadonlySet<string> = new Set(
  `a abbr b bdi bdo br button cite code data dfn em i img input kbd label mark meter output progress q s samp select option small span strong
  sub sup svg path time u var wbr Icon Badge Link Tooltip`.split(/\s+/),
);

function isInline(nodes: readonly Nodes[]): boolean {
  return nodes.every((node) => {
    if (lines.has(node.type)) return true;
    if (node.type === 'staticSlot' || node.type === 'staticIsland') return node.isInline;
    if (node.type === 'staticFragment') return isInline(node.children);
    return node.type === 'staticElement' && lineElements.has(node.name) && isInline(node.children);
  });
}
