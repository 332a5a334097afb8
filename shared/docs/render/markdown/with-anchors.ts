import { fencedLines, inlineCodeSpans } from '#shared/docs/project/prepare-source.ts';

const linkToAnchor = /(?<=\]\(<?|^[ \t>]*\[[^\]\n]{1,200}\]:[ \t]*<?)#[^\s)>]{1,500}/g;

/** Corrects the anchors of links inside the page. `anchors`: the anchor as written → the anchor that the page has. Code stays unchanged. */
export function withAnchors(markdown: string, anchors: ReadonlyMap<string, string>): string {
  if (anchors.size === 0) return markdown;
  const lines = markdown.split('\n');
  const fenced = fencedLines(lines);
  return lines.map((line, at) => (fenced[at] === true || !line.includes('#') ? line : healed(line))).join('\n');

  function healed(line: string): string {
    const code = inlineCodeSpans(line);
    return line.replace(linkToAnchor, (written, offset: number) =>
      code.some(([start, end]) => offset >= start && offset < end) ? written : (anchors.get(written) ?? written),
    );
  }
}
