import { type Command, Option } from 'commander';
import { type SomeUsageFigures, type UsageFigureName, usageFigureNames } from '#shared/contracts/audit-entry.ts';
import type { Usage } from '#shared/interfaces/http/audit.ts';
import { type ServerCommandOptions, withConnection } from '../command-options.ts';
import { connect } from '../connection.ts';
import { formatBytes, formatNumber } from '#shared/runtime/figures.ts';
import { aligned, createOutput, type Paint, paintFor, terminalWidth } from '../terminal.ts';

type Options = ServerCommandOptions & { month?: string; months?: string };

export function usageCommand(program: Command): void {
  withConnection(program.command('usage'))
    .description('show the usage of the organization: exports, pages, bundles, links, publications, questions')
    .option('--month <month>', 'by day, in a month such as 2026-03; this month by default')
    .addOption(
      new Option('--months <first..last>', 'by month, such as 2026-01..2026-03, at most 24').conflicts('month'),
    )
    .action(async (options: Options) => {
      const { month, months } = options;
      const usage = await connect(options, 'admin').json<Usage>('/v1/usage', { query: { month, months } });
      const looks = { width: terminalWidth(process.stdout), paint: paintFor(process.stdout, process.env) };
      createOutput(options.json).result(usage, usageText(usage, looks));
    });
}

type Column = { head: string; figure: UsageFigureName; format: (value: number) => string };

const columns: readonly Column[] = [
  { head: 'Exports', figure: 'exportsStarted', format: formatNumber },
  { head: 'Completed', figure: 'exportsCompleted', format: formatNumber },
  { head: 'Failed', figure: 'exportsFailed', format: formatNumber },
  { head: 'Cancelled', figure: 'exportsCancelled', format: formatNumber },
  { head: 'Pages', figure: 'pagesExported', format: formatNumber },
  { head: 'Bundles', figure: 'bundleBytes', format: formatBytes },
  { head: 'Links', figure: 'linksSigned', format: formatNumber },
  { head: 'Publications', figure: 'publications', format: formatNumber },
  { head: 'Questions', figure: 'questions', format: formatNumber },
  { head: 'Tokens', figure: 'tokens', format: formatNumber },
];

const gap = '  ';
const longestBar = 24;
/** Bars with fewer columns are left out. */
const shortestBar = 8;
const none = '·';
/** Shown for a figure whose records have expired. */
const unknown = '?';

type Row = { name: string; figures: SomeUsageFigures; isKnown: (figure: UsageFigureName) => boolean };

/** Usage for a terminal: one month by day or several by month, with bars of the exports and a line of sums. Pure. */
export function usageText({ organization, months }: Usage, { width, paint }: { width: number; paint: Paint }): string {
  const [first] = months;
  const last = months.at(-1);
  if (first === undefined || last === undefined) return 'No month was asked for.';
  const isOne = months.length === 1;
  const title = isOne ? `${organization}, ${first.month}` : `${organization}, ${first.month} to ${last.month}`;
  const rows: Row[] = isOne
    ? first.days.map(({ day, figures }) => ({ name: day, figures, isKnown: isKnownIn(first) }))
    : months.map((month) => ({ name: month.month, figures: month.total, isKnown: isKnownIn(month) }));
  const sum: Row = {
    name: 'in all',
    figures: sumOf(months.map(({ total }) => total)),
    isKnown: (figure) => months.every((month) => isKnownIn(month)(figure)),
  };
  if (usageFigureNames.every((name) => (sum.figures[name] ?? 0) === 0)) return `${title}: nothing was used.`;

  const titles = ['', ...columns.map((column) => column.head)];
  const body = [...rows, sum].map((row) => [row.name, ...cellsOf(row)]);
  const [head = '', ...texts] = aligned([titles, ...body], (column) => column > 0).map((cells) => cells.join(gap));
  const room = Math.min(longestBar, width - head.length - gap.length);
  const most = Math.max(1, ...rows.map(({ figures }) => figures.exportsStarted ?? 0));
  const lines = rows.map((row, at) => {
    const bar = room < shortestBar ? '' : paint('blue', barOf((row.figures.exportsStarted ?? 0) / most, room));
    return `${texts[at]}${gap}${bar}`.trimEnd();
  });
  const replays = sum.figures.exportsReplayed ?? 0;
  return [
    paint('bold', title),
    paint('gray', head),
    ...lines,
    paint('bold', texts.at(-1) ?? ''),
    ...(replays === 0
      ? []
      : [paint('gray', `${formatNumber(replays)} of the exports ${replays === 1 ? 'was a replay' : 'were replays'}.`)]),
    ...(columns.every(({ figure }) => sum.isKnown(figure))
      ? []
      : [paint('gray', `${unknown}: links, questions and tokens are counted for as long as their records are kept.`)]),
  ].join('\n');
}

const isKnownIn =
  ({ total }: Usage['months'][number]) =>
  (figure: UsageFigureName): boolean =>
    total[figure] !== undefined;

function cellsOf({ figures, isKnown }: Row): string[] {
  return columns.map(({ figure, format }) => {
    if (!isKnown(figure)) return unknown;
    const value = figures[figure] ?? 0;
    return value === 0 ? none : format(value);
  });
}

function sumOf(all: readonly SomeUsageFigures[]): SomeUsageFigures {
  const sums: SomeUsageFigures = {};
  for (const figures of all) {
    for (const name of usageFigureNames) sums[name] = (sums[name] ?? 0) + (figures[name] ?? 0);
  }
  return sums;
}

/** Any value above zero has a bar of at least one column. */
function barOf(share: number, columnCount: number): string {
  return share === 0 ? '' : '━'.repeat(Math.max(1, Math.round(share * columnCount)));
}
