import { bucketRows, coreRows, streamRows } from './subject-table.ts';

/** The table of subjects as Markdown, for the README. */
export function describeSubjects(): string {
  const list = (names: readonly string[]) => (names.length === 0 ? '–' : names.join(', '));
  const rows = [
    ...streamRows.map((row) => [
      `stream \`${row.name}\``,
      row.subjects.map((subject) => `\`${subject}\``).join(', '),
      list(row.writers.length > 8 ? ['any'] : row.writers),
      row.kept,
    ]),
    ...bucketRows.map((row) => [`bucket \`${row.name}\``, `\`${row.key}\``, list(row.writers), row.kept]),
    ...coreRows.map((row) => [
      'core',
      `\`${row.subject}\``,
      row.byServer ? 'the server' : 'any, under its own name',
      'not kept',
    ]),
  ];
  return [['what', 'subject or key', 'written by', 'kept'], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
