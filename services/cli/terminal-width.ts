const widthOfOthers = 100;

/** Columns of a terminal; `COLUMNS`, or 100, where the output is none. */
export function terminalWidth(stream: { columns?: number }, columns = process.env.COLUMNS): number {
  const given = Number(columns);
  return stream.columns ?? (Number.isInteger(given) && given > 0 ? given : widthOfOthers);
}
