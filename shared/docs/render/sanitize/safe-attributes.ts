import type { Element, Properties } from 'hast';
import { find, html as htmlNames, type Info, type Schema, svg as svgNames } from 'property-information';
import { classifyUrl, isInlineImage } from '#shared/docs/project/url-policy.ts';
import { toText } from '../content/content-tree.ts';
import { escapeHtml } from '../html.ts';
import {
  attributesOf,
  contentElements,
  drawnAttributes,
  drawnElements,
  mayHave,
  requiredAttributes,
} from './content-schema.ts';
import { currentName, isObsolete, styleInstead } from './obsolete-html.ts';

/** Converts an address that an author wrote to an address of the bundle, and records the link; undefined if the address is not allowed. */
export type ResolveAddress = (
  attribute: 'href' | 'src' | 'poster',
  written: string,
  element: Element,
) => string | undefined;

/**
 * The allowed properties of an element: those of the schema, addresses that the URL policy allows, and allowed style declarations. `name` is the name
 * under which it is written.
 */
export function safeProperties(element: Element, name: string, resolve: ResolveAddress | undefined): Properties {
  const { tagName, properties } = element;
  const safe: Properties = {};
  const isDrawn = drawnElements.has(name);
  let styles = tagName === 'center' ? 'text-align: center' : '';
  for (const key in properties) {
    let value = plainValue(properties[key]);
    if (value === undefined || !mayHave(tagName, key, value)) continue;
    if (!isDrawn && isObsolete(tagName, key)) {
      const style = styleInstead(tagName, key, value);
      styles += styles !== '' && style !== '' ? `; ${style}` : style;
      continue;
    }
    if (name === 'textPath' && (key === 'href' || key === 'xLinkHref')) {
      if (!partOfPage.test(String(value))) continue;
    } else if (key === 'href' || key === 'src' || key === 'poster' || key === 'cite') value = address(key, value);
    else if (isDrawn && drawnAttributes.has(key) && loadsPaint.test(String(value))) continue;
    safe[key] = value;
  }
  const required = requiredAttributes.get(tagName);
  for (const key in required) safe[key] ??= required[key];
  if (styles !== '' || typeof safe.style === 'string') {
    const written = typeof safe.style === 'string' ? safe.style : '';
    safe.style = safeStyle(styles === '' || written === '' ? styles + written : `${styles}; ${written}`);
  }
  if (name !== currentName(tagName)) remove(safe, ofOldName);
  else if (name === 'a') finishLink(element, safe);
  else if (name === 'iframe') finishFrame(safe);
  else if (name === 'video' && (safe.autoPlay === true || safe.autoPlay === ''))
    Object.assign(safe, { muted: true, playsInline: true, loop: true });
  return safe;

  function address(key: 'href' | 'src' | 'poster' | 'cite', written: Properties[string]): string | undefined {
    if (typeof written !== 'string') return undefined;
    const found = key === 'cite' || resolve === undefined ? written : resolve(key, written, element);
    return found !== undefined && isAllowed(key, found) ? found : undefined;
  }

  function isAllowed(key: string, found: string): boolean {
    if (key === 'src' && tagName === 'img' && isInlineImage(found)) return true;
    const url = classifyUrl(found);
    if (url.kind === 'external') return key === 'href' || (key === 'cite' ? /^https?:/ : /^https:/).test(url.href);
    return url.kind === 'path' || (url.kind === 'anchor' && (key === 'href' || key === 'cite'));
  }
}

/**
 * Fast path for most elements: the same text as `attributesText(safeProperties(…))` for an element that has only ordinary attributes. Undefined if it
 * has others.
 */
export function ordinaryAttributes({ tagName, properties }: Element, name: string): string | undefined {
  const starts = name === tagName ? ordinaryStarts.get(name) : undefined;
  if (starts === undefined) return undefined;
  let text = '';
  for (const key in properties) {
    const value = plainValue(properties[key]);
    if (value === undefined) continue;
    const start = starts.get(key) ?? startOfData(key);
    if (start === undefined || typeof value === 'boolean' || Number.isNaN(value)) return undefined;
    text += `${start}="${escapeHtml(Array.isArray(value) ? value.join(' ') : String(value))}"`;
  }
  return text;
}

/** Beginning of the text of a `data` attribute, which every element may have. */
function startOfData(key: string): string | undefined {
  const known = startsOfData.get(key);
  if (known !== undefined || !/^data[A-Z][A-Za-z]{0,30}$/.test(key)) return known;
  const start = ` ${infoOf(key, false)?.attribute}`;
  // The size of the cache is limited, because authors may write any names of `data` attributes.
  if (startsOfData.size < 200) startsOfData.set(key, start);
  return start;
}

