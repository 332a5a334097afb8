import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { type ExportJob, exportJobStatuses, exportListSchema } from '#shared/interfaces/http/exports.ts';
import { whoamiSchema } from '#shared/interfaces/http/directory.ts';
import { hasRole } from '#shared/interfaces/http/person-token.ts';
import { page, stream } from '../page.ts';
import { liveConnection, livePart, sendLive } from '../pieces/live.ts';
import { answerOrProblem, unlessSilent } from '../pieces/part.ts';
import {
  attribute,
  type Column,
  command,
  count,
  duration,
  empty,
  further,
  pageHead,
  state,
  table,
  tableRow,
  time,
  toneOf,
  withQuery,
} from '../pieces/pieces.ts';

const listedAtOnce = 50;
const mostInMenu = 12;
/** Length from which the reason of a failure is cut in the list. */
const mostReason = 160;

const filters = {
  domain: z
    .string()
    .max(253)
    .transform((text) => (text === '' ? undefined : text))
    .optional()
    .catch(undefined),
  state: z.enum(exportJobStatuses).optional().catch(undefined),
  since: z.iso.date().optional().catch(undefined),
  cursor: z.string().max(200).optional().catch(undefined),
};
const query = z.object(filters);
/** `after`: time of the newest export that the page shows. Younger ones wait behind a link. */
const liveQuery = z.object({ ...filters, after: z.iso.datetime().optional() });

type Filters = z.output<typeof query>;

const listOf = ({ domain, state: status, since, cursor }: Filters) => ({
  path: '/v1/static-export/jobs' as const,
  query: { domain, status, since, cursor, limit: listedAtOnce },
});

const addressOf = (base: string, { domain, state: status, since }: Filters): string =>
  withQuery(`${base}/exports`, { domain, state: status, since });

