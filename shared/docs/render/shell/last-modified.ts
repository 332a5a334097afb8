import { html, type SafeHtml } from '../html.ts';
import { languageOf } from '../interface-texts/language.ts';
import type { PageSlice } from '../page-slice.ts';

/** `lastUpdatedDate` of a page as `2026-08-13`; undefined if it has none or an invalid one. A project has no other dates. */
export function lastModified({ lastUpdatedDate }: PageSlice['frontmatter']): string | undefined {
  const day = typeof lastUpdatedDate === 'string' ? /^\d{4}-\d\d-\d\d(?=$|T| )/.exec(lastUpdatedDate)?.[0] : undefined;
  // Some engines move a day such as 31 June to the next month.
  const isDay = day !== undefined && toDay(new Date(`${day}T00:00:00Z`)) === day;
  return isDay ? day : undefined;
}

const toDay = (date: Date): string => (Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 10));

/** "Last modified on 13 August 2026", if the page or else the site asks for it and the page has a date. */
export function lastModifiedLine({ frontmatter, settings, language }: PageSlice): SafeHtml | undefined {
  const isWanted = typeof frontmatter['timestamp'] === 'boolean' ? frontmatter['timestamp'] : settings.timestamp;
  const day = isWanted ? lastModified(frontmatter) : undefined;
  if (day === undefined) return undefined;
  const { tag, texts } = languageOf(language);
  const date = new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(`${day}T00:00:00Z`),
  );
  const [before = '', after = ''] = texts.lastModified.split('{date}');
  return html`<p class="last-modified">${before}<time datetime="${day}">${date}</time>${after}</p>`;
}
