import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { verifyBundle } from '#shared/bundle/verify-bundle.ts';
import { connect, domainOrLocal } from './connection.ts';
import { downloadBundle } from './download-bundle.ts';
import { signBundleLink, startExport, waitForExport } from './export-site.ts';
import { createOutput } from './output.ts';
import { progressBar } from './progress-bar.ts';
import { type ServerCommandOptions, withConnection } from './with-connection.ts';

type Options = ServerCommandOptions & {
  wait: boolean;
  out?: string;
  version?: string;
  paths?: string[];
  groups?: string[];
  deployment?: string;
  onPageError?: string;
  idempotencyKey?: string;
};

export function exportCommand(program: Command): void {
  withConnection(program.command('export'))
    .description('export a domain as one archive of static files')
    .argument('[domain]', 'slug or host name')
    .option('--wait', 'wait until the export has ended', false)
    .option('--out <file>', 'download the bundle to this file and check it (implies --wait)')
    .option('--version <label>', 'tag; the content of a label with this name if there is one')
    .option('--paths <paths...>', 'only these pages, such as guides/start')
    .option('--groups <groups...>', 'include pages restricted to these groups')
    .option('--deployment <type>', 'cloud, client-hosted or air-gapped')
    .option('--on-page-error <what>', 'fail or report')
    .option('--idempotency-key <key>', 'the same key again is the same job (a fresh one by default)')
    .action(async (named: string | undefined, options: Options) => {
      const output = createOutput(options.json);
      const client = connect(options, 'admin');
      const { version, paths, groups, deployment, onPageError } = options;
      const request = { domain: domainOrLocal(named, options), version, paths, groups, deployment, onPageError };
      const job = await startExport(client, request, options.idempotencyKey);
      if (!options.wait && options.out === undefined) {
        output.result(job, `Started ${job.jobId}. Follow it with "bindery jobs --watch ${job.jobId}".`);
        return;
      }
      output.note(`Job ${job.jobId}`);
      const bar = options.json ? undefined : progressBar(process.stderr);
      const ended = await waitForExport(client, job.jobId, (now) =>
        bar?.show(
          now.progress,
          now.pageTotal === undefined ? now.status : `${now.pageCount} of ${now.pageTotal} pages`,
        ),
      );
      bar?.end(`Exported ${ended.pageCount} pages.`);
      const link = await signBundleLink(client, job.jobId);
      if (options.out === undefined) {
        output.result(
          { job: ended, bundle: link },
          `${link.bundleUrl}\n${link.sizeBytes} bytes, SHA-256 ${link.sha256}, link good until ${link.expiresAt}`,
        );
        return;
      }
      const file = options.out;
      const download = options.json ? undefined : progressBar(process.stderr);
      await downloadBundle(link, file, (bytes) =>
        download?.show((bytes / link.sizeBytes) * 100, `${bytes} of ${link.sizeBytes} bytes`),
      );
      const checked = await verifyBundle(createReadStream(file));
      if (checked.problems.length > 0)
        throw new Error(`${file} is not what its manifest says: ${checked.problems.join('; ')}`);
      download?.end(`Downloaded ${file}.`);
      output.result(
        { job: ended, bundle: link, file, files: checked.files },
        `${file}: ${link.sizeBytes} bytes, SHA-256 ${link.sha256} as announced, ${checked.files} files as its manifest says.`,
      );
    });
}
