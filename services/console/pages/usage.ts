import { z } from 'zod';
import type { UsageFigureName } from '#shared/contracts/audit-entry.ts';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { limitListSchema, type Usage, usageSchema } from '#shared/interfaces/http/audit.ts';
import { whoamiSchema } from '#shared/interfaces/http/directory.ts';
import { readersSchema } from '#shared/interfaces/http/site-views.ts';
import { page, type Visit } from '../page.ts';
import { answerOrProblem, partOf, unlessSilent } from '../pieces/part.ts';
import { bytes, choiceField, command, count, empty, pageHead, plural, table } from '../pieces/pieces.ts';
import { type Bar, plot } from '../pieces/plot.ts';

/** Months that the page offers, and shows in one plot. */
const monthsOffered = 24;
const monthsTogether = 12;
const mostListed = 15;

const query = z.object({
  by: z.enum(['day', 'month']).default('day').catch('day'),
  month: z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/)
    .optional()
    .catch(undefined),
  domain: z.string().max(253).optional().catch(undefined),
});

type Figure = { figure: UsageFigureName; title: string; format?: (value: number) => string; limit?: string };

/** The plotted figures. `limit`: the name of the limit that a figure counts towards. */
export const figures: readonly Figure[] = [
  { figure: 'exportsStarted', title: 'Exports', limit: 'starts' },
  { figure: 'pagesExported', title: 'Exported pages' },
  { figure: 'bundleBytes', title: 'Size of bundles', format: bytes },
  { figure: 'publications', title: 'Publications', limit: 'publications' },
  { figure: 'questions', title: 'Questions', limit: 'assistant' },
  { figure: 'tokens', title: 'Model tokens', limit: 'tokens' },
  { figure: 'linksSigned', title: 'Signed links', limit: 'links' },
];

const limitNames: Readonly<Record<string, string>> = {
  assistant: 'Questions, searches and pages of the assistant',
  changes: 'Other changes',
  'content-readings': 'Comparisons and sources of contents',
  keys: 'New API keys',
  links: 'Signed links',
  lists: 'Lists of files before a publication',
  publications: 'Publications',
  reports: 'Reports of exports',
  starts: 'Started exports',
  tokens: 'Model tokens',
  verifications: 'Verifications of logs',
};

/** The month and the months before it, newest first. Pure. */
export function monthsBefore(month: string, many: number): string[] {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return Array.from({ length: many }, (_, ago) => new Date(Date.UTC(year, number - 1 - ago)).toISOString().slice(0, 7));
}

/** The days of a month up to a day, oldest first. Pure. */
export function daysOf(month: string, today: string): string[] {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const many = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const days = Array.from({ length: many }, (_, at) => `${month}-${String(at + 1).padStart(2, '0')}`);
  return days.filter((day) => day <= today);
}

/** Usage of the organization by day or by month, beside the limits of its plan, with the page views and searches of its sites. */
const usagePage = page({ path: '/usage', query }, async (visit) => {
  const { ask, now } = visit;
  const today = now.toISOString().slice(0, 10);
  const offered = monthsBefore(today.slice(0, 7), monthsOffered);
  const month = offered.find((each) => each === visit.query.month) ?? today.slice(0, 7);
  const { by } = visit.query;
  const [first] = monthsBefore(month, monthsTogether).slice(-1);
  const [known, usage, limits] = await Promise.all([
    unlessSilent(ask({ path: '/v1/whoami' }, whoamiSchema)),
    answerOrProblem(
      ask({ path: '/v1/usage', query: by === 'day' ? { month } : { months: `${first}..${month}` } }, usageSchema),
    ),
    answerOrProblem(ask({ path: '/v1/limits' }, limitListSchema)),
  ]);
  const slugs = known?.domains.map(({ domain }) => domain) ?? [];
  const domain = slugs.find((slug) => slug === visit.query.domain) ?? slugs[0];
  const content = html`${pageHead('Usage', `${known === undefined ? '' : `Plan ${known.organization.plan}. `}Days and months are those of UTC.`)}
<form method="get" action="${visit.base}/usage" class="filters">
${choiceField('by', {
  label: 'By',
  choices: [
    ['day', 'day of the month'],
    ['month', `month, ${monthsTogether} up to it`],
  ],
  value: by,
})}
${choiceField('month', { label: 'Month', choices: offered.map((each) => [each, each] as const), value: month })}
${slugs.length < 2 ? '' : choiceField('domain', { label: 'Page views of', choices: slugs.map((slug) => [slug, slug] as const), value: domain ?? '' })}
<button class="button">Show</button></form>
${usage.answer === undefined ? usage.problem : plots(usage.answer, by, daysOf(month, today))}
<section aria-labelledby="limits"><h2 id="limits">Limits</h2>${limits.answer === undefined ? limits.problem : limitTable(limits.answer, usage.answer)}</section>
${domain === undefined || by === 'month' ? '' : html`<section aria-labelledby="readers"><h2 id="readers">Readers of ${domain}</h2>${await partOf(readersOf(visit, domain, daysOf(month, today)), (shown) => shown)}</section>`}`;
  return { title: 'Usage', content };
});

