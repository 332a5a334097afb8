import type { Element, Properties, Root } from 'hast';
import { sanitize, type Schema } from 'hast-util-sanitize';
import { html as htmlNames } from 'property-information';
import { classifyUrl, isInlineImage } from '#shared/docs/project/url-policy.ts';
import { eachElement, toText } from '../content/finish-content.ts';
import { attributeInfo, isName } from '../write-html.ts';
import { drawnElements, nestElements } from './nest-elements.ts';
import { replaceObsolete } from './obsolete-html.ts';

/**
 * The one place that makes content safe to show. It runs after everything that produces content, and checks elements and attributes against
 * an allow-list, addresses against the URL policy, style declarations one by one, and puts every element where HTML allows it. Afterwards
 * the content is only serialized.
 */
export function sanitizeContent(tree: Root): Root {
  const clean = sanitize(tree, contentSchema) as Root;
  eachElement(clean, (element) => {
    const { properties } = element;
    for (const name of Object.keys(properties)) {
      if (!isName(attributeInfo(htmlNames, name).attribute)) delete properties[name];
    }
    replaceObsolete(element, drawnElements.has(element.tagName));
    if (drawnElements.has(element.tagName)) {
      for (const name of drawn) if (loadsPaint.test(String(properties[name] ?? ''))) delete properties[name];
    }
    if (typeof properties.style === 'string') {
      const style = safeStyle(properties.style);
      if (style === undefined) delete properties.style;
      else properties.style = style;
    }
    for (const name of ['href', 'src', 'poster', 'cite'] as const) {
      if (properties[name] !== undefined && !isAllowed(element, name, properties[name])) delete properties[name];
    }
    if (element.tagName === 'a') finishLink(element);
    if (element.tagName === 'iframe') finishFrame(element);
    if (element.tagName === 'video' && (properties.autoPlay === true || properties.autoPlay === '')) {
      Object.assign(properties, { muted: true, playsInline: true, loop: true });
    }
  });
  nestElements(clean);
  return clean;
}

function isAllowed(element: Element, name: string, value: Properties[string]): boolean {
  if (typeof value !== 'string') return false;
  if (name === 'src' && element.tagName === 'img' && isInlineImage(value)) return true;
  const url = classifyUrl(value);
  if (url.kind === 'refused') return false;
  if (name === 'href' || name === 'cite') return true;
  if (url.kind === 'external') return url.href.startsWith('https:');
  return url.kind === 'path';
}

function finishLink(element: Element): void {
  const { properties } = element;
  const url = typeof properties.href === 'string' ? classifyUrl(properties.href) : undefined;
  if (url?.kind === 'external') {
    properties.href = url.href;
    if (isNameless(element)) properties.ariaLabel = url.href.replace(/^[a-z]+:(\/\/)?/i, '').slice(0, 100);
    if (/^https?:/.test(url.href)) Object.assign(properties, { target: '_blank', rel: ['noopener', 'noreferrer'] });
  } else {
    delete properties.target;
    delete properties.rel;
  }
}

/** A link of only an icon. For those who cannot see it, its address is its name. */
function isNameless({ properties, children }: Element): boolean {
  if (properties.ariaLabel !== undefined || properties.title !== undefined || toText(children).trim() !== '')
    return false;
  let hasPicture = false;
  eachElement({ type: 'root', children }, ({ tagName }) => {
    hasPicture ||= tagName === 'img';
  });
  return !hasPicture && children.length > 0;
}

/** Frames may show other sites' pages, but not navigate this one or read what it stores in the browser. */
function finishFrame(element: Element): void {
  const { properties } = element;
  const url = typeof properties.src === 'string' ? classifyUrl(properties.src) : undefined;
  if (url?.kind !== 'external') delete properties.src;
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
 * The declarations of a style attribute that may stay. They load nothing (`url(`, `image-set(`, `@import`), keep their element in its place
 * (`position` may be relative or static only) and have no escapes that could hide either.
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

/** A paint of a drawing from another file. An escape could hide it. */
const loadsPaint = /\\|\b(?:url|image|image-set|src|element|paint|cross-fade)\s*\((?!\s*["']?\s*#)/i;

const text = `a abbr article aside b bdi bdo blockquote br button caption center cite code col colgroup dd del details dfn div dl dt em
  figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img input ins kbd label li main mark nav ol p picture pre q rp rt ruby s samp
  section small source span strong sub summary sup table tbody td tfoot th thead time tr track tt u ul var wbr`;
const media = 'audio iframe video';

const presentation = `fill fillOpacity fillRule clipRule stroke strokeWidth strokeLineCap strokeLineJoin strokeDashArray strokeDashOffset
  strokeMiterLimit strokeOpacity opacity transform color textAnchor dominantBaseline fontSize fontFamily fontWeight`;
const geometry = `viewBox width height x y x1 y1 x2 y2 cx cy r rx ry d points offset stopColor stopOpacity gradientUnits gradientTransform
  preserveAspectRatio pathLength dx dy xmlns focusable`;

const words = (list: string): string[] => list.trim().split(/\s+/);
const drawn = [...words(presentation), ...words(geometry)];

/** All elements and attributes that a page's content may have; addresses are checked a second time by the URL policy. */
export const contentSchema: Schema = {
  tagNames: [...words(text), ...words(media), ...drawnElements],
  strip: words(
    'script style template noscript object embed math textarea select foreignObject animate set xmp noembed noframes plaintext',
  ),
  ancestors: Object.fromEntries(words('tbody thead tfoot tr td th').map((name) => [name, ['table']])),
  attributes: {
    '*': [
      ...words(`id className style title lang dir role tabIndex hidden data*
      ariaLabel ariaLabelledBy ariaDescribedBy ariaHidden ariaExpanded ariaControls ariaCurrent ariaSelected ariaLive`),
      ...words('align width height'),
    ],
    a: words('href target rel download'),
    img: words('src alt width height loading decoding sizes'),
    source: words('src type media'),
    track: words('src kind label srcLang default'),
    video: words('src poster controls autoPlay loop muted playsInline preload width height'),
    audio: words('src controls loop muted preload'),
    iframe: words('src title width height allowFullScreen loading referrerPolicy sandbox'),
    input: [['type', 'checkbox'], ['disabled', true], 'checked'],
    button: [['type', 'button']],
    details: words('open name'),
    ol: words('start reversed type'),
    li: words('value'),
    td: words('colSpan rowSpan headers vAlign'),
    th: words('colSpan rowSpan headers scope vAlign'),
    col: words('span'),
    colgroup: words('span'),
    time: words('dateTime'),
    q: words('cite'),
    abbr: words('title'),
    label: words('htmlFor'),
    ...Object.fromEntries([...drawnElements].map((name) => [name, drawn])),
  },
  required: { input: { type: 'checkbox', disabled: true }, button: { type: 'button' } },
  protocols: {
    href: ['http', 'https', 'mailto', 'tel', 'sms'],
    src: ['https', 'data'],
    poster: ['https'],
    cite: ['http', 'https'],
  },
  clobber: [],
  clobberPrefix: '',
};
