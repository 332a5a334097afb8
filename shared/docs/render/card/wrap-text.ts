/**
 * Breaks a text into lines at words; a word that is wider than a line continues in the next one. `isCut`: true if the text is cut; the last line then
 * ends with an ellipsis.
 */
export function wrapText(
  text: string,
  widthOf: (text: string) => number,
  { width, most }: { width: number; most: number },
): { lines: string[]; isCut: boolean } {
  const fits = (line: string): boolean => widthOf(line) <= width;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (!fits(line) && lines.length <= most) {
      const begin = longestPart(line, fits);
      lines.push(begin);
      line = line.slice(begin.length);
    }
    if (lines.length > most) break;
  }
  lines.push(line);
  if (lines.length <= most) return { lines, isCut: false };
  const kept = lines.slice(0, most);
  const last = longestPart(kept.at(-1) ?? '', (part) => fits(`${part}…`));
  return { lines: [...kept.slice(0, -1), `${last.replace(/[\s,.;:–—-]+$/, '')}…`], isCut: true };
}

/** The longest beginning of a text that fits, at least one letter. */
function longestPart(text: string, fits: (part: string) => boolean): string {
  const letters = Array.from(text);
  let count = letters.length;
  while (count > 1 && !fits(letters.slice(0, count).join(''))) count -= 1;
  return letters.slice(0, count).join('');
}
