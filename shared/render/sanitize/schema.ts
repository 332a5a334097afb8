import type { Schema } from 'hast-util-sanitize';

const text = `a abbr article aside b bdi bdo blockquote br button caption center cite code col colgroup dd del details dfn div dl dt em
  figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img input ins kbd label li main mark nav ol p picture pre q rp rt ruby s samp
  section small source span strong sub summary sup table tbody td tfoot th thead time tr track tt u ul var wbr`;
const media = 'audio iframe video';
/** Shapes only: nothing that loads, links, animates or holds HTML. */
const drawing = `svg g path circle ellipse line polyline polygon rect text tspan defs linearGradient radialGradient stop clipPath mask title desc`;

const presentation = `fill fillOpacity fillRule clipRule stroke strokeWidth strokeLineCap strokeLineJoin strokeDashArray strokeDashOffset
  strokeMiterLimit strokeOpacity opacity transform color textAnchor dominantBaseline fontSize fontFamily fontWeight`;
const geometry = `viewBox width height x y x1 y1 x2 y2 cx cy r rx ry d points offset stopColor stopOpacity gradientUnits gradientTransform
  preserveAspectRatio pathLength dx dy xmlns focusable`;

const words = (list: string): string[] => list.trim().split(/\s+/);
const drawn = [...words(presentation), ...words(geometry)];

/** All elements and attributes that a page's content may have; addresses are checked a second time by the URL policy. */
export const contentSchema: Schema = {
  tagNames: [...words(text), ...words(media), ...words(drawing)],
  strip: [
    'script',
    'style',
    'template',
    'noscript',
    'object',
    'embed',
    'math',
    'textarea',
    'select',
    'foreignObject',
    'animate',
    'set',
  ],
  ancestors: {
    tbody: ['table'],
    thead: ['table'],
    tfoot: ['table'],
    tr: ['table'],
    td: ['table'],
    th: ['table'],
  },
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
    ...Object.fromEntries(words(drawing).map((name) => [name, drawn])),
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
