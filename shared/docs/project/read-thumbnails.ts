import { z } from 'zod';
import { isJsonObject, type JsonValue, objectOf, textOf } from './json-values.ts';

/** Fonts whose licence allows pictures of tenants to be made with them; the first one is the default. */
const cardFamilies = ['Roboto', 'Roboto Slab', 'Roboto Condensed'] as const;

/** Appearance of the pictures that social networks show for links to pages. */
export const thumbnailsSchema = z.object({ appearance: z.enum(['light', 'dark']), family: z.enum(cardFamilies) });
export type Thumbnails = z.infer<typeof thumbnailsSchema>;

const addressNeeded =
  '"thumbnails" has no effect: networks need whole addresses of pictures, and the project does not say where its site is. Name its address as "canonical" in "seo.metatags".';

/**
 * Reads `thumbnails` of docs.json; undefined if there are none. If they have no `appearance`, that of the site applies. `report` gets a sentence for
 * each setting that has no effect.
 */
export function readThumbnails(
  written: JsonValue | undefined,
  site: { appearance: string | undefined; canonical: string | undefined },
  report: (message: string) => void,
): Thumbnails | undefined {
  if (!isJsonObject(written)) return undefined;
  if (!/^https?:\/\//i.test(site.canonical ?? '')) report(addressNeeded);
  const family = textOf(objectOf(written['fonts'])['family']);
  const known = cardFamilies.find((one) => one.toLowerCase() === family?.trim().toLowerCase());
  if (family !== undefined && known === undefined) {
    report(`"thumbnails.fonts.family" has no effect: cards are in ${cardFamilies.join(', ')}, and no other font.`);
  }
  // `reportWrongValues` says that another appearance is not known.
  const appearance = textOf(written['appearance']) ?? '';
  const isDark = /^(light|dark)$/.test(appearance) ? appearance === 'dark' : site.appearance === 'dark';
  return { appearance: isDark ? 'dark' : 'light', family: known ?? cardFamilies[0] };
}
