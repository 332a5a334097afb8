/** Limit of candidates for the ranking, for every engine. On known questions 1,000 were no better, and 300 a little worse. */
export const mostCandidates = 400;
export const mostLinks = 1_000;
/** Limit of pages that are candidates only because of links. */
export const mostLinkedPages = 60;
/**
 * Limit of passages that match the terms of a question, counted for each term separately. More frequent words still count in the ranking.
 * Twice as many took SQLite twice as long, for 2 of 647 known questions.
 */
const mostMatches = 3_000;

/** The terms with which candidates are searched: the rarest first, up to the limit of passages together. Pure. */
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