const plots = (usage: Usage, by: 'day' | 'month', days: readonly string[]): SafeHtml =>
  html`<div class="plots">${figures.map((each) =>
    plot({
      title: `${each.title} by ${by}`,
      unit: each.title,
      of: by === 'day' ? 'Day' : 'Month',
      bars: by === 'day' ? dayBars(usage, each.figure, days) : monthBars(usage, each.figure),
      total: sumOf(usage, each),
      ...(each.format && { format: each.format }),
    }),
  )}</div>`;

/** The sum of a figure over the shown time; one whose records have expired is not known. */
function sumOf({ months }: Usage, { figure, format = count }: Figure): string {
  return months.some(({ total }) => total[figure] === undefined)
    ? 'not known'
    : format(months.reduce((sum, { total }) => sum + (total[figure] ?? 0), 0));
}

export function dayBars({ months: [month] }: Usage, figure: UsageFigureName, days: readonly string[]): Bar[] {
  const known = new Map(month?.days.map((each) => [each.day, each.figures[figure] ?? 0]));
  const isKnown = month?.total[figure] !== undefined;
  return days.map((day) => ({
    name: day,
    short: String(Number(day.slice(8))),
    value: isKnown ? (known.get(day) ?? 0) : undefined,
  }));
}

const monthBars = ({ months }: Usage, figure: UsageFigureName): Bar[] =>
  months.map(({ month, total }) => ({ name: month, short: month.slice(2), value: total[figure] }));

export const windows: Readonly<Record<number, string>> = { 3_600: 'hour', 86_400: 'day' };

/** The limits of the plan, with the day that came closest to each of them unless the usage is not known. */
function limitTable({ limits, activeExports }: z.output<typeof limitListSchema>, usage: Usage | undefined): SafeHtml {
  const days = usage?.months.flatMap((month) => month.days) ?? [];
  const busiest = (name: string): string => {
    const figure = figures.find(({ limit }) => limit === name)?.figure;
    const most = figure && days.toSorted((a, b) => (b.figures[figure] ?? 0) - (a.figures[figure] ?? 0))[0];
    const value = (figure && most?.figures[figure]) ?? 0;
    return most === undefined || value === 0 ? '' : `${count(value)} on ${most.day}`;
  };
  return html`<p class="about">All keys and people of the organization share them. Up to ${plural(activeExports, 'export')} may be active at once.</p>
${table(
  'Limits of the plan',
  [
    { title: 'Limit', cell: ({ name }) => limitNames[name] ?? name },
    { title: 'At most', isNumber: true, cell: ({ requests }) => count(requests) },
    { title: 'Per', cell: ({ windowSeconds }) => windows[windowSeconds] ?? plural(windowSeconds, 'second') },
    { title: 'Left now', isNumber: true, cell: ({ remaining }) => count(remaining) },
    { title: 'Busiest day', cell: ({ name }) => (usage === undefined ? 'not known now' : busiest(name)) },
  ],
  limits,
)}`;
}

/** Page views and searches of the site of a domain. */
async function readersOf({ ask }: Pick<Visit, 'ask'>, domain: string, days: readonly string[]): Promise<SafeHtml> {
  const path = `/v1/domains/${encodeURIComponent(domain)}` as const;
  const { views, searches, ...readers } = await ask(
    { path: `${path}/readers`, query: { from: days[0], to: days.at(-1), limit: mostListed } },
    readersSchema,
  );
  if (views + searches === 0)
    return empty(
      'No page view was counted in this month',
      html`A site counts page views when it is opened with counting.${command(`npm run bindery -- site open ${domain} --counts`)}`,
    );
  const viewed = new Map(readers.days.map((each) => [each.day, each.views]));
  const searched = new Map(readers.days.map((each) => [each.day, each.searches]));
  const barsOf = (known: ReadonlyMap<string, number>): Bar[] =>
    days.map((day) => ({ name: day, short: String(Number(day.slice(8))), value: known.get(day) ?? 0 }));
  return html`<div class="plots">${plot({ title: 'Page views by day', unit: 'Page views', of: 'Day', bars: barsOf(viewed) })}
${plot({ title: 'Searches by day', unit: 'Searches', of: 'Day', bars: barsOf(searched) })}</div>
<div class="beside"><div><h3>Pages</h3>${table(
    'Pages with the most views',
    [
      { title: 'Page', cell: ({ name }) => name },
      { title: 'Views', isNumber: true, cell: (entry) => count(entry.views) },
    ],
    readers.paths,
  )}</div><div><h3>Searches</h3>${
    readers.queries.length === 0
      ? html`<p class="about">No words that readers searched for are listed.</p>`
      : table(
          'Most frequent searches',
          [
            { title: 'Words', cell: (each) => each.query },
            { title: 'Searches', isNumber: true, cell: (each) => count(each.searches) },
            { title: 'Found nothing', isNumber: true, cell: (each) => (each.empty === 0 ? '' : count(each.empty)) },
          ],
          readers.queries,
        )
  }</div></div>`;
}

export const usageRoutes = [usagePage];
