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
    .map(([other, passages]) => ({ other, passages, away: distance(term, other, most) }))
    .filter(({ away }) => away <= most)
    .sort((a, b) => a.away - b.away || b.passages - a.passages || (a.other < b.other ? -1 : 1))
    .slice(0, count)
    .map(({ other }) => other);
}

/** Number of letters inserted, deleted, replaced, or swapped (optimal string alignment); `most + 1` when it is greater than `most`. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        value = Math.min(value, (before[j - 2] ?? 0) + 1);
      row.push(value);
      least = Math.min(least, value);
    }
    if (least > most) return most + 1;
    before = last;
    last = row;
  }
  return last[b.length] ?? most + 1;
}
