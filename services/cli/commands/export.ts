import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { deploymentTypes } from '#shared/contracts/stored-objects.ts';
import { authorReportPath, type Findings } from '#shared/export/bundle/verify-bundle.ts';
import { type ApiClient, jobPath, retryWhileAway } from '../api-client.ts';
import { checkTarget } from '../check-target.ts';
import { choiceList, type ServerCommandOptions, withConnection } from '../command-options.ts';
import { connect, domainOrLocal } from '../connection.ts';
import { downloadVerified, type ExportRequest, signBundleLink, startExport, waitForExport } from '../export-client.ts';
import { counted } from '#shared/runtime/figures.ts';
import { createOutput, type Output, progressBar } from '../terminal.ts';

type ExportOptions = ServerCommandOptions & {
  wait: boolean;
  out?: string;
  version?: string;
  paths?: string[];
  groups?: string[];
  deployment?: string;
  onPageError?: string;
  scripts: boolean;
  assistantKey?: string;
  search?: string;
  with?: string[];
  without?: string[];
  idempotencyKey?: string;
};

/** Features with a switch; search has its own option. */
const switched = ['assistant', 'analytics', 'playground'];

export function exportCommand(program: Command): void {
  withConnection(program.command('export'))
    .description('export a domain as one archive of static files')
    .argument('[domain]', 'slug or host name')
    .option('--wait', 'wait until the export has ended', false)
    .option('--out <file>', 'download the bundle to this file and check it (implies --wait)')
    .option('--version <label>', 'label of the export; exports the content version with this label, else the latest')
    .option('--paths <paths...>', 'only these pages, such as guides/start')
    .option('--groups <groups...>', 'include pages restricted to these groups')
    .addOption(new Option('--deployment <type>', 'deployment type of the bundle (cloud)').choices(deploymentTypes))
    .addOption(
      new Option('--on-page-error <what>', 'reaction to a page that cannot be rendered (fail)').choices([
        'fail',
        'report',
      ]),
    )
    .option('--no-scripts', 'leave out scripts and components of the project, for a host that organizations share')
    .option('--assistant-key <key>', 'public key (svc_dsc_…) with which the pages search and ask the assistant')
    .addOption(
      new Option('--search <where>', 'search of the pages: by the server, by an index in the bundle, or none').choices([
        'server',
        'bundle',
        'off',
      ]),
    )
    .addOption(choiceList('--with <features...>', 'features to switch on in the pages', switched))
    .addOption(choiceList('--without <features...>', 'features to switch off', switched))
    .option('--idempotency-key <key>', 'a repeated key returns the same job (a new key by default)')
    .action(async (named: string | undefined, options: ExportOptions) => {
      const output = createOutput(options.json);
      const client = connect(options, 'admin');
      const { version, paths, groups, deployment, onPageError, assistantKey } = options;
      const domain = domainOrLocal(named, options);
      const features = featuresOf(options);
      const allowTenantScripts = options.scripts ? undefined : false;
      const request = {
        ...{ domain, version, paths, groups, deployment, onPageError },
        ...{ allowTenantScripts, assistantKey, features },
      };
      if (options.out !== undefined) await checkTarget('--out', options.out, 'docs.tar.gz');
      if (named === undefined) output.note(`The domain is "${domain}".`);
      const job = await startExport(client, request, options.idempotencyKey);
      if (!options.wait && options.out === undefined) {
        output.result(job, startedText(job));
        return;
      }
      const ended = await waitShowing(client, job.jobId, output);
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
      const checked = await downloadVerified(link, file, (bytes) =>
        download?.show((bytes / link.sizeBytes) * 100, `${bytes} of ${link.sizeBytes} bytes`),
      );
      download?.end(`Downloaded ${file}.`);
      output.result(
        { job: ended, bundle: link, file, files: checked.files, findings: checked.findings },
        `${file}: ${link.sizeBytes} bytes, SHA-256 ${link.sha256} as announced, ${checked.files} files as its manifest says.${findingsText(checked.findings)}`,
      );
    });
}

/** A line about the findings of an export, which are in its bundle, or '' if there are none. Pure. */
export function findingsText({ errors, warnings }: Findings = { errors: 0, warnings: 0 }): string {
  const counts = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ];
  if (counts.length === 0) return '';
  return `\nIts report has ${counts.join(' and ')}: see ${authorReportPath} in the bundle, or "bindery check <folder>".`;
}

