import type { Command } from 'commander';
import type { ExportJob } from '#shared/contracts/http/export-job.ts';
import { connect } from './connection.ts';
import { jobPath } from './job-path.ts';
import { createOutput } from './output.ts';
import { type ServerCommandOptions, withConnection } from './with-connection.ts';

export function cancelCommand(program: Command): void {
  withConnection(program.command('cancel'))
    .description('end an export job before it is done')
    .argument('<jobId>')
    .action(async (jobId: string, options: ServerCommandOptions) => {
      const job = await connect(options, 'admin').json<ExportJob>(`${jobPath(jobId)}/cancel`, { method: 'POST' });
      const ended = job.status === 'failed' ? `Cancelled ${job.jobId}.` : `${job.jobId} was asked to end.`;
      createOutput(options.json).result(job, ended);
    });
}
