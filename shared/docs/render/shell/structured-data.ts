import { pageAddress } from '../bundle-paths.ts';
import { html, SafeHtml, scriptJson } from '../html.ts';
import { languageOf } from '../interface-texts/language.ts';
import type { PageSlice } from '../page-slice.ts';
import { lastModified } from './last-modified.ts';

type PageFacts = {
  canonical: string | undefined;
  description: string | undefined;
  keywords: readonly string[];
  picture: string | undefined;
};

/**
 * Structured data of a page by schema.org, in a block of data that browsers do not run: the article with its site and publisher, and its breadcrumbs.
 * Unknown facts are left out.
 */
export function structuredData(slice: PageSlice, { canonical, description, keywords, picture }: PageFacts): SafeHtml {
  const { title, settings, language, frontmatter } = slice;
  const { siteUrl, organization } = settings;
  const { id, ...about } = organization ?? {};
  const publisher = { '@type': 'Organization', '@id': id, name: settings.name, url: siteUrl, ...about };
  const isReference = ['api', 'openapi', 'asyncapi'].some((key) => typeof frontmatter[key] === 'string');
  const article = {
    '@type': isReference ? 'APIReference' : 'TechArticle',
    '@id': canonical && `${canonical}#article`,
    headline: title,
    description,
    keywords: keywords.length > 0 ? keywords : undefined,
    image: picture,
    url: canonical,
    inLanguage: languageOf(language).tag,
    dateModified: lastModified(frontmatter),
    isPartOf: { '@type': 'WebSite', name: settings.name, url: siteUrl },
    publisher,
  };
  const trail = trailTo(slice, canonical);
  const graph = [article, ...(trail.length > 1 ? [{ '@type': 'BreadcrumbList', itemListElement: trail }] : [])];
  const written = scriptJson({ '@context': 'https://schema.org', '@graph': graph });
  return html`<script type="application/ld+json">${new SafeHtml(written)}</script>\n`;
}

/** Breadcrumbs of the page. Search engines require an address for each step except the last. */
function trailTo({ title, settings, groups }: PageSlice, canonical: string | undefined) {
  const { siteUrl } = settings;
  if (siteUrl === undefined) return [];
  const steps = [
    { name: settings.name, item: siteUrl },
    ...groups.flatMap(({ title: name, page }) =>
      page === undefined ? [] : [{ name, item: siteUrl + pageAddress(page) }],
    ),
    { name: title, item: canonical },
  ];
  return steps.map((step, position) => ({ '@type': 'ListItem', position: position + 1, ...step }));
}
