import type { Thumbnails } from '#shared/docs/project/read-thumbnails.ts';
import type { SiteSettings } from '#shared/docs/project/site-model.ts';
import { siteBase } from '../bundle-paths.ts';
import { paletteOf } from '../site/palette.ts';

/** Size of the preview images of links, in pixels. */
export const cardSize = { width: 1200, height: 630 };

/** Style of the cards of a site. Colours are in hex. */
export type CardStyle = {
  family: Thumbnails['family'];
  background: string;
  title: string;
  muted: string;
  accent: string;
  onAccent: string;
  accentText: string;
};

/**
 * The style of the cards. Undefined if the project wants no cards, if the site has one picture for all pages, or if the address of the site is
 * unknown, so that networks could not find the cards.
 */
export function cardStyle(settings: SiteSettings): CardStyle | undefined {
  const { thumbnails, seo } = settings;
  if (thumbnails === undefined || siteBase(settings) === undefined || seo.metatags['og:image'] !== undefined)
    return undefined;
  const colors = paletteOf(settings)[thumbnails.appearance];
  return {
    family: thumbnails.family,
    background: colors.bg,
    title: colors.strong,
    muted: colors.muted,
    accent: colors.accent,
    onAccent: colors['on-accent'],
    accentText: colors['accent-text'],
  };
}