/** Undefined if all features follow the deployment type. */
function featuresOf({ search, with: on = [], without: off = [] }: ExportOptions): ExportRequest['features'] {
  const both = on.find((name) => off.includes(name));
  if (both !== undefined) throw new Error(`"${both}" is in --with and in --without. Name it in one of them.`);
  const chosen = [
    ...(search === undefined ? [] : [['search', search] as const]),
    ...on.map((name) => [name, true] as const),
    ...off.map((name) => [name, false] as const),
  ];
  return chosen.length === 0 ? undefined : Object.fromEntries<string | boolean>(chosen);
}

const startedText = ({ jobId }: ExportJob): string =>
  `Started ${jobId}. Follow it with "bindery jobs --watch ${jobId}".`;

/** Waits until a job is completed and shows its progress. */
async function waitShowing(client: ApiClient, jobId: string, output: Output): Promise<ExportJob> {
  output.note(`Job ${jobId}`);
  const bar = output.json ? undefined : progressBar(process.stderr);
  const interrupted = () => {
    bar?.end('');
    process.stderr.write(
      `The export continues. Follow it with "bindery jobs --watch ${jobId}", cancel it with "bindery cancel ${jobId}".\n`,
    );
    process.exit(130);
  };
  process.once('SIGINT', interrupted);
  const ended = await waitForExport(client, jobId, ({ progress, status, pageCount, pageTotal }) =>
    bar?.show(progress, pageTotal === undefined ? status : `${pageCount} of ${pageTotal} pages`),
  ).finally(() => process.off('SIGINT', interrupted));
  bar?.end(
    ended.reusedBundle === true
      ? `Nothing has changed since an earlier export: its bundle of ${counted(ended.pageCount, 'page')} was verified.`
      : `Exported ${counted(ended.pageCount, 'page')}.`,
  );
  return ended;
}

type ReplayOptions = ServerCommandOptions & { wait: boolean; idempotencyKey?: string };

export function replayCommand(program: Command): void {
  withConnection(program.command('replay'))
    .description('export the same content with the same options again, and compare the digests')
    .argument('<jobId>', 'a job that has ended')
    .option('--wait', 'wait until the replay has ended, and say whether its digest is the same', false)
    .option('--idempotency-key <key>', 'a repeated key returns the same job (a new key by default)')
    .action(async (jobId: string, options: ReplayOptions) => {
      const output = createOutput(options.json);
      const client = connect(options, 'admin');
      const idempotencyKey = options.idempotencyKey ?? randomUUID();
      const job = await retryWhileAway(() =>
        client.json<ExportJob>(`${jobPath(jobId)}/replay`, {
          method: 'POST',
          headers: { 'idempotency-key': idempotencyKey },
        }),
      );
      if (!options.wait) {
        output.result(job, startedText(job));
        return;
      }
      const ended = await waitShowing(client, job.jobId, output);
      output.result(ended, digestSentence(ended));
    });
}

/** A sentence that compares a replay's bundle with the original's. Pure. */
export function digestSentence({ replayOf, digestMatch }: Pick<ExportJob, 'replayOf' | 'digestMatch'>): string {
  const original = replayOf ?? 'the original';
  switch (digestMatch) {
    case 'same':
      return `same: the bundle is that of ${original}, byte for byte.`;
    case 'different':
      return `different: the bundle is not that of ${original}, though the renderer is the same.`;
    case 'renderer-changed':
      return `renderer-changed: the bundle is not that of ${original}, which another version of the renderer made.`;
    default:
      return `There is nothing to compare with: ${original} has no bundle.`;
  }
}

export function cancelCommand(program: Command): void {
  withConnection(program.command('cancel'))
    .description('cancel an export job')
    .argument('<jobId>', 'a job that has not ended')
    .action(async (jobId: string, options: ServerCommandOptions) => {
      const job = await connect(options, 'admin').json<ExportJob>(`${jobPath(jobId)}/cancel`, { method: 'POST' });
      const ended =
        job.status === 'failed' ? `Cancelled ${job.jobId}.` : `The cancellation of ${job.jobId} was requested.`;
      createOutput(options.json).result(job, ended);
    });
}
