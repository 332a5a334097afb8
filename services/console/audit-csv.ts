import { auditEntrySchema, type AuditEntry } from '#shared/contracts/audit-entry.ts';

const nested = new Set(['actor', 'commit', 'anchor', 'id', 'time', 'action']);

/** The fields of an entry that are a text or a number, in the order of their schema. */
const plainFields = auditEntrySchema.keyof().options.filter((name) => !nested.has(name));

const head = ['time', 'action', 'actor', 'actorKind', 'actorName', ...plainFields, 'entry', 'commit', 'revision'];

/**
 * A cell of a CSV file. A spreadsheet runs a text that begins with `=`, `+`, `-`, `@` (also in their wide forms), a tab or a line end as a formula, so
 * such a text gets an apostrophe, with which spreadsheets show it. The same holds after a semicolon or a tab inside the text, because spreadsheets of
 * many languages divide cells there. Pure.
 */
export function csvCell(value: string | number | undefined): string {
  if (typeof value !== 'string') return String(value ?? '');
  const harmless = value.replaceAll(/^(?=\s*[=+\-@＝＋－＠]|[\t\r\n])|(?<=;|[^]\t)(?=\s*["']?[=+\-@＝＋－＠])/g, "'");
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

const row = (cells: readonly (string | number | undefined)[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** The first line of a CSV file of audit entries. */
export const auditCsvHead = row(head);

/** The line of an entry. `nameOf`: name of an API key by its id; a person may be called like a key. Pure. */
export function auditCsvLine(entry: AuditEntry, nameOf: (id: string) => string | undefined): string {
  const { actor, commit } = entry;
  const plain = plainFields.map((name) => {
    const value = entry[name];
    return typeof value === 'string' || typeof value === 'number' ? value : undefined;
  });
  return row([
    ...[entry.time, entry.action, actor.id, actor.kind, actor.kind === 'key' ? nameOf(actor.id) : undefined],
    ...plain,
    ...[entry.id, commit.subject, commit.revision],
  ]);
}

/** The lines of a text that arrives in parts; empty lines are left out. */
export async function* linesOf(parts: AsyncIterable<string>): AsyncGenerator<string> {
  let begun = '';
  for await (const part of parts) {
    const lines = (begun + part).split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield line;
  }
  if (begun !== '') yield begun;
}
