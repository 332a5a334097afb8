import type { ExportJob } from '#shared/contracts/http/export-job.ts';
import type { Paint, PaintStyle } from './paint.ts';
import { printable } from './printable.ts';
import { bar } from './progress-bar.ts';
import { formatDuration, formatNumber } from './timeline/format-figures.ts';

const styles: Record<ExportJob['status'], PaintStyle> = {
  queued: 'gray',
  running: 'blue',
  completed: 'green',
  failed: 'red',
};

const barWidth = 16;
/** From this width on there is room for a bar. */
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

/** Jobs as a table with a head, one line each. `now` is until when those that have not ended are timed. Pure. */
export function jobTable(jobs: readonly ExportJob[], now: Date, options: { width: number; paint: Paint }): string[] {
  const { paint, width } = options;
  const head = ['Job', 'Domain', 'Version', 'Status', 'Progress', 'Pages', 'Time'];
  const rows = jobs.map((job) => [
    job.jobId,
    job.domain,
    job.version ?? '',
    job.status,
    `${width >= roomForBar ? `${bar(job.progress, barWidth)} ` : ''}${job.progress.toFixed(0).padStart(3)} %`,
    pagesOf(job),
    formatDuration(elapsedMs(job, now)),
  ]);
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const lineOf = (cells: string[]) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  return [
    paint('gray', lineOf(head).join('  ').trimEnd()),
    ...rows.map((row, index) => {
      const style = styles[jobs[index]?.status ?? 'queued'];
      return lineOf(row)
        .map((cell, column) => (column === 3 || column === 4 ? paint(style, cell) : cell))
        .join('  ')
        .trimEnd();
    }),
  ];
}

/** One job over two lines: what it is, how far it is. Pure. */
export function jobPanel(job: ExportJob, now: Date, options: { width: number; paint: Paint }): string[] {
  const { paint, width } = options;
  const style = styles[job.status];
  const version = job.version === undefined ? '' : ` (${job.version})`;
  const after = `${job.progress.toFixed(1).padStart(5)} %  ${pagesOf(job)}  ${formatDuration(elapsedMs(job, now))}`;
  const length = Math.max(10, Math.min(60, width - after.length - 2));
  return [
    `${paint('bold', `${job.domain}${version}`)}  ${paint(style, `● ${job.status}`)}  ${paint('gray', job.jobId)}`,
    `${paint(style, bar(job.progress, length))} ${after}`,
  ];
}

/** Since its request: until its end, or until now. Clocks differ, so never below zero. Pure. */
export function elapsedMs(job: Pick<ExportJob, 'createdAt' | 'completedAt'>, now: Date): number {
  const end = job.completedAt === undefined ? now.getTime() : Date.parse(job.completedAt);
  return Math.max(0, end - Date.parse(job.createdAt));
}

const pagesOf = ({ pageCount, pageTotal }: ExportJob): string =>
  pageTotal === undefined ? '' : `${formatNumber(pageCount)} of ${formatNumber(pageTotal)} pages`;
