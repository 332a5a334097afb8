import type { Properties } from 'hast';

const words = (list: string): string[] => list.trim().split(/\s+/);

/**
 * Elements of drawings: shapes, paints and effects, but nothing that loads, links, animates or contains HTML. `use` is not among them, because a few
 * nested ones make millions of shapes.
 */
export const drawnElements: ReadonlySet<string> = new Set(
  words(`svg g path circle ellipse line polyline polygon rect text tspan textPath defs marker pattern linearGradient radialGradient
    stop clipPath mask title desc filter feBlend feColorMatrix feComposite feDropShadow feFlood feGaussianBlur feMerge feMergeNode feOffset`),
);

/** Elements that a page's content may have. */
export const contentElements: ReadonlySet<string> = new Set([
  ...words(`a abbr article aside b bdi bdo blockquote br button caption center cite code col colgroup dd del details dfn div dl dt em
    figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img input ins kbd label li main mark nav ol p picture pre q rp rt ruby s samp
    section small source span strong sub summary sup table tbody td tfoot th thead time tr track tt u ul var wbr audio iframe video`),
  ...drawnElements,
]);

/** Elements that are removed with their content. Other elements that are not allowed are removed without it. */
export const strippedElements: ReadonlySet<string> = new Set(
  words(
    'script style template noscript object embed math textarea select foreignObject animate set xmp noembed noframes plaintext',
  ),
);

const drawn =
  words(`fill fillOpacity fillRule clipRule stroke strokeWidth strokeLineCap strokeLineJoin strokeDashArray strokeDashOffset
  strokeMiterLimit strokeOpacity opacity transform color textAnchor dominantBaseline alignmentBaseline baselineShift
  fontSize fontFamily fontWeight fontStyle letterSpacing wordSpacing textDecoration textLength lengthAdjust startOffset rotate
  viewBox width height x y x1 y1 x2 y2 cx cy r rx ry fx fy fr d points offset stopColor stopOpacity gradientUnits gradientTransform spreadMethod
  preserveAspectRatio pathLength dx dy xmlns focusable visibility paintOrder shapeRendering vectorEffect
  clipPath clipPathUnits mask maskUnits maskContentUnits patternUnits patternContentUnits patternTransform
  markerStart markerMid markerEnd markerWidth markerHeight markerUnits refX refY orient
  filter filterUnits primitiveUnits in in2 result mode operator k1 k2 k3 k4 stdDeviation floodColor floodOpacity type values`);

/** Attributes of drawings that could refer to a paint in another file. */
export const drawnAttributes: ReadonlySet<string> = new Set(drawn);

/** Attributes that every element may have, in addition to `data` attributes. */
const common = words(`id className style title lang dir role tabIndex hidden align width height
  ariaLabel ariaLabelledBy ariaDescribedBy ariaHidden ariaExpanded ariaControls ariaCurrent ariaSelected ariaLive`);

const commonAttributes: ReadonlySet<string> = new Set(common);

/** Attributes that an element always has. */
export const requiredAttributes: ReadonlyMap<string, Properties> = new Map<string, Properties>([
  ['input', { type: 'checkbox', disabled: true }],
  ['button', { type: 'button' }],
]);

const attributes: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...Object.entries({
    a: 'href target rel download',
    img: 'src alt loading decoding sizes',
    source: 'src type media',
    track: 'src kind label srcLang default',
    video: 'src poster controls autoPlay loop muted playsInline preload',
    audio: 'src controls loop muted preload',
    iframe: 'src allowFullScreen loading referrerPolicy sandbox',
    input: 'type disabled checked',
    button: 'type',
    details: 'open name',
    ol: 'start reversed type',
    li: 'value',
    td: 'colSpan rowSpan headers vAlign',
    th: 'colSpan rowSpan headers scope vAlign',
    col: 'span',
    colgroup: 'span',
    time: 'dateTime',
    q: 'cite',
    label: 'htmlFor',
  }).map(([name, list]) => [name, new Set([...common, ...words(list)])] as const),
  ...[...drawnElements].map((name) => {
    const more = name === 'textPath' ? ['href', 'xLinkHref'] : [];
    return [name, new Set([...common, ...drawn, ...more])] as const;
  }),
]);

/** Attributes that an element may have, in addition to `data` attributes. */
export const attributesOf = (tagName: string): ReadonlySet<string> => attributes.get(tagName) ?? commonAttributes;

/** True if an element may have an attribute with this value. Addresses and styles are checked separately. */
export function mayHave(tagName: string, property: string, value: Properties[string]): boolean {
  if (!attributesOf(tagName).has(property)) return /^data./i.test(property);
  const required = requiredAttributes.get(tagName)?.[property];
  return required === undefined || required === value;
}
