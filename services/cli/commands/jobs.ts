import { setTimeout as delay } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { type ExportJob, exportJobStatuses, type ExportList } from '#shared/interfaces/http/exports.ts';
import { type ApiClient, jobPath, retryWhileAway } from '../api-client.ts';
import { type ServerCommandOptions, wholeNumber, withConnection } from '../command-options.ts';
import { connect } from '../connection.ts';
import { ExportFailed, followJob } from '../export-client.ts';
import { formatDuration, formatNumber, printable } from '#shared/runtime/figures.ts';
import {
  aligned,
  createOutput,
  liveArea,
  type Paint,
  paintFor,
  type PaintStyle,
  progressGlyphs,
  terminalWidth,
} from '../terminal.ts';

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
    .argument('[jobId]', 'id of one job; all jobs by default')
    .option('--watch', 'follow their changes; with a job, until it has ended (exit code 1 if it failed)', false)
    .option('--domain <domain>', 'only jobs of this domain')
    .addOption(new Option('--status <status>', 'only jobs with this status').choices(exportJobStatuses))
    .option('--since <time>', 'only jobs created since, such as 2026-01-31 or 2026-01-31T12:00:00Z')
    .option('--limit <number>', 'maximum number of jobs (20)', wholeNumber(1, 100))
    .option('--cursor <cursor>', 'continue an earlier list: its "nextCursor"')
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

export type WatchOptions = {
  json: boolean;
  stream: { isTTY?: boolean; columns?: number; rows?: number; write(text: string): unknown };
};

const pollMs = 1_000;
const tickMs = 1_000;
/** Lines around the jobs: the head, the counts, and the line of the cursor. */
const otherLines = 3;

/** Shows a job until it has ended: redrawn in place on a terminal, else one line per change. Rejects with `ExportFailed` if it failed. */
export async function watchJob(client: ApiClient, jobId: string, { json, stream }: WatchOptions): Promise<void> {
  const isLive = !json && stream.isTTY === true;
  const area = liveArea(stream);
  let job: ExportJob | undefined;
  const draw = () => {
    if (job !== undefined) area.draw(jobPanel(job, new Date(), looks(stream)));
  };
  // The shown time advances while nothing changes.
  const ticking = isLive ? setInterval(draw, tickMs) : undefined;
  try {
    for await (const changed of followJob(client, jobId)) {
      job = changed;
      if (isLive) draw();
      else stream.write(`${json ? JSON.stringify(job) : jobLine(job)}\n`);
    }
  } finally {
    clearInterval(ticking);
  }
  if (job?.status === 'failed') throw new ExportFailed(job.error ?? 'The export failed without a reason.');
}

/** Shows the jobs of a query until the process ends: as a table on a terminal, else one line per job and change. */
async function watchJobs(
  client: ApiClient,
  query: Record<string, string | undefined>,
  { json, stream }: WatchOptions,
): Promise<never> {
  const isLive = !json && stream.isTTY === true;
  const area = liveArea(stream);
  let before: readonly ExportJob[] = [];
  for (;;) {
    const { jobs } = await retryWhileAway(() => client.json<ExportList>('/v1/static-export/jobs', { query }));
    if (isLive) {
      const room = Math.max(1, (stream.rows ?? Number.POSITIVE_INFINITY) - otherLines);
      area.draw([...jobTable(jobs.slice(0, room), new Date(), looks(stream)), countsOf(jobs)]);
    } else {
      for (const job of changedJobs(before, jobs)) stream.write(`${json ? JSON.stringify(job) : jobLine(job)}\n`);
    }
    before = jobs;
    await delay(pollMs);
  }
}

/** The jobs that are new or have changed, oldest first. Pure. */
export function changedJobs(before: readonly ExportJob[], now: readonly ExportJob[]): ExportJob[] {
  const known = new Map(before.map(({ jobId, revision }) => [jobId, revision]));
  return now.filter(({ jobId, revision }) => known.get(jobId) !== revision).toReversed();
}

