import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { fencedLines } from './fenced-lines.ts';
import { inlineCodeSpans, inSpan } from './inline-code-spans.ts';
import { replaceVariables } from './replace-variables.ts';

export type PreparedSource = {
  lines: string[];
  fenced: boolean[];
  /** Anchor by line number (from 1) of the heading that its author gave one. */
  headingIds: Map<number, string>;
  diagnostics: Diagnostic[];
};

/**
 * Brings what real projects write and MDX cannot parse into a form that it can: heading ids `{#id}` are taken off, `{{variables}}`
 * replaced, HTML comments blanked. Every line keeps its number.
 */
export function prepareSource(body: string, file: string, variables: Record<string, string>): PreparedSource {
  const lines = body.split('\n');
  const fenced = fencedLines(lines);
  const diagnostics: Diagnostic[] = [];
  const headingIds = new Map<number, string>();
  const values = new Map(Object.entries(variables).map(([name, value]) => [name, value.replaceAll(/\s*\n\s*/g, ' ')]));
  if (body.includes('<!--')) blankComments(lines, fenced);
  for (const [index, line] of lines.entries()) {
    const { line: replaced, undefinedNames } = replaceVariables(line, fenced[index] ?? false, values);
    lines[index] = replaced;
    for (const name of undefinedNames) {
      diagnostics.push({
        severity: 'warning',
        code: 'undefined-variable',
        message: `The variable {{${name}}} has no value. Add it to "variables" in docs.json.`,
        file,
        line: index + 1,
      });
    }
    if (fenced[index] || !replaced.includes('{#')) continue;
    const heading = withoutId(replaced);
    if (!heading) continue;
    lines[index] = heading.line;
    headingIds.set(index + 1, heading.id);
  }
  return { lines, fenced, headingIds, diagnostics };
}

/** `## Title {#id}` in its two parts. One search from the end, so that no line takes long. */
function withoutId(line: string): { line: string; id: string } | undefined {
  const at = line.lastIndexOf('{#');
  const id = /^\{#([^\s{}"'<>`]{1,200})\}[ \t#]*$/.exec(line.slice(at))?.[1];
  if (id === undefined || !/^[\s>]*#{1,6}[ \t]/.test(line)) return undefined;
  return { line: line.slice(0, line[at - 1] === '\\' ? at - 1 : at).trimEnd(), id };
}

/** `<!-- … -->` outside of code becomes spaces; an unclosed one stays. */
function blankComments(lines: string[], fenced: readonly boolean[]): void {
  let lastClose = -1;
  for (const [index, line] of lines.entries()) if (line.includes('-->')) lastClose = index;
  let inComment = false;
  for (let index = 0; index <= lastClose; index += 1) {
    if (fenced[index] && !inComment) continue;
    const line = lines[index] ?? '';
    if (!inComment && !line.includes('<!--')) continue;
    const spans = inComment ? [] : inlineCodeSpans(line);
    let kept = '';
    let at = 0;
    while (at < line.length) {
      if (inComment) {
        const end = line.indexOf('-->', at);
        at = end < 0 ? line.length : end + 3;
        inComment = end < 0;
        continue;
      }
      const start = line.indexOf('<!--', at);
      if (start < 0 || (index === lastClose && line.indexOf('-->', start) < 0)) {
        kept += line.slice(at);
        break;
      }
      const isCode = inSpan(spans, start);
      kept += line.slice(at, isCode ? start + 4 : start);
      at = start + 4;
      inComment = !isCode;
    }
    lines[index] = kept;
  }
}
