import type { Properties } from 'hast';

/** Elements that may have `width` and `height`; everywhere else they are styles. */
const sized = new Set(['img', 'video', 'iframe', 'source']);
const obsoleteElements: ReadonlyMap<string, string> = new Map([
  ['center', 'div'],
  ['tt', 'code'],
]);

/** What an element is called today. */
export const currentName = (tagName: string): string => obsoleteElements.get(tagName) ?? tagName;

/** An attribute that is a style today. */
export function isObsolete(tagName: string, property: string): boolean {
  if (property === 'width' || property === 'height') return !sized.has(tagName);
  return property === 'align' || property === 'vAlign';
}

/**
 * What HTML had for looks before there were styles, as a style: `align`, `valign`, `width`. Old pages and tables of Markdown have them. A
 * style that the author wrote comes later, so that it wins. Empty for a value that means nothing.
 */
export function styleInstead(tagName: string, property: string, value: Properties[string]): string {
  const written = typeof value === 'string' || typeof value === 'number' ? String(value).trim().toLowerCase() : '';
  if (property === 'align') return alignment(tagName, written);
  if (property === 'vAlign') return oneOf(written, 'vertical-align', /^(top|middle|bottom|baseline)$/);
  return length(property, written);
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
