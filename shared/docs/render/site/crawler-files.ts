import type { PageEntry, SiteModel, SiteSettings } from '#shared/docs/project/site-model.ts';
import { encodePath, pageAddress, siteBase } from '../bundle-paths.ts';
import { escapeHtml } from '../html.ts';
import type { SiteIndex } from '../site-index.ts';
import { skillText } from './skill-file.ts';

const maxCharacters = 100_000;
const mostDescriptionCharacters = 300;

/**
 * `llms.txt`: the pages of the default language and version in the order of the navigation, then specifications and outside links. A section is an
 * outermost group of the navigation; pages outside of all groups are in the section "Docs".
 */
export function llmsText(index: SiteIndex): string {
  const { settings } = index.model;
  const base = siteBase(settings) ?? '';
  const head = [
    `# ${oneLine(settings.name)}`,
    ...(settings.description === undefined ? [] : ['', `> ${oneLine(settings.description)}`]),
    ...(settings.markdownInstructions.length === 0 ? [] : ['', ...settings.markdownInstructions.map(oneLine)]),
    '',
    '',
  ].join('\n');
  const specs = index.model.specs.map((file) => `- [${file.path}](${base}/${encodePath(file.path)})`);
  const links = index.model.settings.navbar.links.filter((link) => /^https?:/.test(link.href) && link.label !== '');
  const tail = [
    ...(specs.length === 0 ? [] : ['', '## OpenAPI Specs', '', ...specs]),
    ...(links.length === 0
      ? []
      : ['', '## Optional', '', ...links.map((link) => `- [${bracketed(link.label)}](${link.href})`)]),
  ].join('\n');

  const sections = sectionsOf(index);
  const count = sections.reduce((sum, { pages }) => sum + pages.length, 0);
  const room = maxCharacters - head.length - tail.length - 200;
  for (const length of [mostDescriptionCharacters, 120, 0]) {
    const text = sectionsText(sections, (page) => pageLine(page, base, length), Number.POSITIVE_INFINITY).text;
    if (text.length <= room) return `${head}${text}${tail}\n`;
  }
  const { text, shown } = sectionsText(sections, (page) => pageLine(page, base, 0), room);
  return `${head}${text}\n${count - shown} more pages are in sitemap.xml.\n${tail}\n`;
}

type Section = { title: string; pages: PageEntry[] };

/** Titles that `llms.txt` gives another meaning. */
const takenTitles: ReadonlySet<string> = new Set(['docs', 'openapi specs', 'optional']);

function sectionsOf(index: SiteIndex): Section[] {
  const titleOf = ({ path }: PageEntry): string => {
    const title = oneLine(index.places.get(path)?.groups[0]?.title ?? '');
    return title === '' ? 'Docs' : takenTitles.has(title.toLowerCase()) ? `Docs: ${title}` : title;
  };
  return [...Map.groupBy(listedPages(index), titleOf)].map(([title, pages]) => ({ title, pages }));
}

/** The sections as text, of at most `room` characters, with the number of pages in it. */
function sectionsText(
  sections: readonly Section[],
  lineOf: (page: PageEntry) => string,
  room: number,
): { text: string; shown: number } {
  const lines: string[] = [];
  let [used, shown] = [0, 0];
  for (const { title, pages } of sections) {
    const heading = `${lines.length === 0 ? '' : '\n'}## ${title}\n`;
    for (const [at, page] of pages.entries()) {
      const line = at === 0 ? `${heading}\n${lineOf(page)}` : lineOf(page);
      if (used + line.length + 1 > room) return { text: textOfLines(lines), shown };
      used += line.length + 1;
      shown += 1;
      lines.push(line);
    }
  }
  return { text: textOfLines(lines), shown };
}

const textOfLines = (lines: readonly string[]): string => (lines.length === 0 ? '' : `${lines.join('\n')}\n`);

/** `skill.md`: the same pages by the parts of the navigation, for agents. The bundle does not know if its host answers them. */
export function skillOfSite(index: SiteIndex): string {
  const { settings } = index.model;
  const pages = listedPages(index);
  const parts = Map.groupBy(pages, ({ path }) => index.places.get(path)?.groups.at(-1)?.title ?? '');
  return skillText({
    ...{ name: settings.name, description: settings.description, address: siteBase(settings) ?? '', hasMcp: false },
    parts: [...parts].map(([title, some]) => ({ title, pages: some })),
  });
}

/** Pages of the first page's language and version, in the order of the navigation, which is the order of `places`. */
function listedPages(index: SiteIndex): PageEntry[] {
  const { settings } = index.model;
  const listed = (page: PageEntry | undefined): page is PageEntry =>
    page !== undefined && index.exported.has(page.path) && isListed(page, settings.seo.indexing);
  const ordered = [...index.places.keys()].map((path) => index.pages.get(path)).filter(listed);
  const others = index.model.pages.filter((page) => !index.places.has(page.path)).filter(listed);
  const first = ordered.find((page) => index.places.get(page.path)?.sidebar === index.defaultPlace.sidebar);
  return [...ordered, ...others].filter((page) => page.language === first?.language && page.version === first?.version);
}

function pageLine(page: PageEntry, base: string, maxDescription: number): string {
  const description = oneLine(page.description ?? '');
  const shown = description.length > maxDescription ? description.slice(0, maxDescription).toWellFormed() : description;
  return `- [${bracketed(page.title)}](${base}/${encodePath(page.path)}.md)${shown === '' ? '' : `: ${shown}`}`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
const bracketed = (text: string): string => oneLine(text).replace(/[[\]\\]/g, '\\$&');

/**
 * A page's part of `llms-full.txt`: heading, address, Markdown. The file has every listed page, in the order of the bundle, separated by two line
 * breaks.
 */
export function fullTextPart(address: string, markdown: string): string {
  const end = markdown.indexOf('\n');
  const heading = end < 0 ? markdown : markdown.slice(0, end);
  const rest = end < 0 ? '' : markdown.slice(end + 1).trimEnd();
  return `${heading}\nSource: ${address}\n${rest}\n`;
}

/**
 * `sitemap.xml`, with addresses without extension. If the project does not state its address (`seo.metatags.canonical`), they start with a slash, and
 * the host inserts its own address when it serves the file.
 */
export function sitemapXml(index: SiteIndex): string {
  const { settings, pages } = index.model;
  const base = siteBase(settings) ?? '';
  const urls = pages
    .filter((page) => index.exported.has(page.path) && isListed(page, settings.seo.indexing))
    .map((page) => `<url><loc>${escapeHtml(base + pageAddress(page.path))}</loc></url>\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('')}</urlset>\n`;
}

/** `robots.txt`. It names the sitemap only if its address is known, because only absolute addresses are allowed there. */
export function robotsText(settings: SiteSettings): string {
  const base = siteBase(settings);
  const sitemap = base === undefined ? '' : `\nSitemap: ${base}/sitemap.xml\n`;
  return `User-agent: *\nContent-Signal: ai-train=yes, search=yes, ai-input=yes\nAllow: /\n${sitemap}`;
}

type Flags = Pick<PageEntry, 'inNavigation' | 'noindex'>;
type Indexing = SiteModel['settings']['seo']['indexing'];

/**
 * True if sitemap, `llms.txt` and the initial entries of the search list a page, by the visibility matrix of the documentation format. Publication
 * sets the page's flags. Every exported page has its file, listed or not.
 */
export function isListed(page: Flags, indexing: Indexing): boolean {
  return !page.noindex && (indexing === 'all' || page.inNavigation);
}
