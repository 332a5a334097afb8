import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { ExportJob } from '#shared/contracts/http/export-job.ts';
import { connect } from './connection.ts';
import { waitForExport } from './export-site.ts';
import { jobPath } from './job-path.ts';
import { createOutput } from './output.ts';
import { progressBar } from './progress-bar.ts';
import { whileAway } from './while-away.ts';
import { type ServerCommandOptions, withConnection } from './with-connection.ts';

type Options = ServerCommandOptions & { wait: boolean; idempotencyKey?: string };

export function replayCommand(program: Command): void {
  withConnection(program.command('replay'))
    .description('export the same content with the same options again, and compare the digests')
    .argument('<jobId>', 'a job that has ended')
    .option('--wait', 'wait until the replay has ended, and say whether its digest is the same', false)
    .option('--idempotency-key <key>', 'the same key again is the same job (a fresh one by default)')
    .action(async (jobId: string, options: Options) => {
      const output = createOutput(options.json);
      const client = connect(options, 'admin');
      const idempotencyKey = options.idempotencyKey ?? randomUUID();
      const job = await whileAway(() =>
        client.json<ExportJob>(`${jobPath(jobId)}/replay`, {
          method: 'POST',
          headers: { 'idempotency-key': idempotencyKey },
        }),
      );
      if (!options.wait) {
        output.result(job, `Started ${job.jobId}. Follow it with "bindery jobs --watch ${job.jobId}".`);
        return;
      }
      output.note(`Job ${job.jobId}`);
      const bar = options.json ? undefined : progressBar(process.stderr);
      const ended = await waitForExport(client, job.jobId, (now) => bar?.show(now.progress, now.status));
      bar?.end(`Exported ${ended.pageCount} pages.`);
      output.result(ended, digestSentence(ended));
    });
}

/** What the comparison of a replay's bundle with that of the original says. Pure. */
export function digestSentence({ replayOf, digestMatch }: Pick<ExportJob, 'replayOf' | 'digestMatch'>): string {
  const original = replayOf ?? 'the original';
  switch (digestMatch) {
    case 'same':
      return `same: the bundle is that of ${original}, byte by byte.`;
    case 'different':
      return `different: the bundle is not that of ${original}, though the renderer is the same.`;
    case 'renderer-changed':
      return `renderer-changed: the bundle is not that of ${original}, which another version of the renderer made.`;
    default:
      return `There is nothing to compare with: ${original} has no bundle.`;
  }
}
