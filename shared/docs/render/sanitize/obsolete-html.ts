import type { Properties } from 'hast';

/** Elements that may have `width` and `height`; on all others these become styles. */
const sized = new Set(['img', 'video', 'iframe', 'source']);
const obsoleteElements: ReadonlyMap<string, string> = new Map([
  ['center', 'div'],
  ['tt', 'code'],
]);

/** The current name of an element that was renamed. */
export const currentName = (tagName: string): string => obsoleteElements.get(tagName) ?? tagName;

/** True for an attribute that is a style in current HTML. */
export function isObsolete(tagName: string, property: string): boolean {
  if (property === 'width' || property === 'height') return !sized.has(tagName);
  return property === 'align' || property === 'vAlign';
}

/**
 * The style for an obsolete presentation attribute: `align`, `valign`, `width`. Old pages and Markdown tables have these. A style that the author
 * wrote is placed after it and therefore has precedence. Empty for an invalid value.
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
