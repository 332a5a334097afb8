import type { Command } from 'commander';
import type { Insights } from '#shared/interfaces/http/insights.ts';
import { type ServerCommandOptions, wholeNumber, withConnection } from '../command-options.ts';
import { connect } from '../connection.ts';
import { counted, formatNumber, printable } from '#shared/runtime/figures.ts';
import { aligned, createOutput, type Paint, type PaintStyle, paintFor, terminalWidth } from '../terminal.ts';

type Options = ServerCommandOptions & { days?: number; limit?: number };

export function insightsCommand(program: Command): void {
  withConnection(program.command('insights'))
    .description('show what readers ask: questions without an answer, pages used most in answers, ratings')
    .argument('<domain>', 'slug or host name')
    .option('--days <number>', 'number of days until today (30)', wholeNumber(1, 90))
    .option('--limit <number>', 'maximum number of entries in each list (20)', wholeNumber(1, 100))
    .action(async (domain: string, options: Options) => {
      const { days, limit } = options;
      const path = `/v1/assistant/${encodeURIComponent(domain)}/insights`;
      const insights = await connect(options, 'admin').json<Insights>(path, {
        query: { days: days?.toString(), limit: limit?.toString() },
      });
      const looks = { width: terminalWidth(process.stdout), paint: paintFor(process.stdout, process.env) };
      createOutput(options.json).result(insights, insightsText(insights, looks));
    });
}

/** The figures of agents of a gateway of an earlier version, which does not send them. */
const noAgents: NonNullable<Insights['agents']> = {
  ...{ calls: 0, tools: [], searches: 0, empty: 0, queries: [], remarks: [] },
};

type Looks = { width: number; paint: Paint };

/** Questions of readers, for a terminal: sums, then questions without an answer, pages, and answers that were rated down, with bars. Pure. */
export function insightsText(insights: Insights, looks: Looks): string {
  const { domain, from, to, questions, ratings, unanswered, pages, ratedDown, days, agents = noAgents } = insights;
  const { paint } = looks;
  const title = `${domain}, ${from} to ${to}`;
  if (questions.total === 0 && agents.calls === 0) return `${title}: nobody asked anything.`;
  const sums = [
    counted(questions.total, 'question'),
    `${formatNumber(questions.answered)} answered`,
    `${formatNumber(questions.unanswered)} not in the documentation`,
    ...(questions.unfinished === 0 ? [] : [`${formatNumber(questions.unfinished)} cut off`]),
    `${formatNumber(ratings.up)} up, ${formatNumber(ratings.down)} down`,
    ...(agents.calls === 0 ? [] : [`${counted(agents.calls, 'call')} of agents`]),
  ].join(' · ');
  const sections = [
    section(
      'Questions by day',
      days.map((day) => [day.questions, day.day, noteOf(day.unanswered, 'without an answer')]),
      'blue',
      looks,
    ),
    section(
      'Questions without an answer',
      unanswered.map(({ count, question }) => [count, question, '']),
      'yellow',
      looks,
    ),
    section(
      'Pages used most in answers',
      pages.map((page) => [page.answers, page.path, ratingNote(page)]),
      'green',
      looks,
    ),
    list(
      'Answers that were rated down',
      ratedDown.map(({ question, comment }) => (comment === undefined ? question : `${question} — “${comment}”`)),
      looks,
    ),
    section(
      'What agents looked for',
      agents.queries.map(({ query, searches, empty }) => [searches, query, noteOf(empty, 'without a result')]),
      'blue',
      looks,
    ),
    list(
      'Remarks of agents',
      agents.remarks.map(({ message, path }) => (path === undefined ? message : `${path}: ${message}`)),
      looks,
    ),
  ];
  return [[paint('bold', title), sums].join('\n'), ...sections.flat()].join('\n\n');
}

type Row = [count: number, name: string, note: string];

const longestBar = 24;
/** Bars with fewer columns are left out. */
const shortestBar = 8;
const gap = '  ';
const longestName = 72;

/** One row for each entry: count, bar and text. Empty if there are no entries. */
function section(title: string, rows: readonly Row[], colour: PaintStyle, { width, paint }: Looks): string[] {
  if (rows.length === 0) return [];
  const most = Math.max(...rows.map(([count]) => count));
  const countWidth = Math.max(...rows.map(([count]) => formatNumber(count).length));
  const texts = aligned(rows.map(([, name, note]) => [cut(printable(name), longestName), note])).map((cells) =>
    cells.join(gap).trimEnd(),
  );
  const widest = Math.max(...texts.map((text) => text.length));
  const room = Math.min(longestBar, width - countWidth - widest - 2 * gap.length);
  const lines = rows.map(([count], at) => {
    const columns = room < shortestBar ? 0 : Math.max(1, Math.round((count / most) * room));
    const bar = room < shortestBar ? '' : `${paint(colour, '━'.repeat(columns))}${' '.repeat(room - columns)}${gap}`;
    return `${formatNumber(count).padStart(countWidth)}${gap}${bar}${texts[at]}`;
  });
  return [[paint('bold', title), ...lines].join('\n')];
}

function list(title: string, texts: readonly string[], { width, paint }: Looks): string[] {
  if (texts.length === 0) return [];
  return [[paint('bold', title), ...texts.map((text) => `- ${cut(printable(text), width - 2)}`)].join('\n')];
}

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1)).toWellFormed()}…`;

const noteOf = (count: number, what: string): string => (count === 0 ? '' : `${formatNumber(count)} ${what}`);

const ratingNote = ({ up, down }: Insights['pages'][number]): string =>
  up + down === 0 ? '' : `${formatNumber(up)} up, ${formatNumber(down)} down`;
