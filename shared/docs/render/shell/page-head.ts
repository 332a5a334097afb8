import { classifyUrl } from '#shared/docs/project/url-policy.ts';
import { encodePath, pageAddress, pageHref, pictureHref, relativeHref } from '../bundle-paths.ts';
import { cardSize } from '../card/card-style.ts';
import { html, type SafeHtml } from '../html.ts';
import { languageOf } from '../interface-texts/language.ts';
import type { PageSlice } from '../page-slice.ts';
import { structuredData } from './structured-data.ts';

/**
 * Content of a page's `head`: metadata for browsers, search engines and social networks, and style sheets. Tags of the page have precedence over tags
 * of the site, which have precedence over ours. `description`: as plain text. `hasFeed`: true if the page has a feed. `styles`: the page's own sheet.
 * `card`: path in the bundle of the preview image.
 */
export function pageHead(
  slice: PageSlice,
  description: string | undefined,
  parts: { hasFeed: boolean; hasMath: boolean; styles?: string | undefined; card?: string | undefined },
): SafeHtml {
  const { path, title, settings, noindex, frontmatter, styles, previous, next } = slice;
  const { hasFeed, hasMath, styles: own, card } = parts;
  const robots = textOf(frontmatter['robots']) ?? (noindex ? 'noindex' : undefined);
  const keywords = keywordsOf(frontmatter);
  const canonical = canonicalAddress(slice);
  const name = title === settings.name ? title : `${title} - ${settings.name}`;
  const tags = metaTags(slice, { description, canonical, card });
  const picture = tags.get('og:image');
  return html`<title>${name}</title>
${description !== undefined && html`<meta name="description" content="${description}">\n`}${keywords.length > 0 && html`<meta name="keywords" content="${keywords.join(', ')}">\n`}${robots !== undefined && html`<meta name="robots" content="${robots}">\n`}${canonical !== undefined && html`<link rel="canonical" href="${canonical}">\n`}${languageLinks(slice)}${[...tags].map(([key, value]) => metaTag(key, value))}${!/\bnoindex\b/i.test(robots ?? '') && structuredData(slice, { canonical, description, keywords, picture })}${favicon(path, settings.favicon)}${hasFeed && html`<link rel="alternate" type="application/rss+xml" href="${relativeHref(path, `${path}/rss.xml`)}">\n`}<link rel="alternate" type="text/markdown" href="${relativeHref(path, `${path}.md`)}">
${previous && html`<link rel="prev" href="${pageHref(path, previous.path)}">\n`}${next && html`<link rel="next" href="${pageHref(path, next.path)}">\n`}<link rel="stylesheet" href="${relativeHref(path, '_bindery/theme.css')}">
<link rel="stylesheet" href="${relativeHref(path, '_bindery/classes.css')}">
${hasMath && html`<link rel="stylesheet" href="${relativeHref(path, '_bindery/math.css')}">\n`}${[...styles, ...(own === undefined ? [] : [own])].map((style) => html`<link rel="stylesheet" href="${relativeHref(path, style)}">\n`)}`;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const mostKeywords = 100;

/** Keywords from a list or a text with commas. */
function keywordsOf({ keywords }: PageSlice['frontmatter']): string[] {
  const written = typeof keywords === 'string' ? keywords.split(',') : Array.isArray(keywords) ? keywords : [];
  return written
    .slice(0, mostKeywords)
    .flatMap((word) => (typeof word === 'string' && word.trim() !== '' ? [word.trim()] : []));
}

function canonicalAddress({ frontmatter, canonical }: PageSlice): string | undefined {
  const address = textOf(frontmatter['canonical']) ?? canonical;
  const isAddress = address !== undefined && /^https?:\/\//i.test(address) && classifyUrl(address).kind === 'external';
  return isAddress ? address : undefined;
}

/** Matches names that have a separate element or place. */
const special = /^(canonical|robots|description|viewport|keywords)$/i;
const picturesAndMedia = /(image|url|video|audio)(:url|:secure_url)?$/;

/** Meta tags by name; the last value of a name counts. Pictures and addresses are absolute, or left out. */
function metaTags(
  { title, settings, frontmatter }: PageSlice,
  { description, canonical, card }: Record<'description' | 'canonical' | 'card', string | undefined>,
): Map<string, string> {
  const tags: [string, string | undefined][] = [
    ['application-name', settings.name],
    ['generator', 'Bindery'],
    ['og:title', title],
    ['og:type', 'website'],
    ['og:site_name', settings.name],
    ['og:url', canonical],
    ['og:description', description],
    ...cardTags(title, card),
    ...Object.entries(settings.metatags),
    ...Object.entries(frontmatter).filter(([key]) => /^(og|twitter|article|fb):/.test(key)),
  ].map(([key = '', value]): [string, string | undefined] => [key, textOf(value)]);
  const known = new Map<string, string>();
  for (const [key, written] of tags) {
    if (written === undefined || special.test(key) || !/^[a-z][\w:.-]{0,80}$/i.test(key)) continue;
    const value = picturesAndMedia.test(key) ? absolute(written, settings.siteUrl) : written;
    if (value !== undefined) known.set(key, value);
  }
  const hasPicture = known.has('og:image') || known.has('twitter:image');
  if (!known.has('twitter:card')) known.set('twitter:card', hasPicture ? 'summary_large_image' : 'summary');
  return known;
}

function cardTags(title: string, card: string | undefined): [string, string][] {
  if (card === undefined) return [];
  const size = { width: String(cardSize.width), height: String(cardSize.height) };
  return [
    ['og:image', card],
    ['og:image:type', 'image/png'],
    ['og:image:width', size.width],
    ['og:image:height', size.height],
    ['og:image:alt', title],
  ];
}

/** Absolute address of a picture, because social networks accept no others. A file of the project has one if the project states the site's address. */
function absolute(written: string, siteUrl: string | undefined): string | undefined {
  const url = classifyUrl(written);
  if (url.kind === 'external') return /^https?:/.test(url.href) ? url.href : undefined;
  if (url.kind !== 'path' || siteUrl === undefined) return undefined;
  return `${siteUrl}/${encodePath(url.path.replace(/^(\.?\/)+/, ''))}${url.query}`;
}

function metaTag(key: string, value: string): SafeHtml {
  return /^(og|article|fb):/.test(key)
    ? html`<meta property="${key}" content="${value}">\n`
    : html`<meta name="${key}" content="${value}">\n`;
}

/** Links to the same page in other languages. */
function languageLinks({ translations, settings: { siteUrl } }: PageSlice): SafeHtml[] | undefined {
  if (siteUrl === undefined) return undefined;
  const link = (language: string, path: string) =>
    html`<link rel="alternate" hreflang="${language}" href="${siteUrl}${pageAddress(path)}">\n`;
  const [first] = translations;
  return [
    ...translations.map(({ language, path }) => link(languageOf(language).tag, path)),
    ...(first ? [link('x-default', first.path)] : []),
  ];
}

function favicon(path: string, pictures: PageSlice['settings']['favicon']): SafeHtml | undefined {
  if (!pictures) return undefined;
  const { light, dark } = pictures;
  if (light === dark) return html`<link rel="icon" href="${pictureHref(path, light)}">\n`;
  return html`<link rel="icon" href="${pictureHref(path, light)}" media="(prefers-color-scheme: light)">
<link rel="icon" href="${pictureHref(path, dark)}" media="(prefers-color-scheme: dark)">\n`;
}
