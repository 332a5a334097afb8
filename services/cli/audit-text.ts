import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import type { AuditList } from '#shared/contracts/http/list-audit.ts';
import type { Paint, PaintStyle } from './paint.ts';
import { printable } from './printable.ts';
import { formatBytes, formatNumber } from './timeline/format-figures.ts';

const gap = '  ';
/** How much of a digest or content version is shown: enough to find the one that is meant. */
const shownDigits = 8;

/** A page of audit entries for a terminal: days with a head each, what was done on a line each. Times are UTC. Pure. */
export function auditText({ entries, nextCursor }: AuditList, options: { width: number; paint: Paint }): string {
  const more = nextCursor === undefined ? [] : [`More: --cursor ${nextCursor}`];
  if (entries.length === 0)
    return more.length === 0 ? 'Nothing was done.' : ['Nothing was done so far back.', ...more].join('\n');
  const rows = entries.map((entry) => ({ entry, cells: cellsOf(entry) }));
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map(({ cells }) => cells[column]?.length ?? 0)));
  const lines: string[] = [];
  let day = '';
  for (const { entry, cells } of rows) {
    if (entry.time.slice(0, 10) !== day) {
      day = entry.time.slice(0, 10);
      lines.push(...(lines.length === 0 ? [] : ['']), options.paint('bold', dayHead(day)));
    }
    lines.push(...entryLines(entry, cells, widths, options));
  }
  return [...lines, ...(more.length === 0 ? [] : ['', ...more])].join('\n');
}

/** What was done, who did it, to what. */
const cellsOf = (entry: AuditEntry): string[] => [entry.action, printable(entry.actor.id), objectOf(entry)];

function entryLines(
  entry: AuditEntry,
  cells: readonly string[],
  widths: readonly number[],
  { width, paint }: { width: number; paint: Paint },
): string[] {
  const [action = '', actor = '', object = ''] = cells.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  const time = entry.time.slice(11, 19);
  const facts = factsOf(entry).join(', ');
  const painted = `${paint('gray', time)}${gap}${paint(styleOf(entry.action), action)}${gap}${actor}${gap}`;
  const length = time.length + action.length + actor.length + object.length + 4 * gap.length;
  if (facts === '' || length + facts.length <= width) {
    return [`${painted}${object}${gap}${paint('gray', facts)}`.trimEnd()];
  }
  // Too long for one line: below, where the actions begin.
  return [`${painted}${object}`.trimEnd(), `${' '.repeat(time.length)}${gap}${paint('gray', `↳ ${facts}`)}`];
}

/** `2026-03-01 Sunday`; the name of the day is English, whatever the machine's language. */
function dayHead(day: string): string {
  const name = new Date(`${day}T00:00:00.000Z`).toLocaleDateString('en-US', { weekday: 'long', timeZone: 'UTC' });
  return `${day} ${name}`;
}

function objectOf({ domain, jobId, keyId, contentVersion }: AuditEntry): string {
  const of = jobId ?? keyId ?? (contentVersion === undefined ? undefined : shortened(contentVersion, 'cv_'));
  return [domain, of].filter((part) => part !== undefined).join(' ');
}

function factsOf(entry: AuditEntry): string[] {
  const fact = <T>(value: T | undefined, say: (value: T) => string) => (value === undefined ? [] : [say(value)]);
  return [
    ...fact(entry.replayOf, (jobId) => `of ${jobId}`),
    ...fact(entry.label, (label) => `label ${printable(label)}`),
    ...fact(entry.kind, (kind) => `${kind} key`),
    ...fact(entry.name, (name) => `"${printable(name)}"`),
    ...fact(entry.plan, (plan) => `plan ${plan}`),
    ...fact(entry.oldKeyId, (keyId) => `replaces ${keyId}`),
    ...fact(entry.pageCount, (count) => `${formatNumber(count)} ${count === 1 ? 'page' : 'pages'}`),
    ...fact(entry.sizeBytes, formatBytes),
    ...fact(entry.address, (address) => `from ${printable(address)}`),
    ...fact(
      entry.expiresAt,
      (time) => `${entry.oldKeyId === undefined ? 'good' : 'which is good'} until ${minute(time)}`,
    ),
    ...fact(entry.sha256, (digest) => `sha256 ${shortened(digest)}`),
    ...fact(entry.error, printable),
  ];
}

const minute = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 16)}`;

const shortened = (text: string, prefix = ''): string => `${text.slice(0, prefix.length + shownDigits)}…`;

function styleOf(action: AuditEntry['action']): PaintStyle {
  if (action === 'export.failed') return 'red';
  if (/\.(cancelled|deleted|revoked)$/.test(action)) return 'yellow';
  if (/\.(completed|published)$/.test(action)) return 'green';
  return action.startsWith('export.') || action.startsWith('content.') ? 'blue' : 'cyan';
}
