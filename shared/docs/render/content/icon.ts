import type { Element, ElementContent } from 'hast';
import { findIcon, type WrittenIcon } from '#shared/docs/icons/find-icon.ts';
import { type IconForm, iconForm, iconProblem } from '#shared/docs/icons/icon-form.ts';
import { type Drawing, drawingOf } from '#shared/docs/icons/icon-sets.ts';
import type { Place } from '../findings.ts';
import { h } from './content-tree.ts';
import type { ContentContext } from './content-context.ts';

/** An icon of the theme by Lucide's name, inline, so that it appears together with the text. Throws if Lucide has no icon with this name. */
export function icon(name: string, className: string): Element {
  const drawing = drawingOf('lucide', name);
  if (drawing === undefined) throw new Error(`Lucide has no icon ${JSON.stringify(name)}; use another name`);
  return svg(drawing, className);
}

/** The logo of a network or company, such as `github` or `x`; undefined if Font Awesome has none. `website` and `podcast` also have icons. */
export function brandIcon(name: string, className: string): Element | undefined {
  const found = findIcon({ name: brandNames.get(name) ?? name, type: 'brands' }, 'fontawesome');
  return found === undefined || found.instead !== undefined ? undefined : svg(found.drawing, className);
}

const brandNames: ReadonlyMap<string, string> = new Map([
  ['x', 'x-twitter'],
  ['twitter', 'x-twitter'],
  ['website', 'globe'],
]);

/** An icon that an author named in a page; empty if the content has no icons. */
export function namedIcon(
  written: WrittenIcon,
  className: string,
  context: ContentContext,
  place?: Place,
): ElementContent[] {
  if (context.iconLibrary === undefined) return [];
  const form = iconForm(written, context.iconLibrary);
  const problem = iconProblem(written, form);
  if (problem !== undefined) context.report('unknown-icon', problem, place);
  return iconElement(form, className);
}

/** An icon that an author named; empty for an unknown one, so that the layout has no gap. Addresses stay as written. */
export function iconElement(form: IconForm, className: string): ElementContent[] {
  switch (form.kind) {
    case 'drawing':
      return [svg(form.drawing, className)];
    case 'emoji':
      return [h('span', { className: classes(className, 'emoji'), ariaHidden: 'true' }, form.text)];
    case 'picture':
      return [h('img', { className: classes(className), src: form.address, alt: '' })];
    case 'unknown':
      return [];
  }
}

function svg({ properties, children }: Drawing, className: string): Element {
  return {
    type: 'element',
    tagName: 'svg',
    properties: { className: classes(className), ...properties, ariaHidden: 'true' },
    children,
  };
}

const classes = (...names: string[]): string[] => ['icon', ...names.filter((name) => name !== '')];
