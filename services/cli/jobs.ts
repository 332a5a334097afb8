import { type Command, Option } from 'commander';
import { type ExportJob, exportJobStatuses } from '#shared/contracts/http/export-job.ts';
import type { ExportList } from '#shared/contracts/http/list-exports.ts';
import { connect } from './connection.ts';
import { jobPath } from './job-path.ts';
import { jobLine } from './job-table.ts';
import { createOutput } from './output.ts';
import { wholeNumber } from './parse-option.ts';
import { watchJob, watchJobs } from './watch-jobs.ts';
import { type ServerCommandOptions, withConnection } from './with-connection.ts';

type Options = ServerCommandOptions & {
  watch: boolean;
  domain?: string;
  status?: string;
  since?: string;
  limit?: number;
  cursor?: string;
};

export function jobsCommand(program: Command): void {
  withConnection(program.command('jobs'))
    .description('list export jobs, newest first, or show one')
    .argument('[jobId]')
    .option(
      '--watch',
      'keep showing them as they change; with a job, until it has ended (exit code 1 if it failed)',
      false,
    )
    .option('--domain <domain>', 'only those of this domain')
    .addOption(new Option('--status <status>', 'only those that are').choices(exportJobStatuses))
    .option('--since <time>', 'only those created since, such as 2026-01-31 or 2026-01-31T12:00:00Z')
    .option('--limit <number>', 'at most so many (20)', wholeNumber(1, 100))
    .option('--cursor <cursor>', 'go on after an earlier list: its "nextCursor"')
    .action(async (jobId: string | undefined, options: Options) => {
      const output = createOutput(options.json);
      const client = connect(options, 'admin');
      const watch = { json: options.json, stream: process.stdout };
      const { domain, status, since, limit, cursor } = options;
      const query = { domain, status, since, limit: limit?.toString(), cursor };
      if (jobId !== undefined && options.watch) await watchJob(client, jobId, watch);
      else if (options.watch) await watchJobs(client, query, watch);
      else if (jobId !== undefined) {
        const job = await client.json<ExportJob>(jobPath(jobId));
        output.result(job, jobLine(job));
      } else {
        const page = await client.json<ExportList>('/v1/static-export/jobs', { query });
        const more = page.nextCursor === undefined ? [] : [`More: --cursor ${page.nextCursor}`];
        output.result(
          page,
          page.jobs.length === 0 ? 'No export jobs.' : [...page.jobs.map(jobLine), ...more].join('\n'),
        );
      }
    });
}