/** All exports of the organization, newest first. Rows change while the page is open, and new exports wait behind a link. */
const exportsPage = page({ path: '/exports', query }, async ({ ask, base, role, now, query: filter }) => {
  const [known, list] = await Promise.all([
    unlessSilent(ask({ path: '/v1/whoami' }, whoamiSchema)),
    answerOrProblem(ask(listOf(filter), exportListSchema)),
  ]);
  const { jobs, nextCursor } = list.answer ?? { jobs: [], nextCursor: undefined };
  // Without the list of domains, the filter has the chosen one.
  const domains = known?.domains ?? (filter.domain === undefined ? [] : [{ domain: filter.domain }]);
  const isFiltered = Boolean(filter.domain ?? filter.state ?? filter.since ?? filter.cursor);
  const live = withQuery(`${base}/exports/live`, {
    ...{ domain: filter.domain, state: filter.state, since: filter.since, cursor: filter.cursor },
    after: jobs[0]?.createdAt,
  });
  // Which domain is exported is clear if one is chosen, or if there is just one; otherwise the domains have the button.
  const domain = filter.domain ?? (domains.length === 1 ? domains[0]?.domain : undefined);
  const exportNow = domains.some((each) => each.domain === domain)
    ? html`<a class="button primary" href="${base}/domains/${domain ?? ''}/export">Export now</a>`
    : html`<details class="menu"><summary class="button primary">Export now</summary><ul>${domains.slice(0, mostInMenu).map((each) => html`<li><a href="${base}/domains/${each.domain}/export">${each.domain}</a></li>`)}${domains.length > mostInMenu ? html`<li><a href="${base}/domains">All domains</a></li>` : ''}</ul></details>`;
  const content = html`${pageHead('Exports', 'Each export is a whole site as one archive.', hasRole(role, 'editor') && domains.length > 0 ? exportNow : '')}
<form method="get" action="${base}/exports" class="filters" role="search" aria-label="Filter">
<div><label for="f-domain">Domain</label>${choice(
    'domain',
    [['', 'All domains'], ...domains.map(({ domain }) => [domain, domain] as const)],
    filter.domain,
  )}</div>
<div><label for="f-state">State</label>${choice(
    'state',
    [['', 'All states'], ...exportJobStatuses.map((each) => [each, each] as const)],
    filter.state,
  )}</div>
<div><label for="f-since">Since</label><input id="f-since" type="date" name="since" value="${filter.since}"></div>
<button class="button">Filter</button>${isFiltered ? html`<a class="button" href="${base}/exports">All exports</a>` : ''}
</form>
<div id="new-exports" role="status"></div>
${
  list.answer === undefined
    ? list.problem
    : jobs.length > 0
      ? table('Exports', columnsOf(base, now), jobs, rowId)
      : isFiltered
        ? empty('No export fits', html`<a href="${base}/exports">Show all exports</a>`)
        : empty(
            'Nothing was exported yet',
            html`<p>An export makes the archive of a domain's newest content.</p>${command(`npm run bindery -- export ${domains[0]?.domain ?? 'docs'} --wait --out site.tar.gz`)}`,
          )
}
${further(
  nextCursor === undefined ? undefined : withQuery(addressOf(base, filter), { cursor: nextCursor }),
  filter.cursor === undefined ? undefined : addressOf(base, filter),
)}
${liveConnection(live)}`;
  return { title: 'Exports', content };
});

const rowId = ({ jobId }: ExportJob): string => `row-${jobId}`;

const choice = (
  name: string,
  choices: readonly (readonly [value: string, label: string])[],
  chosen: string | undefined,
): SafeHtml =>
  html`<select id="f-${name}" name="${name}">${choices.map(
    ([value, label]) =>
      html`<option value="${value}"${value === (chosen ?? '') ? html` selected` : ''}>${label}</option>`,
  )}</select>`;

/** The address of an export with its id, shortened in the middle. */
export const exportLink = (base: string, { jobId }: Pick<ExportJob, 'jobId'>): SafeHtml =>
  html`<a href="${base}/exports/${jobId}"><code title="${jobId}">${jobId.slice(0, 9)}…${jobId.slice(-5)}</code></a>`;

const columnsOf = (base: string, now: Date): Column<ExportJob>[] => [
  {
    title: 'Export of',
    cell: ({ jobId, domain, version }) =>
      html`<a href="${base}/exports/${jobId}">${domain}</a>${version === undefined ? '' : html` <span class="quiet">${version}</span>`}`,
  },
  { title: 'State', cell: ({ status }) => state(toneOf(status), status) },
  { title: 'Outcome', cell: outcomeOf },
  { title: 'Id', cell: (job) => exportLink(base, job) },
  { title: 'Pages', isNumber: true, cell: ({ pageTotal, pageCount }) => count(pageTotal ?? pageCount) },
  {
    title: 'Took',
    isNumber: true,
    cell: ({ createdAt, completedAt }) =>
      completedAt === undefined ? '' : duration(Date.parse(completedAt) - Date.parse(createdAt)),
  },
  { title: 'Started', cell: ({ createdAt }) => time(createdAt, now) },
];

/** The reason of a failure, or how far an export is. */
export function outcomeOf({ status, error, progress, reusedBundle, digestMatch }: ExportJob): SafeHtml | string {
  if (status === 'failed') {
    const reason = error ?? 'It has no reason.';
    return html`<span class="reason">${reason.length > mostReason ? `${reason.slice(0, mostReason)}…` : reason}</span>`;
  }
  if (status === 'completed')
    return html`<span class="quiet">${[reusedBundle && 'nothing had changed', digestMatch && `replay: ${digestMatch}`].filter(Boolean).join(', ')}</span>`;
  return progressBar(progress);
}

/** Progress as a bar with its number. */
export const progressBar = (progress: number): SafeHtml =>
  html`<span class="progress"><progress max="100" value="${progress}"${attribute('aria-label', 'Progress')}></progress><span>${Math.floor(progress)} %</span></span>`;

/** Rows of the list as they change, and the number of exports that are newer than the page. */
const exportsLive = stream({ path: '/exports/live', query: liveQuery }, async (visit, reply, request) => {
  const { ask, base, query: filter } = visit;
  const { after = '', state: status, domain, cursor } = filter;
  /** Exports that the page shows, and newer ones that it does not show yet. */
  const [shown, fresh] = [new Set<string>(), new Set<string>()];
  const columns = () => columnsOf(base, visit.current());
  const fresher = (): SafeHtml =>
    livePart(
      'new-exports',
      fresh.size === 0
        ? html``
        : html`<a class="button" href="${addressOf(base, filter)}">${count(fresh.size)} new</a>`,
      'content',
    );
  const row = (job: ExportJob): SafeHtml => livePart(rowId(job), tableRow(columns(), job, rowId));
  return await sendLive(visit, reply, request, async (event) => {
    if (event.event === 'deployment') return undefined;
    if (event.event === 'export') {
      const job = event.data;
      if (shown.has(job.jobId)) return { parts: row(job) };
      const isOfList =
        cursor === undefined &&
        job.createdAt > after &&
        (domain === undefined || domain === job.domain) &&
        (status === undefined || status === job.status);
      if (!isOfList || fresh.has(job.jobId)) return undefined;
      fresh.add(job.jobId);
      return { parts: fresher() };
    }
    const { jobs } = await ask(listOf(filter), exportListSchema);
    const older = jobs.filter((job) => job.createdAt <= after);
    for (const { jobId } of older) shown.add(jobId);
    if (cursor === undefined) for (const job of jobs) if (job.createdAt > after) fresh.add(job.jobId);
    return { parts: html`${older.map(row)}${fresher()}` };
  });
});

export const exportListRoutes = [exportsPage, exportsLive];
