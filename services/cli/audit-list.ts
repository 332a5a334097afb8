import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { auditActions } from '#shared/contracts/audit-entry.ts';
import { type AuditList, auditAreas } from '#shared/contracts/http/list-audit.ts';
import { auditText } from './audit-text.ts';
import { connect } from './connection.ts';
import { createOutput } from './output.ts';
import { paintFor } from './paint.ts';
import { wholeNumber } from './parse-option.ts';
import { terminalWidth } from './terminal-width.ts';
import { type ServerCommandOptions, withConnection } from './with-connection.ts';

type Options = ServerCommandOptions & {
  domain?: string;
  job?: string;
  actor?: string;
  action?: string;
  since?: string;
  until?: string;
  limit?: number;
  cursor?: string;
  ndjson: boolean;
};

export function auditListCommand(audit: Command): void {
  withConnection(audit.command('list'))
    .description('who did what when in the organization of the key, newest first')
    .option('--domain <domain>', 'only what was done to this domain')
    .option('--job <jobId>', 'only what was done to this export job')
    .option('--actor <id>', 'only what this key, service or operator did')
    .addOption(
      new Option('--action <action>', `one action, or an area: ${auditAreas.join(', ')}`).choices([
        ...auditAreas,
        ...auditActions,
      ]),
    )
    .option('--since <time>', 'only what was done since, such as 2026-01-31 or 2026-01-31T12:00:00Z')
    .option('--until <time>', 'only what was done until then; a date is meant to its end')
    .option('--limit <number>', 'at most so many (50)', wholeNumber(1, 500))
    .option('--cursor <cursor>', 'go on after an earlier list: its "nextCursor"')
    .addOption(new Option('--ndjson', 'all that there is, one JSON object a line').default(false).conflicts('json'))
    .action(async (options: Options) => {
      const { domain, job: jobId, actor, action, since, until, limit, cursor } = options;
      const query = { domain, jobId, actor, action, since, until, limit: limit?.toString(), cursor };
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
