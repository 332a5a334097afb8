import { diffLines } from 'diff';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';

type Line = { number: number; text: string };

/** A row of two texts side by side. `gap`: lines that are the same in both and are left out. */
export type DifferenceRow =
  | { kind: 'same'; before: Line; after: Line }
  | { kind: 'changed'; before?: Line | undefined; after?: Line | undefined }
  | { kind: 'gap'; lines: number };

/** Limits of a comparison, after which the texts count as wholly different. */
const mostEdits = 4_000;
const withinMs = 300;
/** Lines around a change that are shown. */
const linesAround = 3;
const mostRows = 2_000;
const longestLine = 1_000;

/** The lines of two texts side by side, without long runs that are the same; undefined if they differ too much to compare. Pure but for its time limit. */
export function textDifference(before: string, after: string): DifferenceRow[] | undefined {
  const parts = diffLines(before, after, { maxEditLength: mostEdits, timeout: withinMs });
  if (parts === undefined) return undefined;
  const rows: DifferenceRow[] = [];
  let [left, right] = [0, 0];
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at];
    if (part === undefined) continue;
    const lines = linesOf(part.value);
    if (!part.added && !part.removed) {
      for (const text of lines)
        rows.push({ kind: 'same', before: { number: ++left, text }, after: { number: ++right, text } });
      continue;
    }
    // Removed lines come before the added ones that replace them.
    const next = parts[at + 1];
    const replaces = part.removed && next?.added === true;
    const removed = part.removed ? lines : [];
    const added = part.removed ? (replaces ? linesOf(next.value) : []) : lines;
    if (replaces) at += 1;
    for (let each = 0; each < Math.max(removed.length, added.length); each += 1) {
      const [gone, come] = [removed[each], added[each]];
      rows.push({
        kind: 'changed',
        ...(gone === undefined ? {} : { before: { number: ++left, text: gone } }),
        ...(come === undefined ? {} : { after: { number: ++right, text: come } }),
      });
    }
  }
  return withGaps(rows);
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Leaves out lines that are far from every change. */
function withGaps(rows: readonly DifferenceRow[]): DifferenceRow[] {
  const isNear = rows.map(() => false);
  for (const [at, { kind }] of rows.entries())
    if (kind === 'changed')
      isNear.fill(true, Math.max(0, at - linesAround), Math.min(rows.length, at + linesAround + 1));
  const shown: DifferenceRow[] = [];
  for (const [at, row] of rows.entries()) {
    const last = shown.at(-1);
    if (isNear[at] === true) shown.push(row);
    else if (last?.kind === 'gap') last.lines += 1;
    else shown.push({ kind: 'gap', lines: 1 });
  }
  return shown;
}

/** The rows as a table, with signs for those who see no colours; a phone shows the two sides one below the other. */
export function differenceTable(
  rows: readonly DifferenceRow[],
  { before, after }: { before: string; after: string },
): SafeHtml {
  const left = rows.length - mostRows;
  return html`<div class="wide" role="group" aria-label="Difference of the text" tabindex="0"><table class="difference"><caption class="unseen">Difference of the text</caption>
<thead><tr><th scope="col" class="number">Line</th><th scope="col">${before}</th><th scope="col" class="number">Line</th><th scope="col">${after}</th></tr></thead>
<tbody>${rows.slice(0, mostRows).map(rowOf)}</tbody></table></div>${left > 0 ? html`<p class="quiet">${left} further rows are not shown.</p>` : ''}`;
}

function rowOf(row: DifferenceRow): SafeHtml {
  if (row.kind === 'gap')
    return html`<tr class="gap"><td colspan="4">${row.lines} ${row.lines === 1 ? 'line is' : 'lines are'} the same</td></tr>`;
  if (row.kind === 'same')
    return html`<tr><td class="number">${row.before.number}</td><td class="twin"><code>${shortened(row.before.text)}</code></td><td class="number">${row.after.number}</td><td><code>${shortened(row.after.text)}</code></td></tr>`;
  const { before, after } = row;
  const gone = before === undefined ? '' : html`<del>${shortened(before.text)}</del>`;
  const come = after === undefined ? '' : html`<ins>${shortened(after.text)}</ins>`;
  return html`<tr><td class="number">${before?.number}</td><td class="${before === undefined ? 'none' : 'removed'}"><code>${gone}</code></td><td class="number">${after?.number}</td><td class="${after === undefined ? 'none' : 'added'}"><code>${come}</code></td></tr>`;
}

const shortened = (text: string): string =>
  text.length > longestLine ? `${text.slice(0, longestLine)}…` : text.replace(/\r$/, '');
