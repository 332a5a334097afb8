/** Candidates for the ranking, of every engine. On known questions 1,000 were no better, and 300 a little worse. */
export const mostCandidates = 400;
export const mostLinks = 1_000;
/** Pages that are candidates because of links alone. */
export const mostLinkedPages = 60;
/**
 * Passages that have the terms of a question, each term for itself. Frequent words beyond that still count in the ranking. Twice as many took SQLite twice
 * as long, for 2 of 647 known questions.
 */
const mostMatches = 3_000;

/** The terms that candidates are looked for by: the rarest first, as many as have few enough passages together. Pure. */
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