const startsOfData = new Map<string, string>();

/**
 * Fast path for most links: the same text as `attributesText(safeProperties(…))` for a link inside the site with only ordinary attributes. Undefined
 * if it has others, or points outside the site.
 */
export function linkAttributes(
  { tagName, properties }: Element,
  resolve: (written: string) => string | undefined,
): string | undefined {
  if (tagName !== 'a') return undefined;
  for (const key in properties) {
    const value = properties[key];
    const isOrdinary = typeof value === 'string' || Array.isArray(value);
    if (key === 'href' ? typeof value !== 'string' : !isOrdinary || startOfLink(key) === undefined) return undefined;
  }
  let text = '';
  for (const key in properties) {
    const value = plainValue(properties[key]);
    let written = Array.isArray(value) ? value.join(' ') : String(value);
    if (key === 'href') {
      const found = resolve(written);
      const { kind } = found === undefined ? { kind: 'refused' } : classifyUrl(found);
      if (kind === 'external') return undefined;
      if (found === undefined || kind === 'refused') continue;
      written = found;
    }
    text += `${startOfLink(key)}="${escapeHtml(written)}"`;
  }
  return text;
}

const startOfLink = (key: string): string | undefined => startsOfLink.get(key) ?? startOfData(key);

function plainValue(value: Properties[string]): Properties[string] {
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string' || typeof item === 'number');
  return value ?? undefined;
}

/** Properties that have a meaning only for the element's original name. */
const ofOldName = 'href target rel download type htmlFor value colSpan rowSpan headers scope'.split(' ');

function finishLink({ children }: Element, properties: Properties): void {
  const url = typeof properties.href === 'string' ? classifyUrl(properties.href) : undefined;
  if (url?.kind === 'external') {
    properties.href = url.href;
    if (isNameless(properties, children)) properties.ariaLabel = url.href.replace(/^[a-z]+:(\/\/)?/i, '').slice(0, 100);
    if (/^https?:/.test(url.href)) Object.assign(properties, { target: '_blank', rel: ['noopener', 'noreferrer'] });
  } else remove(properties, ['target', 'rel']);
}

/** Sets properties to undefined, because `delete` makes objects slower. */
function remove(properties: Properties, names: readonly string[]): void {
  for (const name of names) if (properties[name] !== undefined) properties[name] = undefined;
}

/** True for a link with only an icon. Its address becomes its name for screen readers. */
const isNameless = ({ ariaLabel, title }: Properties, children: Element['children']): boolean =>
  ariaLabel === undefined &&
  title === undefined &&
  children.length > 0 &&
  toText(children).trim() === '' &&
  !hasPicture(children);

const hasPicture = (nodes: Element['children']): boolean =>
  nodes.some((node) => node.type === 'element' && (node.tagName === 'img' || hasPicture(node.children)));

/** Frames may show pages of other sites, but they cannot navigate this page or read its browser storage. */
function finishFrame(properties: Properties): void {
  const url = typeof properties.src === 'string' ? classifyUrl(properties.src) : undefined;
  if (url?.kind !== 'external') remove(properties, ['src']);
  Object.assign(properties, {
    sandbox: ['allow-scripts', 'allow-same-origin', 'allow-popups', 'allow-forms', 'allow-presentation'],
    referrerPolicy: 'strict-origin-when-cross-origin',
    loading: 'lazy',
  });
}

/** Properties that cannot lay content over the page or load anything. */
const allowedProperties =
  /^(--[a-z][a-z0-9-]*|color|background|background-color|opacity|border(-(top|right|bottom|left|block|inline))?(-(start|end))?(-(width|style|color|radius))?|border-(top|bottom)-(left|right)-radius|border-collapse|border-spacing|outline(-(width|style|color|offset))?|margin(-(top|right|bottom|left|block|inline)(-(start|end))?)?|padding(-(top|right|bottom|left|block|inline)(-(start|end))?)?|width|height|min-width|min-height|max-width|max-height|aspect-ratio|box-sizing|object-fit|object-position|display|flex(-(direction|wrap|flow|grow|shrink|basis))?|grid(-(template|auto|column|row|area)(-(columns|rows|areas|flow|start|end))?)?|gap|row-gap|column-gap|order|align-(items|self|content)|justify-(items|self|content)|place-(items|self|content)|vertical-align|text-(align|decoration|transform|indent|overflow|wrap)(-(color|line|style|thickness))?|text-underline-offset|font|font-(family|size|style|weight|variant|variant-numeric)|line-height|letter-spacing|word-break|word-spacing|overflow-wrap|white-space|list-style(-(type|position))?|overflow(-(x|y))?|float|clear|border-image-width|columns|column-count|box-shadow|filter|transform|transform-origin|fill|stroke|stroke-width|table-layout|caption-side|visibility|position|top|right|bottom|left|z-index|inset|tab-size|hyphens|user-select|cursor|scroll-margin-top)$/;

