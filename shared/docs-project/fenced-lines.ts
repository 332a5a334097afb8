/**
 * Which lines are fenced code, fences included. A light reading that holds for real pages: the deadline and the limits of the
 * parser do not depend on it.
 */
export function fencedLines(lines: readonly string[]): boolean[] {
  const fenced: boolean[] = [];
  let fence: { mark: string; length: number } | undefined;
  for (const line of lines) {
    if (fence) {
      fenced.push(true);
      const closing = line.includes(fence.mark.repeat(3)) ? /^[\s>]*(`{3,}|~{3,})\s*$/.exec(line)?.[1] : undefined;
      if (closing?.startsWith(fence.mark) && closing.length >= fence.length) fence = undefined;
      continue;
    }
    const opening = openingFence(line);
    fenced.push(opening !== undefined);
    fence = opening;
  }
  return fenced;
}

function openingFence(line: string): { mark: string; length: number } | undefined {
  if (!line.includes('```') && !line.includes('~~~')) return undefined;
  const match = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)$/.exec(line);
  const run = match?.[1];
  if (!run || (run.startsWith('`') && match[2]?.includes('`'))) return undefined;
  return { mark: run.charAt(0), length: run.length };
}
