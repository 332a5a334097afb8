import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { findingAddress } from '#shared/docs/findings/finding-texts.ts';
import { printable } from '#shared/runtime/figures.ts';
import { noPaint, type Paint } from '../terminal.ts';

const severityStyles = { error: 'red', warning: 'yellow', info: 'blue' } as const;

/** The text of a file of the project, or undefined if it cannot be shown. */
type TextOf = (file: string) => string | undefined;

export type PrintOptions = { textOf?: TextOf; paint?: Paint; columns?: number };

/**
 * Findings for people, grouped by file: place, severity and sentence, the line of the source with a caret, and the address of the documentation of the
 * code. `columns`: the longest line of a source that is shown. Pure.
 */
export function findingsText(findings: readonly Diagnostic[], options: PrintOptions = {}): string {
  const { textOf = () => undefined, paint = noPaint, columns = 100 } = options;
  const groups = Map.groupBy(findings, ({ file }) => file);
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, found]) => {
      const lines = found.length === 0 ? undefined : textOf(file)?.split(/\r\n|\r|\n/);
      const placed = found.map((finding) => (lines === undefined ? finding : withPlace(finding, lines)));
      const inOrder = placed.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
      return [
        paint('bold', file === '' ? 'The whole project' : printable(file)),
        ...inOrder.map((finding) => findingText(finding, lines, { paint, columns })),
      ].join('\n');
    })
    .join('\n\n');
}

function findingText(
  { line, column, severity, code, message }: Diagnostic,
  lines: readonly string[] | undefined,
  { paint, columns }: { paint: Paint; columns: number },
): string {
  const place = [line, column].filter((part) => part !== undefined).join(':');
  const head = [place, paint(severityStyles[severity], severity), printable(message)].filter((part) => part !== '');
  const excerpt = line === undefined ? [] : excerptOf(lines?.[line - 1], line, column, columns, paint);
  return [`  ${head.join('  ')}`, ...excerpt, `      ${paint('dim', `${code}  ${findingAddress(code)}`)}`].join('\n');
}

const gutterColumns = 12;
const ahead = 40;

/** The line with a caret below. A long line is cut around the caret. */
function excerptOf(
  text: string | undefined,
  line: number,
  column: number | undefined,
  columns: number,
  paint: Paint,
): string[] {
  if (text === undefined || text.trim() === '') return [];
  const room = Math.max(40, columns - gutterColumns);
  const place = Math.min(Math.max(0, (column ?? firstInk(text) + 1) - 1), text.length);
  const cutsStart = place > room - ahead / 2;
  const from = cutsStart ? place - ahead : 0;
  const until = from + room - (cutsStart ? 1 : 0);
  const shown = `${cutsStart ? '…' : ''}${text.slice(from, until)}${until < text.length ? '…' : ''}`;
  const before = `${cutsStart ? '…' : ''}${text.slice(from, place)}`;
  const number = String(line).padStart(6);
  return [
    `${paint('dim', `${number} │`)} ${plain(shown)}`,
    `${paint('dim', `${' '.repeat(6)} │`)} ${' '.repeat(widthOf(plain(before)))}${paint('red', '^')}`,
  ];
}

const firstInk = (text: string): number => Math.max(0, text.search(/\S/));
/** Text without control characters for the terminal, and with its spaces. */
const plain = (text: string): string =>
  text.replaceAll('\t', '  ').replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' ');

/** Matches characters that take two columns on terminals. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/gu;
/** Matches characters that take no column. */
const narrow = /\p{Mn}|[\u200b-\u200f]/gu;

const widthOf = (text: string): number =>
  Array.from(text).length + (text.match(wide)?.length ?? 0) - (text.match(narrow)?.length ?? 0);

/** Longest file in which the place of a finding is searched. */
const mostSearched = 20_000;

/**
 * A finding with the line to which it belongs. A finding about the configuration has none: its line is the only one with a text that the message
 * quotes.
 */
export function withPlace(finding: Diagnostic, lines: readonly string[]): Diagnostic {
  if (finding.line !== undefined || !/\.(?:json|mdx?|ya?ml)$/i.test(finding.file) || lines.length > mostSearched)
    return finding;
  for (const [, quoted = ''] of finding.message.matchAll(/"((?:[^"\\]|\\.){2,200})"/g)) {
    for (const text of [`"${quoted}"`, `"${quoted.split('.').at(-1)}"`, quoted]) {
      const found = lines.flatMap((line, at) => (line.includes(text) ? [at] : []));
      const [at] = found;
      if (found.length === 1 && at !== undefined)
        return { ...finding, line: at + 1, column: (lines[at] ?? '').indexOf(text) + 1 };
    }
  }
  return finding;
}