/**
 * The allowed declarations of a style attribute. They load nothing (`url(`, `image-set(`, `@import`), keep their element in its place (`position` may
 * only be relative or static) and have no escapes that could hide either.
 */
export function safeStyle(style: string): string | undefined {
  if (style.length > 5000) return undefined;
  const kept: string[] = [];
  for (const declaration of style.replace(/\/\*[\s\S]*?\*\//g, '').split(';')) {
    const colon = declaration.indexOf(':');
    if (colon < 1) continue;
    const name = declaration.slice(0, colon).trim().toLowerCase();
    const value = declaration.slice(colon + 1).trim();
    if (!allowedProperties.test(name) || value === '') continue;
    if (
      /[\\<>{}@\u0000-\u001f]/.test(value) ||
      /(url|image|image-set|src|expression|element|paint|cross-fade)\s*\(/i.test(value)
    )
      continue;
    if (name === 'position' && !/^(relative|static)$/i.test(value)) continue;
    if (/^(top|right|bottom|left|inset|z-index)$/.test(name) && !/^-?\d{1,2}(px|rem|em|%)?$|^auto$/.test(value))
      continue;
    kept.push(`${name}: ${value}`);
  }
  return kept.length === 0 ? undefined : kept.join('; ');
}

/** Matches a reference to an element of the same page. */
const partOfPage = /^#[\p{L}\p{N}_.:-]+$/u;

/** Matches a paint from another file, or an escape that could hide one. */
const loadsPaint = /\\|\b(?:url|image|image-set|src|element|paint|cross-fade)\s*\((?!\s*["']?\s*#)/i;

/** Properties as text of a start tag, each with a space before it. `isDrawn`: with the attribute names of SVG. */
export function attributesText(properties: Properties, isDrawn: boolean): string {
  let text = '';
  for (const property in properties) {
    const value = properties[property];
    if (value === undefined || value === null || value === false || Number.isNaN(value)) continue;
    const info = infoOf(property, isDrawn);
    if (info === undefined || ((info.boolean || info.overloadedBoolean) && value === 0)) continue;
    const { attribute, boolean, commaSeparated } = info;
    const isFlag = value === true || (boolean && (value === '' || value === attribute || typeof value === 'number'));
    const written = Array.isArray(value) ? value.join(commaSeparated ? ', ' : ' ') : String(value);
    text += isFlag ? ` ${attribute}${isDrawn ? '=""' : ''}` : ` ${attribute}="${escapeHtml(written)}"`;
  }
  return text;
}

const knownInfos = (schema: Schema): Map<string, Info> => new Map(Object.entries(schema.property));
const [knownOfHtml, knownOfSvg] = [knownInfos(htmlNames), knownInfos(svgNames)];

/**
 * Ordinary attributes by element and property, with the beginning of their text. Their values do not depend on other attributes or on the place of
 * the element.
 */
const ordinaryStarts: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  [...contentElements]
    .filter((name) => !drawnElements.has(name) && !requiredAttributes.has(name) && currentName(name) === name)
    .filter((name) => !['a', 'iframe', 'img', 'video'].includes(name))
    .map((name) => [name, startsOf(name)]),
);

const startsOfLink: ReadonlyMap<string, string> = new Map(
  [['href', ' href'] as const, ...startsOf('a')].filter(([key]) => key !== 'target' && key !== 'rel'),
);

function startsOf(name: string): Map<string, string> {
  const ordinary = [...attributesOf(name)].filter(
    (key) => !/^(?:href|src|poster|cite|style)$/.test(key) && !isObsolete(name, key),
  );
  return new Map(
    ordinary.flatMap((key) => {
      const info = infoOf(key, false);
      const isOrdinary = info && !info.boolean && !info.overloadedBoolean && !info.commaSeparated;
      return isOrdinary ? [[key, ` ${info.attribute}`] as const] : [];
    }),
  );
}

/** Facts about a property; undefined if no attribute can have this name. */
function infoOf(property: string, isDrawn: boolean): Info | undefined {
  const known = (isDrawn ? knownOfSvg : knownOfHtml).get(property);
  if (known !== undefined) return known;
  const info = find(isDrawn ? svgNames : htmlNames, property);
  return /^[a-z][a-z0-9_.:-]*$/i.test(info.attribute) ? info : undefined;
}
