/** Limit of candidates for the ranking, for every engine. On known questions 1,000 were no better, and 300 a little worse. */
export const mostCandidates = 400;
export const mostLinks = 1_000;
/** Limit of pages that are candidates only because of links. */
export const mostLinkedPages = 60;
/**
 * Limit of matches of all searched terms together; a passage counts once for each of its terms. More frequent terms are not searched, but still count
 * in the ranking. With twice the limit SQLite took twice as long, and 2 of 647 known questions were answered better.
 */
const mostMatches = 3_000;

/** The terms with which candidates are searched: the rarest first, up to the limit of matches. Pure. */
export function rarest<T extends { passages: number }>(terms: readonly T[]): T[] {
  let matches = 0;
  const rare: T[] = [];
  for (const term of terms.toSorted((a, b) => a.passages - b.passages)) {
    matches += term.passages;
    if (matches > mostMatches && rare.length > 0) break;
    rare.push(term);
  }
  return rare;
}
