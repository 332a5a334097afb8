const MAX_LINE = 20_000;

/** Ranges `[start, end)` of the code spans of one line, by the lengths of backtick runs. Longer lines than 20,000 characters have none. */
export function inlineCodeSpans(line: string): [number, number][] {
  if (line.length > MAX_LINE || !line.includes('`')) return [];
  const runs = [...line.matchAll(/`+/g)].map((run) => ({ start: run.index, length: run[0].length }));
  const spans: [number, number][] = [];
  for (let open = 0; open < runs.length; open += 1) {
    const opening = runs[open];
    if (!opening || line[opening.start - 1] === '\\') continue;
    const close = runs.findIndex((run, index) => index > open && run.length === opening.length);
    const closing = runs[close];
    if (!closing) continue;
    spans.push([opening.start, closing.start + closing.length]);
    open = close;
  }
  return spans;
}

export function inSpan(spans: readonly [number, number][], offset: number): boolean {
  return spans.some(([start, end]) => offset >= start && offset < end);
}
