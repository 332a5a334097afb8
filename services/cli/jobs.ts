import type { Command } from 'commander';
import type { ExportJob } from '#shared/contracts/http/export-job.ts';
import { connect } from './connection.ts';
import { createOutput } from './output.ts';
import { type ServerCommandOptions, withConnection } from './with-connection.ts';

type Options = ServerCommandOptions & { domain?: string; status?: string; since?: string; limit?: string };

export function jobsCommand(program: Command): void {
  withConnection(program.command('jobs'))
    .description('list export jobs, newest first, or show one')
    .argument('[jobId]')
    .option('--domain <domain>', 'only those of this domain')
    .option('--status <status>', 'queued, running, completed or failed')
    .option('--since <time>', 'only those created since, such as 2026-01-31T00:00:00Z')
    .option('--limit <number>', 'at most so many')
    .action(async (jobId: string | undefined, options: Options) => {
      const output = createOutput(options.json);
      const client = connect(options, 'admin');
      if (jobId !== undefined) {
        const job = await client.json<ExportJob>(`/v1/static-export/jobs/${jobId}`);
        output.result(job, jobLine(job));
        return;
      }
      const { domain, status, since, limit } = options;
      const page = await client.json<{ jobs: ExportJob[] }>('/v1/static-export/jobs', {
        query: { domain, status, since, limit },
      });
      output.result(page, page.jobs.length === 0 ? 'No export jobs.' : page.jobs.map(jobLine).join('\n'));
    });
}

function jobLine(job: ExportJob): string {
  const pages = job.pageTotal === undefined ? '' : `${job.pageCount}/${job.pageTotal} pages`;
  return [
    job.jobId,
    job.createdAt,
    job.domain,
    job.status.padEnd(9),
    `${job.progress.toFixed(0)} %`.padStart(5),
    pages,
    job.error ?? '',
  ]
    .join('  ')
    .trimEnd();
}
