import { type Command, Option } from 'commander';
import type { ExportReport, Finding } from '#shared/interfaces/http/exports.ts';
import { type ApiClient, jobPath } from '../api-client.ts';
import { type ServerCommandOptions, wholeNumber, withConnection } from '../command-options.ts';
import { connect } from '../connection.ts';
import { formatNumber, printable } from '#shared/runtime/figures.ts';
import { createOutput } from '../terminal.ts';

type ReportOptions = ServerCommandOptions & { page?: string; severity?: string; limit: number };

const findingsAtOnce = 1_000;
const mostFindings = 1_000_000;

export function jobCommand(program: Command): void {
  const job = program.command('job').description('one export job; "bindery jobs" lists them');

  withConnection(job.command('report'))
    .description('show the findings of a completed export by page, without its bundle')
    .argument('<jobId>', 'id of the job')
    .option('--page <path>', 'only findings of this page')
    .addOption(
      new Option('--severity <severity>', 'only findings of this severity').choices(['error', 'warning', 'info']),
    )
    .option('--limit <number>', 'maximum number of findings', wholeNumber(1, mostFindings), findingsAtOnce)
    .action(async (jobId: string, { page, severity, limit, ...options }: ReportOptions) => {
      const report = await readReport(connect(options, 'admin'), jobId, { page, severity }, limit);
      createOutput(options.json).result(report, reportText(report));
    });
}

/** Reads a report with at most `limit` findings, in as many requests as that takes. */
async function readReport(
  client: ApiClient,
  jobId: string,
  query: { page: string | undefined; severity: string | undefined },
  limit: number,
): Promise<ExportReport> {
  const ask = (cursor: string | undefined, most: number) =>
    client.json<ExportReport>(`${jobPath(jobId)}/report`, {
      query: { ...query, cursor, limit: String(Math.min(most, findingsAtOnce)) },
    });
  let report = await ask(undefined, limit);
  for (;;) {
    const left = limit - countOf(report);
    if (report.nextCursor === undefined || left <= 0) return report;
    const { pages, nextCursor } = await ask(report.nextCursor, left);
    const { nextCursor: _, ...before } = report;
    report = { ...before, pages: joined(report.pages, pages), ...(nextCursor === undefined ? {} : { nextCursor }) };
  }
}

/** Joins the pages of two consecutive answers. The second may continue the last page of the first. Pure. */
export function joined(before: ExportReport['pages'], next: ExportReport['pages']): ExportReport['pages'] {
  const [last, first] = [before.at(-1), next[0]];
  if (last === undefined || first === undefined || last.path !== first.path) return [...before, ...next];
  return [...before.slice(0, -1), { ...last, findings: [...last.findings, ...first.findings] }, ...next.slice(1)];
}

const countOf = ({ pages }: ExportReport): number => pages.reduce((sum, { findings }) => sum + findings.length, 0);

/** A report for people. Pure. */
export function reportText(report: ExportReport): string {
  const { pages, failedPages, errors, warnings, infos } = report.summary;
  const lines = report.pages.flatMap(({ path, findings }) => [
    '',
    path === undefined ? 'The project' : printable(`/${path}`),
    ...findings.map(findingLine),
  ]);
  const shown = countOf(report);
  return [
    `${counted(pages, 'page')}, ${counted(errors, 'error')}, ${counted(warnings, 'warning')}, ${counted(infos, 'info')}${failedPages === 0 ? '' : `; ${counted(failedPages, 'page')} failed`}`,
    ...lines,
    ...(report.nextCursor === undefined
      ? []
      : ['', `There are more findings: --limit shows more than ${formatNumber(shown)}.`]),
  ].join('\n');
}

function findingLine({ severity, code, message, file, line, column }: Finding): string {
  const at = line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`;
  const place = file === undefined ? at.slice(1) && `line ${at.slice(1)}` : `${file}${at}`;
  return `  ${severity.padEnd(7)}  ${printable(place === '' ? message : `${place}  ${message}`)} (${code})`;
}

const counted = (count: number, what: string): string => `${formatNumber(count)} ${what}${count === 1 ? '' : 's'}`;
