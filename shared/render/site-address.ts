import type { SiteSettings } from '#shared/docs-project/site-settings.ts';
import { pageAddress } from './bundle-href.ts';

/**
 * Where the site will be is not known when it is exported, unless the project says so (`seo.metatags.canonical` in docs.json).
 * Without a slash at the end.
 */
export function siteBase(settings: SiteSettings): string | undefined {
  const written = settings.seo.metatags.canonical;
  if (written === undefined || !/^https?:\/\//i.test(written)) return undefined;
  try {
    const url = new URL(written);
    return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  } catch {
    return undefined;
  }
}

/** Absolute address of a page, without extension; undefined where the project does not say where it is. */
export function siteAddress(settings: SiteSettings, path: string): string | undefined {
  const base = siteBase(settings);
  return base === undefined ? undefined : base + pageAddress(path);
}
