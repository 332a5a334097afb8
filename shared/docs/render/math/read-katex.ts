import { escapeHtml, escapeHtmlText, SafeHtml } from '../html.ts';

/** Thrown for markup that KaTeX does not write, or that exceeds the limits of a page. The message is the rest of a sentence. */
export class BadMarkup extends Error {}

/** Maximum depth of a formula. Browsers flatten elements deeper than 512, and a page has some elements around a formula. */
const maxDepth = 400;

const words = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

const mathElements = words(
  `math semantics annotation mrow mi mn mo mtext mspace mfrac msqrt mroot mstyle msub msup msubsup mover munder munderover mtable mtr
  mlabeledtr mtd mpadded mphantom menclose`,
);
const mathAttributes = words(
  `xmlns display class style mathvariant mathcolor mathbackground mathsize fence stretchy separator form lspace rspace accent accentunder
  minsize maxsize symmetric largeop movablelimits width height depth voffset valign linebreak rowspacing rowlines columnalign
  columnspacing columnlines scriptlevel displaystyle linethickness notation encoding`,
);
const drawnAttributes = new Map([
  ['svg', words('xmlns width height viewBox preserveAspectRatio style')],
  ['path', words('d')],
  ['line', words('x1 y1 x2 y2 stroke-width')],
]);
const spanAttributes = words('class style aria-hidden');

const attributesOf = (name: string): ReadonlySet<string> | undefined =>
  name === 'span'
    ? spanAttributes
    : (drawnAttributes.get(name) ?? (mathElements.has(name) ? mathAttributes : undefined));

/** Values that contain no address and no free text. */
const plainValue = /^[\w\s.,%+#()-]*$/;
const namespaces = words('http://www.w3.org/2000/svg http://www.w3.org/1998/Math/MathML');
const styleNames = words(
  `height width min-width vertical-align top left bottom margin margin-left margin-right padding-left border border-width border-top-width
  border-right-width border-bottom-width border-style border-right-style border-color color background-color text-shadow position`,
);
const styleWord = /^(?:(-?(?:\d+\.?\d*|\.\d+)(?:e-\d+)?)(?:em|ex|px|pt|%)?|#[0-9a-f]{3,8}|[a-z]+)$/i;
/** Limit of the number in a CSS length, in any unit. */
const maxLength = 2000;

const tagPattern = /<(\/?)([A-Za-z]+)((?: [A-Za-z][\w:-]* ?=(?:"[^"<>]*"|'[^'<>]*'))*) ?(\/?)>/y;
const attributePattern = / ([A-Za-z][\w:-]*) ?=(?:"([^"]*)"|'([^']*)')/g;

/**
 * Parses KaTeX's markup and writes it again with an allowlist of elements, attributes and values, so that a tenant's formula cannot add anything
 * else. `classes` collects the values of its class attributes. Throws `BadMarkup`.
 */
export function readKatex(markup: string, classes: Set<string>): SafeHtml {
  const open: string[] = [];
  let html = '';
  let at = 0;
  while (at < markup.length) {
    const next = markup.indexOf('<', at);
    const end = next < 0 ? markup.length : next;
    html += escapeHtmlText(unescaped(markup.slice(at, end)));
    if (next < 0) break;
    tagPattern.lastIndex = next;
    const tag = tagPattern.exec(markup);
    if (tag === null) throw new BadMarkup('its markup is not allowed in a page');
    const [whole, isEnd, name = '', written = '', isEmpty] = tag;
    at = next + whole.length;
    if (isEnd === '') {
      html += `<${name}${attributesText(name, written, classes)}>`;
      if (open.push(name) > maxDepth) throw new BadMarkup('it is nested too deep');
    }
    if (isEnd === '' && isEmpty === '') continue;
    if (open.pop() !== name) throw new BadMarkup('its markup is not allowed in a page');
    html += `</${name}>`;
  }
  return new SafeHtml(
    html +
      open
        .reverse()
        .map((name) => `</${name}>`)
        .join(''),
  );
}

function attributesText(name: string, written: string, classes: Set<string>): string {
  const allowed = attributesOf(name);
  if (allowed === undefined) throw new BadMarkup(`it needs <${name}>, which is not allowed in a page`);
  let text = '';
  for (const [, attribute = '', double, single] of written.matchAll(attributePattern)) {
    const value = unescaped(double ?? single ?? '');
    if (!allowed.has(attribute) || !isValue(attribute, value))
      throw new BadMarkup(`it needs ${attribute}="${value.slice(0, 60)}", which is not allowed in a page`);
    if (name === 'span' && attribute === 'class') classes.add(value);
    text += ` ${attribute}="${escapeHtml(value)}"`;
  }
  return text;
}

function isValue(attribute: string, value: string): boolean {
  if (attribute === 'xmlns') return namespaces.has(value);
  if (attribute === 'encoding') return value === 'application/x-tex';
  if (attribute === 'style') return value.split(';').every((declaration) => declaration === '' || isStyle(declaration));
  return plainValue.test(value);
}

function isStyle(declaration: string): boolean {
  const [name = '', value = '', ...rest] = declaration.split(':').map((part) => part.trim());
  if (rest.length > 0 || !styleNames.has(name)) return false;
  if (name === 'position') return value === 'relative';
  return value.split(/\s+/).every((word) => {
    const found = styleWord.exec(word);
    return found !== null && Math.abs(Number(found[1] ?? 0)) <= maxLength;
  });
}

const escapes: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#x27': "'",
  nbsp: '\u00a0',
};

function unescaped(text: string): string {
  return text.replace(/&(#?\w+);?/g, (_, name: string) => {
    const character = escapes[name];
    if (character === undefined) throw new BadMarkup('its markup is not allowed in a page');
    return character;
  });
}
