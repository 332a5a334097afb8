import type { SiteSettings } from '#shared/docs-project/site-settings.ts';
import { isInlineImage, classifyUrl } from './url-policy.ts';
import type { SiteIndex } from './site-index.ts';
import { resolveTarget } from './resolve-target.ts';

/** A link of header or footer, ready to use: a file of the bundle or an address elsewhere. */
export type SharedLink = { label: string; file?: string; hash?: string; href?: string; icon?: string; type?: string };

/** What every page shows of docs.json. */
export type SharedSettings = {
  name: string;
  theme: string;
  appearance: SiteSettings['appearance'];
  eyebrows: SiteSettings['styling']['eyebrows'];
  latex?: boolean;
  logo?: { light: string; dark: string };
  home: SharedLink;
  favicon?: { light: string; dark: string };
  links: SharedLink[];
  primary?: SharedLink;
  socials: SharedLink[];
  footer: { header?: string; items: SharedLink[] }[];
  banner?: SiteSettings['banner'];
  metatags: Record<string, string>;
  variables: Record<string, string>;
};

const remembered = new WeakMap<SiteIndex, SharedSettings>();

export function sharedSettings(index: SiteIndex): SharedSettings {
  const known = remembered.get(index);
  if (known) return known;
  const made = makeSharedSettings(index);
  remembered.set(index, made);
  return made;
}

function makeSharedSettings(index: SiteIndex): SharedSettings {
  const { settings } = index.model;
  const home = sharedLink(index, settings.name, settings.logo?.href ?? '/');
  const shared: SharedSettings = {
    name: settings.name,
    theme: settings.theme,
    appearance: settings.appearance,
    eyebrows: settings.styling.eyebrows,
    home: home ?? { label: settings.name, file: 'index.html' },
    links: settings.navbar.links.flatMap((link) => {
      const made = sharedLink(index, link.label, link.href);
      if (!made) return [];
      return [{ ...made, ...(link.icon && { icon: link.icon }), ...(link.type && { type: link.type }) }];
    }),
    socials: Object.entries(settings.footer.socials).flatMap(([name, href]) => {
      const made = sharedLink(index, name, href);
      return made ? [{ ...made, icon: name }] : [];
    }),
    footer: settings.footer.links.map((column) => ({
      ...(column.header !== undefined && { header: column.header }),
      items: column.items.flatMap((item) => sharedLink(index, item.label, item.href) ?? []),
    })),
    metatags: settings.seo.metatags,
    variables: settings.variables,
  };
  const logo = pictures(index, settings.logo);
  const favicon = pictures(index, settings.favicon);
  const { primary } = settings.navbar;
  const made = primary && sharedLink(index, primary.label, primary.href);
  if (logo) shared.logo = logo;
  if (favicon) shared.favicon = favicon;
  if (made) shared.primary = { ...made, ...(primary.type && { type: primary.type }) };
  if (settings.banner) shared.banner = settings.banner;
  if (settings.styling.latex !== undefined) shared.latex = settings.styling.latex;
  return shared;
}

/** Undefined for an address that must not be in a page. */
function sharedLink(index: SiteIndex, label: string, written: string): SharedLink | undefined {
  const url = classifyUrl(written);
  if (url.kind === 'external') return { label, href: url.href };
  if (url.kind !== 'path') return undefined;
  const resolved = resolveTarget(index, url.path);
  if (resolved?.startsWith('https:')) return { label, href: resolved };
  const file = resolved ?? (/^\/?$/.test(url.path) ? 'index.html' : undefined);
  if (file === undefined) return { label, href: `/${url.path.replace(/^\/+/, '')}${url.query}${url.hash}` };
  return { label, file, ...(url.hash !== '' && { hash: url.hash }) };
}

/** Files of the project, or addresses; pictures that are not there are left out. */
function pictures(index: SiteIndex, written: { light: string; dark: string } | undefined) {
  const [light, dark] = [picture(index, written?.light), picture(index, written?.dark)];
  const any = light ?? dark;
  return any === undefined ? undefined : { light: light ?? any, dark: dark ?? any };
}

function picture(index: SiteIndex, written: string | undefined): string | undefined {
  if (written === undefined) return undefined;
  if (isInlineImage(written)) return written;
  const url = classifyUrl(written);
  if (url.kind === 'external' && url.href.startsWith('https:')) return url.href;
  const path = url.kind === 'path' ? url.path.replace(/^\/+/, '') : undefined;
  return path !== undefined && index.files.has(path) ? path : undefined;
}
