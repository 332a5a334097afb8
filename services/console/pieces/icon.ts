import type { SafeHtml } from '#shared/docs/render/html.ts';
import { icon as drawIcon } from '#shared/docs/render/content/icon.ts';
import { writeContent } from '#shared/docs/render/content/write-content.ts';

const drawn = new Map<string, SafeHtml>();

/** An icon of Lucide by its name, inline and hidden from screen readers: words stand beside it. Throws if there is none with this name. */
export function icon(name: string): SafeHtml {
  const known = drawn.get(name) ?? writeContent([drawIcon(name, 'icon')]).html;
  drawn.set(name, known);
  return known;
}
