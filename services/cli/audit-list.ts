import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { auditActions, type AuditEntry } from '#shared/contracts/audit-entry.ts';
import { sourceWords } from '#shared/contracts/publication-source.ts';
import { auditAreas, type AuditList } from '#shared/interfaces/http/audit.ts';
import { type ServerCommandOptions, wholeNumber, withConnection } from './command-options.ts';
import { connect } from './connection.ts';
import { counted, formatBytes, printable } from '#shared/runtime/figures.ts';
import { aligned, createOutput, type Paint, paintFor, type PaintStyle, terminalWidth } from './terminal.ts';

type Options = ServerCommandOptions & {
  domain?: string;
  job?: string;
  actor?: string;
  action?: string;
  address?: string;
  request?: string;
  since?: string;
  until?: string;
  limit?: number;
  cursor?: string;
  ndjson: boolean;
};

export function auditListCommand(audit: Command): void {
  withConnection(audit.command('list'))
    .description('list the audit entries of the organization, newest first')
    .option('--domain <domain>', 'only entries about this domain')
    .option('--job <jobId>', 'only entries about this export job')
    .option('--actor <id>', 'only entries of this key, service or operator')
    .addOption(
      new Option('--action <action>', `one action, or an area: ${auditAreas.join(', ')}`).choices([
        ...auditAreas,
        ...auditActions,
      ]),
    )
    .option('--address <address>', 'only entries from this IP address')
    .option('--request <requestId>', 'only entries of this request, such as req_1a2B…')
    .option('--since <time>', 'only entries since this time, such as 2026-01-31 or 2026-01-31T12:00:00Z')
    .option('--until <time>', 'only entries until this time; a date includes its whole day')
    .option('--limit <number>', 'maximum number of entries (50)', wholeNumber(1, 500))
    .option('--cursor <cursor>', 'continue an earlier list: its "nextCursor"')
    .addOption(new Option('--ndjson', 'all entries, one JSON object per line').default(false).conflicts('json'))
    .action(async (options: Options) => {
      const { domain, job: jobId, actor, action, address, request: requestId, since, until, limit, cursor } = options;
      const query = {
        domain,
        jobId,
        actor,
        action,
        address,
        requestId,
        since,
        until,
        limit: limit?.toString(),
        cursor,
      };
      const client = connect(options, 'admin');
      if (options.ndjson) {
        const answer = await client.raw('/v1/audit', { query, headers: { accept: 'application/x-ndjson' } });
        if (answer.body !== null) await pipeline(answer.body, process.stdout, { end: false });
        return;
      }
      const list = await client.json<AuditList>('/v1/audit', { query });
      const looks = { width: terminalWidth(process.stdout), paint: paintFor(process.stdout, process.env) };
      createOutput(options.json).result(list, auditText(list, looks));
    });
}

const gap = '  ';
/** Digits shown of a digest or content version, enough to recognize it. */
const shownDigits = 8;

/** A page of audit entries for a terminal: a head for each day, and a line for each action. Times are UTC. Pure. */
export function auditText({ entries, nextCursor }: AuditList, options: { width: number; paint: Paint }): string {
  const more = nextCursor === undefined ? [] : [`More: --cursor ${nextCursor}`];
  if (entries.length === 0)
    return more.length === 0 ? 'There are no entries.' : ['No entries found so far.', ...more].join('\n');
  const cells = aligned(entries.map(cellsOf));
  const lines: string[] = [];
  let day = '';
  for (const [at, entry] of entries.entries()) {
    if (entry.time.slice(0, 10) !== day) {
      day = entry.time.slice(0, 10);
      lines.push(...(lines.length === 0 ? [] : ['']), options.paint('bold', dayHead(day)));
    }
    lines.push(...entryLines(entry, cells[at] ?? [], options));
  }
  return [...lines, ...(more.length === 0 ? [] : ['', ...more])].join('\n');
}

/** Action, actor and object of an entry. */
const cellsOf = (entry: AuditEntry): string[] => [entry.action, printable(entry.actor.id), objectOf(entry)];

function entryLines(
  entry: AuditEntry,
  [action = '', actor = '', object = '']: readonly string[],
  { width, paint }: { width: number; paint: Paint },
): string[] {
  const time = entry.time.slice(11, 19);
  const facts = factsOf(entry).join(', ');
  const painted = `${paint('gray', time)}${gap}${paint(styleOf(entry.action), action)}${gap}${actor}${gap}`;
  const length = time.length + action.length + actor.length + object.length + 4 * gap.length;
  if (facts === '' || length + facts.length <= width) {
    return [`${painted}${object}${gap}${paint('gray', facts)}`.trimEnd()];
  }
  // Facts too long for the line are placed below it, aligned with the actions.
  return [`${painted}${object}`.trimEnd(), `${' '.repeat(time.length)}${gap}${paint('gray', `↳ ${facts}`)}`];
}

/** `2026-03-01 Sunday (UTC)`; the name of the day is English in every locale. */
function dayHead(day: string): string {
  const name = new Date(`${day}T00:00:00.000Z`).toLocaleDateString('en-US', { weekday: 'long', timeZone: 'UTC' });
  return `${day} ${name} (UTC)`;
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
    ...fact(entry.source, (source) => printable(sourceWords(source))),
    ...fact(entry.kind, (kind) => `${kind} key`),
    ...fact(entry.name, (name) => `"${printable(name)}"`),
    ...fact(entry.plan, (plan) => `plan ${plan}`),
    ...fact(entry.oldKeyId, (keyId) => `replaces ${keyId}`),
    ...fact(entry.pageCount, (count) => counted(count, 'page')),
    ...fact(entry.sizeBytes, formatBytes),
    ...fact(entry.address, (address) => `from ${printable(address)}`),
    ...fact(
      entry.expiresAt,
      (time) => `${entry.oldKeyId === undefined ? 'good' : 'which is good'} until ${minute(time)}`,
    ),
    ...fact(entry.sha256, (digest) => `sha256 ${shortened(digest)}`),
    ...fact(entry.error, printable),
    ...fact(entry.addressHash, (hash) => `address ${shortened(hash)}`),
    ...fact(entry.requestId, (id) => `request ${printable(id)}`),
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
