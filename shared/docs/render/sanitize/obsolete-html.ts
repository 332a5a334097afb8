import type { Element } from 'hast';

/** Elements that may have `width` and `height`; everywhere else they are styles. */
const sized = /^(img|video|iframe|svg|rect|image|source)$/;
const obsoleteElements: ReadonlyMap<string, string> = new Map([
  ['center', 'div'],
  ['tt', 'code'],
]);

/**
 * Writes what HTML had for looks before there were styles as styles: `align`, `valign`, `width`, `<center>`. Old pages and tables of
 * Markdown have them. A style that the author wrote comes later, so that it wins.
 */
export function replaceObsolete(element: Element, isDrawn: boolean): void {
  if (isDrawn) return;
  const { properties, tagName } = element;
  const styles: string[] = [];
  const take = (name: string): string => {
    const value = properties[name];
    delete properties[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value).trim().toLowerCase() : '';
  };
  const renamed = obsoleteElements.get(tagName);
  if (renamed !== undefined) element.tagName = renamed;
  if (tagName === 'center') styles.push('text-align: center');
  if (properties.align !== undefined) styles.push(alignment(tagName, take('align')));
  if (properties.vAlign !== undefined)
    styles.push(oneOf(take('vAlign'), 'vertical-align', /^(top|middle|bottom|baseline)$/));
  if (!sized.test(tagName)) {
    for (const side of ['width', 'height']) if (properties[side] !== undefined) styles.push(length(side, take(side)));
  }
  const made = styles.filter((style) => style !== '').join('; ');
  if (made === '') return;
  properties.style = typeof properties.style === 'string' ? `${made}; ${properties.style}` : made;
}

function alignment(tagName: string, value: string): string {
  if (tagName === 'table') return value === 'center' ? 'margin-inline: auto' : oneOf(value, 'float', /^(left|right)$/);
  if (/^(img|iframe|video)$/.test(tagName))
    return oneOf(value, 'float', /^(left|right)$/) || oneOf(value, 'vertical-align', /^(top|middle|bottom)$/);
  return oneOf(value, 'text-align', /^(left|right|center|justify)$/);
}

const oneOf = (value: string, property: string, allowed: RegExp): string =>
  allowed.test(value) ? `${property}: ${value}` : '';

function length(property: string, value: string): string {
  const written = /^(\d{1,4}(?:\.\d{1,3})?)(px|%)?$/.exec(value);
  return written === null ? '' : `${property}: ${written[1]}${written[2] ?? 'px'}`;
}
