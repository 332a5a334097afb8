/**
 * YAML 1.2 wants the further lines of a quoted value indented; older readers did not, and real frontmatter has them at the margin. Gives such
 * lines one blank in front.
 */
export function indentQuotedLines(yaml: string): string {
  let quote: string | undefined;
  return yaml
    .split('\n')
    .map((line) => {
      if (quote) {
        if (closes(line, 0, quote)) quote = undefined;
        return ` ${line}`;
      }
      const opening = /^[\w"'.:-]+:[ \t]+(["'])/.exec(line);
      const mark = opening?.[1];
      if (opening && mark && !closes(line, opening[0].length, mark)) quote = mark;
      return line;
    })
    .join('\n');
}

function closes(line: string, from: number, quote: string): boolean {
  for (let at = from; at < line.length; at += 1) {
    if (quote === '"' && line[at] === '\\') at += 1;
    else if (line[at] === quote) {
      if (quote === '"' || line[at + 1] !== quote) return true;
      at += 1;
    }
  }
  return false;
}
