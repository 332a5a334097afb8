import {
  type Diagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
  type Range,
  type TextEdit,
} from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { type Repair, repaired } from '#shared/docs/findings/repair.ts';
import type { CheckFinding } from '../check/check-folder.ts';

const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
} as const;

/** A finding as editors show it, at its place in the document. Pure. */
export function diagnosticOf(document: TextDocument, { finding }: Pick<CheckFinding, 'finding'>): Diagnostic {
  const { severity, code, message } = finding;
  return {
    range: rangeOf(document, finding),
    severity: severities[severity],
    code,
    source: 'bindery',
    message,
    ...(code.endsWith('-without-effect') && { tags: [DiagnosticTag.Unnecessary] }),
  };
}

/** The words that a finding is about: a text that its message quotes, a tag, a link, or the word at its place. Without a column, the whole line. */
function rangeOf(document: TextDocument, { line = 1, column, message }: CheckFinding['finding']): Range {
  const row = Math.min(Math.max(0, line - 1), document.lineCount - 1);
  const start = { line: row, character: 0 };
  const text = document.getText({ start, end: { line: row + 1, character: 0 } }).replace(/[\r\n]+$/, '');
  const at = (from: number, length: number): Range => ({
    start: { line: row, character: from },
    end: { line: row, character: Math.min(text.length, from + Math.max(1, length)) },
  });
  const begin = text.search(/\S/);
  if (column === undefined) return at(Math.max(0, begin), text.trim().length);
  const from = Math.min(column - 1, text.length);
  const rest = text.slice(from);
  for (const [, quoted = ''] of message.matchAll(/"((?:[^"\\]|\\.){1,200})"/g)) {
    if (rest.startsWith(quoted)) return at(from, quoted.length);
    if (rest.startsWith(`"${quoted}"`)) return at(from, quoted.length + 2);
  }
  const tag = /^<[\w.]+[^>]*/.exec(rest)?.[0] ?? '';
  const [, named = ''] = /"([\w-]+)"/.exec(message) ?? [];
  const inTag = named === '' ? -1 : tag.search(new RegExp(`\\s${named}\\b`));
  if (inTag >= 0) return at(from + inTag + 1, named.length);
  const length = /^(?:<\/?[\w.]+|!?\[[^\]]*\]\([^)\s]*\)|[^\s<>]+)/.exec(rest)?.[0].length ?? 1;
  return at(from, length);
}

/** The changes that repairs make in a document; empty if their places are no longer there. Pure. */
export function editsOf(document: TextDocument, repairs: readonly Repair[]): TextEdit[] {
  const before = document.getText();
  const { text: after } = repaired(before, repairs);
  if (after === before) return [];
  let start = 0;
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return [
    {
      range: { start: document.positionAt(start), end: document.positionAt(before.length - end) },
      newText: after.slice(start, after.length - end),
    },
  ];
}
