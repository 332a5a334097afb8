import { iconShape } from '../content/icon-shapes.ts';
import type { Sidebar, SidebarEntry } from '../navigation-places.ts';
import { scriptJson } from '../shell/html.ts';
import type { SiteIndex } from '../site-index.ts';
import { classifyUrl } from '../url-policy.ts';
import { resolveTarget } from '../resolve-target.ts';

/** `_bindery/navigation/<id>.js`: the sidebar that the pages of one division share, with the outlines of its icons. */
export function navigationScript({ links, entries }: Sidebar, index: SiteIndex): string {
  const icons: Record<string, string> = {};
  const chevron = iconShape('chevron-right');
  if (chevron !== undefined) icons['chevron-right'] = chevron;
  const cleaned = (list: readonly SidebarEntry[]): SidebarEntry[] =>
    list.flatMap((entry) => {
      const { i, h, c, ...rest } = entry;
      const made: SidebarEntry = rest;
      const shape = i === undefined ? undefined : iconShape(i);
      if (i !== undefined && shape !== undefined) {
        icons[i] = shape;
        made.i = i;
      }
      if (c !== undefined) made.c = cleaned(c);
      if (h === undefined) return [made];
      const target = linkTarget(h, index);
      return target === undefined ? [] : [{ ...made, ...target }];
    });
  const made = { links: cleaned(links), entries: cleaned(entries) };
  return `window.binderyNavigation = ${scriptJson({ ...made, icons })};\n`;
}

/** An address elsewhere, or a page of the site. */
function linkTarget(written: string, index: SiteIndex): { h: string } | { p: string } | undefined {
  const url = classifyUrl(written);
  if (url.kind === 'external') return { h: url.href };
  if (url.kind !== 'path') return undefined;
  const file = resolveTarget(index, url.path);
  if (file?.startsWith('https:')) return { h: file };
  const page = file?.endsWith('.html') ? file.slice(0, -5) : undefined;
  return page === undefined ? undefined : { p: page };
}
