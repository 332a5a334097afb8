import type { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { limitListSchema, type Usage, usageSchema } from '#shared/interfaces/http/audit.ts';
import { domainListSchema } from '#shared/interfaces/http/domain-list.ts';
import { whoamiSchema } from '#shared/interfaces/http/directory.ts';
import { type ExportJob, exportListSchema } from '#shared/interfaces/http/exports.ts';
import { type Questions, questionsSchema } from '#shared/interfaces/http/insights.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { page, type Visit } from '../page.ts';
import { partOf, unlessSilent } from '../pieces/part.ts';
import { command, count, empty, pageHead, plural, sectionHead, state, table, time, toneOf } from '../pieces/pieces.ts';
import { sparkline } from '../pieces/plot.ts';
import { percent } from './assistant.ts';
import { domainTable } from './domains/domain-list.ts';
import { exportLink, outcomeOf } from './exports.ts';
import { dayBars, daysOf, figures, windows } from './usage.ts';

const domainsShown = 10;
const exportsShown = 5;
const week = 7;

/** The organization at a glance: its domains with their sites, newest exports, questions of the week, and use of the month beside the limits. Each part fails alone. */
export const overviewPage = page({ path: '/' }, async (visit) => {
  const { ask, base, now } = visit;
  const [known, domains, exports, questions, use] = await Promise.all([
    unlessSilent(ask({ path: '/v1/whoami' }, whoamiSchema)),
    partOf(ask({ path: '/v1/domains', query: { limit: domainsShown } }, domainListSchema), (listed) =>
      listed.domains.length === 0
        ? empty(
            'There is no domain yet',
            html`An operator adds one.${command(`npm run bindery -- orgs add-domain ${visit.organization} docs`)}`,
          )
        : domainTable(visit, listed.domains),
    ),
    partOf(ask({ path: '/v1/static-export/jobs', query: { limit: exportsShown } }, exportListSchema), ({ jobs }) =>
      newestExports(base, now, jobs),
    ),
    partOf(ask({ path: '/v1/questions', query: { days: week } }, questionsSchema), (asked) =>
      questionTiles(visit, asked),
    ),
    partOf(
      Promise.all([ask({ path: '/v1/usage' }, usageSchema), ask({ path: '/v1/limits' }, limitListSchema)]),
      ([usage, limits]) => monthUse(now, usage, limits),
    ),
  ]);
  const content = html`${pageHead(known?.organization.name ?? visit.organization, known === undefined ? 'Its plan is not known now.' : `Plan ${known.organization.plan}`)}
<section aria-labelledby="domains">${sectionHead('domains', 'Domains', [`${base}/domains`, known === undefined ? 'All domains' : `All ${plural(known.domains.length, 'domain')}`])}
${domains}</section>
<section aria-labelledby="exports">${sectionHead('exports', 'Newest exports', [`${base}/exports`, 'All exports'])}
${exports}</section>
<section aria-labelledby="questions">${sectionHead('questions', 'Questions of the week', [`${base}/assistant`, 'All questions'])}
${questions}</section>
<section aria-labelledby="use">${sectionHead('use', 'Use of the month', [`${base}/usage`, 'All use'])}
${use}</section>`;
  return { title: 'Overview', content };
});

const newestExports = (base: string, now: Date, jobs: readonly ExportJob[]): SafeHtml =>
  jobs.length === 0
    ? empty('Nothing was exported yet', command('npm run bindery -- export docs --wait --out site.tar.gz'))
    : table(
        'Newest exports',
        [
          { title: 'Export of', cell: ({ jobId, domain }) => html`<a href="${base}/exports/${jobId}">${domain}</a>` },
          { title: 'State', cell: ({ status }) => state(toneOf(status), status) },
          { title: 'Outcome', cell: outcomeOf },
          { title: 'Id', cell: (job) => exportLink(base, job) },
          { title: 'Started', cell: ({ createdAt }) => time(createdAt, now) },
        ],
        jobs,
      );

/** Questions of the last seven days, and the share of them that was answered. */
function questionTiles(
  { base, now }: Pick<Visit, 'base' | 'now'>,
  { questions, ratings, days, domains }: Questions,
): SafeHtml {
  const busiest = domains.toSorted((one, other) => other.questions.unanswered - one.questions.unanswered)[0];
  const byDay = new Map(days.map((each) => [each.day, each]));
  const lastDays = Array.from({ length: week }, (_, at) =>
    new Date(now.getTime() - (week - 1 - at) * dayMs).toISOString().slice(0, 10),
  );
  const barsOf = (of: (day: Questions['days'][number]) => number) =>
    lastDays.map((day) => {
      const known = byDay.get(day);
      return { name: day, short: day.slice(8), value: known === undefined ? 0 : of(known) };
    });
  const tile = (name: string, value: SafeHtml | string, line: SafeHtml | string) =>
    html`<div class="tile"><dt>${name}</dt><dd>${value}</dd><dd class="about">${line}</dd></div>`;
  return html`<dl class="tiles">${tile(
    'Questions',
    count(questions.total),
    sparkline({ title: 'Questions by day', unit: 'Questions', of: 'Day', bars: barsOf((day) => day.questions) }),
  )}${tile(
    'Answered',
    percent(questions.answered, questions.total),
    sparkline({ title: 'Answered questions by day', unit: 'Answered', of: 'Day', bars: barsOf((day) => day.answered) }),
  )}${tile(
    'Found nothing',
    questions.unanswered > 0 && busiest !== undefined
      ? html`<a href="${base}/assistant/${busiest.domain}?days=7#unanswered">${count(questions.unanswered)}</a>`
      : count(questions.unanswered),
    sparkline({
      title: 'Questions by day that found nothing',
      unit: 'Found nothing',
      of: 'Day',
      bars: barsOf((day) => day.unanswered),
    }),
  )}${tile('Answers rated', `${count(ratings.up)} up, ${count(ratings.down)} down`, '')}</dl>`;
}

type Limits = z.output<typeof limitListSchema>;

/** Figures of this month that count towards a limit of the plan, with their days and the rest of the limit. */
function monthUse(now: Date, usage: Usage, { limits }: Limits): SafeHtml {
  const today = now.toISOString().slice(0, 10);
  const days = daysOf(today.slice(0, 7), today);
  const rows = figures.flatMap((each) => {
    const limit = limits.find(({ name }) => name === each.limit);
    return limit === undefined ? [] : [{ ...each, limited: limit }];
  });
  return table(
    'Use of the month beside the limits',
    [
      { title: 'Use', cell: ({ title }) => title },
      {
        title: 'This month',
        isNumber: true,
        cell: ({ figure, format = count }) => format(usage.months[0]?.total[figure] ?? 0),
      },
      {
        title: 'By day',
        cell: ({ figure, title }) =>
          sparkline({ title: `${title} by day`, unit: title, of: 'Day', bars: dayBars(usage, figure, days) }),
      },
      {
        title: 'Limit',
        cell: ({ limited: { requests, windowSeconds } }) =>
          `${count(requests)} per ${windows[windowSeconds] ?? plural(windowSeconds, 'second')}`,
      },
      { title: 'Left now', isNumber: true, cell: ({ limited: { remaining } }) => count(remaining) },
    ],
    rows,
  );
}