/** `2 running, 1 queued`. Pure. */
export function countsOf(jobs: readonly ExportJob[]): string {
  const counts = (['running', 'queued', 'completed', 'failed'] as const).flatMap((status) => {
    const count = jobs.filter((job) => job.status === status).length;
    return count === 0 ? [] : [`${count} ${status}`];
  });
  return counts.length === 0 ? 'No export jobs.' : counts.join(', ');
}

const looks = (stream: WatchOptions['stream']) => ({
  width: terminalWidth(stream),
  paint: paintFor(stream, process.env),
});

const styles: Record<ExportJob['status'], PaintStyle> = {
  queued: 'gray',
  running: 'blue',
  completed: 'green',
  failed: 'red',
};

const barWidth = 16;
/** Terminal width from which a bar is shown. */
const roomForBar = 110;

/** A job on one line, for logs and pipes. Pure. */
export function jobLine(job: ExportJob): string {
  const pages = job.pageTotal === undefined ? '' : `${job.pageCount}/${job.pageTotal} pages`;
  return [
    job.jobId,
    job.createdAt,
    job.domain,
    job.status.padEnd(9),
    `${job.progress.toFixed(0)} %`.padStart(5),
    pages,
    printable(job.error ?? ''),
  ]
    .join('  ')
    .trimEnd();
}

/** Jobs as a table with a head, one line each. The time of jobs that have not ended counts until `now`. Pure. */
export function jobTable(jobs: readonly ExportJob[], now: Date, options: { width: number; paint: Paint }): string[] {
  const { paint, width } = options;
  const head = ['Job', 'Domain', 'Version', 'Status', 'Progress', 'Pages', 'Time'];
  const rows = jobs.map((job) => [
    job.jobId,
    job.domain,
    job.version ?? '',
    job.status,
    `${width >= roomForBar ? `${progressGlyphs(job.progress, barWidth)} ` : ''}${job.progress.toFixed(0).padStart(3)} %`,
    pagesOf(job),
    formatDuration(elapsedMs(job, now)),
  ]);
  const [titles = [], ...lines] = aligned([head, ...rows]);
  return [
    paint('gray', titles.join('  ').trimEnd()),
    ...lines.map((cells, index) => {
      const style = styles[jobs[index]?.status ?? 'queued'];
      return cells
        .map((cell, column) => (column === 3 || column === 4 ? paint(style, cell) : cell))
        .join('  ')
        .trimEnd();
    }),
  ];
}

/** One job on two lines: its description and its progress. Pure. */
export function jobPanel(job: ExportJob, now: Date, options: { width: number; paint: Paint }): string[] {
  const { paint, width } = options;
  const style = styles[job.status];
  const version = job.version === undefined ? '' : ` (${job.version})`;
  const after = `${job.progress.toFixed(1).padStart(5)} %  ${pagesOf(job)}  ${formatDuration(elapsedMs(job, now))}`;
  const length = Math.max(10, Math.min(60, width - after.length - 2));
  return [
    `${paint('bold', `${job.domain}${version}`)}  ${paint(style, `● ${job.status}`)}  ${paint('gray', job.jobId)}`,
    `${paint(style, progressGlyphs(job.progress, length))} ${after}`,
  ];
}

/** Time from the request to the end, or to now. Clocks differ, so it is clamped to zero. Pure. */
export function elapsedMs(job: Pick<ExportJob, 'createdAt' | 'completedAt'>, now: Date): number {
  const end = job.completedAt === undefined ? now.getTime() : Date.parse(job.completedAt);
  return Math.max(0, end - Date.parse(job.createdAt));
}

const pagesOf = ({ pageCount, pageTotal }: ExportJob): string =>
  pageTotal === undefined ? '' : `${formatNumber(pageCount)} of ${formatNumber(pageTotal)} pages`;
