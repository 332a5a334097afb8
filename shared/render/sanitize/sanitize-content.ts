import type { Element, Root } from 'hast';
import { sanitize } from 'hast-util-sanitize';
import { visit } from 'unist-util-visit';
import { classifyUrl, isInlineImage } from '../url-policy.ts';
import { safeStyle } from './safe-style.ts';
import { contentSchema } from './schema.ts';

/**
 * The one place where content becomes fit to be shown, after all that makes it: elements and attributes by allow-list, addresses by the URL
 * policy, style declarations one by one. What leaves here is only serialized, never parsed or changed by what an author wrote.
 */
export function sanitizeContent(tree: Root): Root {
  const clean = sanitize(tree, contentSchema) as Root;
  visit(clean, 'element', (element) => {
    const { properties } = element;
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
  return clean;
}

function isAllowed(element: Element, name: string, value: string): boolean {
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
    if (/^https?:/.test(url.href)) Object.assign(properties, { target: '_blank', rel: ['noopener', 'noreferrer'] });
  } else {
    delete properties.target;
    delete properties.rel;
  }
}

/** Frames may show pages of others, not act as this one: no top navigation, no access to what the reader has stored here. */
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
