import { editDistance } from '#shared/runtime/edit-distance.ts';

const mostSimilar = 3;
const shortestCorrected = 4;

/** Terms that are spelled like this one, given terms with their numbers of passages: the nearest first, then the frequent ones. Pure. */
export function similarTo(
  term: string,
  vocabulary: readonly (readonly [term: string, passages: number])[],
  count = mostSimilar,
): string[] {
  if (term.length < shortestCorrected) return [];
  const most = term.length > 7 ? 2 : 1;
  return vocabulary
    .map(([other, passages]) => ({ other, passages, away: editDistance(term, other, most) }))
    .filter(({ away }) => away <= most)
    .sort((a, b) => a.away - b.away || b.passages - a.passages || (a.other < b.other ? -1 : 1))
    .slice(0, count)
    .map(({ other }) => other);
}
