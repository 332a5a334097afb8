import type { SearchFacets } from '#shared/search/search-index.ts';

/** A sentence about filter values that no page has; undefined when there are none. Pure. */
export function unknownFilter(
  filter: { version?: string | null | undefined; language?: string | null | undefined } | null | undefined,
  facets: SearchFacets,
): string | undefined {
  const sentences = [
    sentence('version', filter?.version, facets.versions),
    sentence('language', filter?.language, facets.languages),
  ].filter((text) => text !== undefined);
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

function sentence(kind: string, value: string | null | undefined, known: readonly string[]): string | undefined {
  if (value === null || value === undefined || value === '' || known.includes(value)) return undefined;
  const offer = known.length === 0 ? `It has no ${kind}s.` : `It has: ${known.join(', ')}.`;
  return `Nothing was found, because this documentation has no ${kind} "${value}". ${offer}`;
}
