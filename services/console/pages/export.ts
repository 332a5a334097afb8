import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { jobId } from '#shared/contracts/identifiers.ts';
import {
  bundleLinkSchema,
  type ExportHistory,
  type ExportJob,
  exportJobSchema,
  exportListSchema,
  type ExportReport,
  exportReportQuerySchema,
  exportReportSchema,
  type HistoryEntry,
} from '#shared/interfaces/http/exports.ts';
import { hasRole } from '#shared/interfaces/http/person-token.ts';
import { chart, troubleIcon } from '#shared/timeline/chart.ts';
import { drawnHtml } from '#shared/timeline/drawn-html.ts';
import { timelineOf } from '#shared/timeline/timeline-of.ts';
import { lengthMs, type Timeline } from '#shared/timeline/timeline.ts';
import { eventFacts, remedySentence, totalsSentence, troubleSentence } from '#shared/timeline/words.ts';
import { form, page, stream, type Visit } from '../page.ts';
import { PlatformRefusal } from '../platform.ts';
import { icon } from '../pieces/icon.ts';
import { keyNames } from '../pieces/key-names.ts';
import { liveConnection, livePart, sendLive } from '../pieces/live.ts';
import { answerOrProblem, inTime, type Part, partOf, unlessSilent } from '../pieces/part.ts';
import {
  bytes,
  command,
  count,
  duration,
  empty,
  formButton,
  further,
  id,
  pageHead,
  plural,
  refusalOf,
  state,
  table,
  time,
  type Tone,
  toneOf,
  withQuery,
} from '../pieces/pieces.ts';
import { shortVersion } from './domains/domain-parts.ts';
import { exportLink, progressBar } from './exports.ts';

const params = z.object({ jobId });
const query = z.object({
  /** The export whose archive is compared. */
  with: jobId.optional().catch(undefined),
  /** Position in the findings. */
  findings: exportReportQuerySchema.shape.cursor.catch(undefined),
});

type At = Visit<z.output<typeof params>, unknown>;

const mostEvents = 200;
const mostTroubles = 50;
const findingsAtOnce = 100;
const mostCompared = 100;
/** A page of a large export reads its history less often, so that 20 times the work of a refresh passes between two. */
const leastPauseMs = 1_000;
const restFactor = 20;

const jobPath = (id: string) => `/v1/static-export/jobs/${id}` as const;

/**
 * The history of an export. The timeline reads each event by the schema of its type, and leaves out those that it does not know, so the answer is only
 * checked for what the page itself shows: that of a large export has thousands of events.
 */
const historySchema = z.object({ jobId, events: z.array(z.custom<HistoryEntry>(isEntry)) });

function isEntry(value: unknown): boolean {
  const { type, time: at, actor, data, revision } = (value ?? {}) as Partial<HistoryEntry>;
  return (
    typeof type === 'string' &&
    typeof at === 'string' &&
    typeof revision === 'number' &&
    typeof data === 'object' &&
    typeof actor?.id === 'string' &&
    typeof actor.kind === 'string'
  );
}

type Export = {
  job: ExportJob;
  history: Part<ExportHistory>;
  timeline: Timeline | undefined;
  /** Name of the key, person or service that asked for it. */
  requestedBy: string | undefined;
};

async function read({ ask, params: { jobId: id } }: Pick<At, 'ask' | 'params'>, now: Date): Promise<Export> {
  const [job, history] = await Promise.all([
    ask({ path: jobPath(id) }, exportJobSchema),
    answerOrProblem(ask({ path: `${jobPath(id)}/events` }, historySchema)),
  ]);
  return await exportOf({ ask }, job, history, now);
}

async function exportOf(visit: Pick<At, 'ask'>, job: ExportJob, history: Part<ExportHistory>, now: Date) {
  const actor = history.answer?.events[0]?.actor;
  const names = actor?.kind === 'key' ? await unlessSilent(keyNames(visit)) : undefined;
  const requestedBy = actor && (names?.get(actor.id) ?? actor.id);
  return { job, history, timeline: history.answer && drawable(history.answer, now), requestedBy };
}

/** The timeline of a history; undefined if it cannot be read, such as that of a newer platform. */
function drawable({ events }: ExportHistory, now: Date): Timeline | undefined {
  try {
    return timelineOf(events, now);
  } catch {
    return undefined;
  }
}

const hasEnded = ({ status }: ExportJob): boolean => status === 'completed' || status === 'failed';

/** One export: its state and progress, its timeline, and after its end the archive, the findings and the comparison with another export. */
const exportPage = page({ path: '/exports/:jobId', params, query }, async (visit) => {
  const { base, now, params: at } = visit;
  const seen = await read(visit, now);
  const { job } = seen;
  const title = `Export of ${job.domain}${job.version === undefined ? '' : ` (${job.version})`}`;
  const content = html`${pageHead(title, html`<span id="export-state">${stateOf(job)}</span>`, html`<span id="export-actions" class="actions">${actions(visit, job)}</span>`)}
${refusalOf(visit)}
<div id="export-now">${nowOf(visit, seen)}</div>
<div id="export-timeline">${timelineSection(seen)}</div>
<div id="export-after">${hasEnded(job) ? await afterEnd(visit, seen, visit.query) : ''}</div>
<details class="events"><summary>Events</summary><div id="export-events">${eventList(seen)}</div></details>
${hasEnded(job) ? '' : liveConnection(`${base}/exports/${at.jobId}/live`)}`;
  return { title, content };
});

const stateOf = (job: ExportJob): SafeHtml => state(toneOf(job.status), isCancelled(job) ? 'cancelled' : job.status);

const isCancelled = ({ status, error = '' }: ExportJob): boolean =>
  status === 'failed' && error.startsWith('The export was cancelled');

function actions(visit: Pick<At, 'base' | 'role' | 'token'>, job: ExportJob): SafeHtml {
  const { base, role } = visit;
  const to = `${base}/exports/${job.jobId}`;
  const mayChange = hasRole(role, 'editor');
  // The download leads to another host, where the scripts of the page cannot go.
  return html`${job.status === 'completed' ? html`<a class="button primary" href="${to}/download" hx-boost="false">${icon('download')}Download</a>` : ''}
${mayChange && hasEnded(job) ? formButton(visit, `${to}/replay`, 'Replay', { title: 'Exports the same content again, whose archive must have the same digest.' }) : ''}
${mayChange && !hasEnded(job) ? formButton(visit, `${to}/cancel`, 'Cancel', { tone: 'danger', confirm: 'Cancel this export? Its work is lost. It can be replayed later.' }) : ''}`;
}

/** Progress, rate and facts, which change while the export runs. */
function nowOf(visit: Pick<At, 'base' | 'now' | 'role'>, seen: Export): SafeHtml {
  const { base, now } = visit;
  const { job, timeline, requestedBy } = seen;
  const { status, progress, pageCount, pageTotal, createdAt, completedAt } = job;
  const took = Date.parse(completedAt ?? now.toISOString()) - Date.parse(createdAt);
  const rate = timeline === undefined ? undefined : rateOf(timeline);
  const tiles: [name: string, value: SafeHtml | string][] = [
    ...(hasEnded(job) ? [] : [['Progress', progressBar(progress)] as [string, SafeHtml]]),
    [
      'Pages',
      pageTotal === undefined || pageTotal === pageCount
        ? count(pageCount)
        : `${count(pageCount)} of ${count(pageTotal)}`,
    ],
    ...(rate === undefined
      ? []
      : [['Rate', `${rate < 10 ? rate.toFixed(1) : count(Math.round(rate))} pages/s`] as [string, string]]),
    [status === 'queued' ? 'Waits for' : hasEnded(job) ? 'Took' : 'Runs for', duration(Math.max(0, took))],
    ...(timeline?.bundle === undefined ? [] : [['Archive', bytes(timeline.bundle.sizeBytes)] as [string, string]]),
  ];
  return html`${status === 'failed' ? failure(visit, seen) : ''}
<dl class="tiles">${tiles.map(([name, value]) => html`<div class="tile"><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<dl class="facts">
<dt>Id</dt><dd>${id(job.jobId)}</dd>
<dt>Content</dt><dd><a href="${base}/domains/${job.domain}/content/${job.contentVersion}">${shortVersion(job.contentVersion)}</a></dd>
<dt>Requested</dt><dd>${time(createdAt, now)}${requestedBy === undefined ? '' : html` by ${requestedBy}`}</dd>
${completedAt === undefined ? '' : html`<dt>Ended</dt><dd>${time(completedAt, now)}</dd>`}
${timeline?.rendererVersion === undefined ? '' : html`<dt>Version of the renderer</dt><dd><code>${timeline.rendererVersion}</code></dd>`}
${timeline?.bundle === undefined ? '' : html`<dt>SHA-256</dt><dd>${id(timeline.bundle.sha256)}</dd>`}
${job.reusedBundle === true ? html`<dt>Archive</dt><dd>that of an earlier export, because nothing had changed</dd>` : ''}
${job.replayOf === undefined ? '' : html`<dt>Replay of</dt><dd>${exportLink(base, { jobId: job.replayOf })}${job.digestMatch === undefined ? '' : html`: ${digestWords[job.digestMatch]}`}</dd>`}
</dl>`;
}

const digestWords: Record<NonNullable<ExportJob['digestMatch']>, string> = {
  same: 'the same digest',
  different: 'another digest',
  'renderer-changed': 'another digest, by another version of the renderer',
};

/** Pages that were rendered a second, or undefined before the first. Pure. */
export function rateOf({ lanes, phases }: Pick<Timeline, 'lanes' | 'phases'>): number | undefined {
  const bars = lanes.flatMap(({ rows }) => rows.flat()).filter(({ work, reused }) => work === 'chunk' && !reused);
  const pages = bars.reduce((sum, bar) => sum + bar.pages, 0);
  const ms = lengthMs(phases.filter(({ name }) => name === 'rendering'));
  return pages === 0 || ms === 0 ? undefined : (pages / ms) * 1_000;
}

/** The reason of a failure, and what to do about it. */
function failure({ base, role }: Pick<At, 'base' | 'role'>, { job, timeline }: Export): SafeHtml {
  const mayChange = hasRole(role, 'editor');
  const pages = (timeline?.troubles ?? []).filter(({ kind }) => kind === 'pages-failed').flatMap((each) => each.pages);
  const advice = isCancelled(job)
    ? html`<p>“Replay” starts it again with the same content.</p>`
    : pages.length > 0
      ? html`<p>Mend ${pages.length === 1 ? 'the page' : 'these pages'} and publish again, or export the other pages and list the failed ones in the report:</p>
<ul>${pages.slice(0, 20).map((path) => html`<li><code>${path}</code></li>`)}</ul>${pages.length > 20 ? html`<p>and ${plural(pages.length - 20, 'further page')}</p>` : ''}
${mayChange ? html`<p><a class="button" href="${withQuery(`${base}/domains/${job.domain}/export`, { onPageError: 'report', version: job.version })}">Export the other pages</a></p>` : command(`npm run bindery -- export ${job.domain} --on-page-error report --wait`)}`
      : html`<p>“Replay” tries it again with the same content. If it fails in the same way, ask the operator of the installation, and name the id of the export.</p>`;
  return html`<div class="notice ${isCancelled(job) ? '' : 'bad'}">${icon(isCancelled(job) ? 'ban' : 'circle-x')}<div><p><strong>${job.error ?? 'The export failed, and named no reason.'}</strong></p>${advice}<p><a href="${base}/exports?domain=${job.domain}">All exports of ${job.domain}</a></p></div></div>`;
}

function timelineSection({ timeline, job, history }: Export): SafeHtml {
  if (history.answer === undefined) return html`<h2>Timeline</h2>${history.problem}`;
  if (timeline === undefined)
    return empty('The timeline cannot be drawn', command(`npm run bindery -- events ${job.jobId} --list`));
  const { troubles } = timeline;
  return html`<h2>Timeline</h2>
<p class="about">${totalsSentence(timeline)}</p>
${drawnHtml(chart(timeline))}
${
  troubles.length === 0
    ? ''
    : html`<h3>${plural(troubles.length, 'failure')} on the way</h3><ul class="troubles">${troubles
        .slice(0, mostTroubles)
        .map(
          (trouble) =>
            html`<li><span class="quiet">${duration(trouble.atMs)}</span>${drawnHtml(troubleIcon(trouble.kind))}<span>${troubleSentence(trouble)} <span class="quiet">${remedySentence(trouble)}</span></span></li>`,
        )}</ul>${troubles.length > mostTroubles ? html`<p class="quiet">and ${count(troubles.length - mostTroubles)} more</p>` : ''}`
}`;
}

function eventList({ history, job }: Export): SafeHtml {
  if (history.answer === undefined) return history.problem;
  const { events } = history.answer;
  const zeroMs = Date.parse(job.createdAt);
  const newest = events.slice(-mostEvents).toReversed();
  return html`<p class="about">${plural(events.length, 'event')}, newest first.</p>
${events.length > mostEvents ? html`<p>These are the newest ${mostEvents}. All of them:</p>${command(`npm run bindery -- events ${job.jobId} --list`)}` : ''}
${table(
  'Events',
  [
    { title: 'Event', cell: ({ type }) => type },
    { title: 'After', isNumber: true, cell: (event) => duration(Math.max(0, Date.parse(event.time) - zeroMs)) },
    { title: 'By', cell: ({ actor }) => `${actor.kind} ${actor.id}` },
    { title: 'Facts', cell: (event) => html`<span class="quiet">${eventFacts(event)}</span>` },
  ],
  newest,
)}`;
}

/** The findings and the comparison, which are known after the end. */
async function afterEnd(visit: At, seen: Export, { with: other, findings }: z.output<typeof query>): Promise<SafeHtml> {
  if (seen.job.status !== 'completed') return html``;
  const [report, comparison] = await Promise.all([
    reportSection(visit, seen.job, findings),
    partOf(compared(visit, seen, other), (shown) => shown),
  ]);
  return html`${report}<section aria-labelledby="comparison"><h2 id="comparison">Comparison</h2>${comparison}</section>`;
}

const severityTones: Record<ExportReport['byCode'][number]['severity'], Tone> = {
  error: 'bad',
  warning: 'warn',
  info: 'idle',
};

async function reportSection({ ask, base }: At, { jobId: of }: ExportJob, cursor?: string): Promise<SafeHtml> {
  const head = html`<h2 id="findings">Findings</h2>`;
  let report: ExportReport;
  try {
    report = await inTime(
      ask({ path: `${jobPath(of)}/report`, query: { limit: findingsAtOnce, cursor } }, exportReportSchema),
    );
  } catch (error) {
    if (!(error instanceof PlatformRefusal)) throw error;
    return html`<section aria-labelledby="findings">${head}<p class="quiet">${error.message}</p></section>`;
  }
  const { summary, byCode, pages, nextCursor } = report;
  const sums = [
    summary.failedPages > 0 && plural(summary.failedPages, 'failed page'),
    plural(summary.errors, 'error'),
    plural(summary.warnings, 'warning'),
    summary.brokenLinks > 0 && plural(summary.brokenLinks, 'broken link'),
  ].filter((each) => each !== false);
  const to = `${base}/exports/${of}`;
  if (byCode.length === 0)
    return html`<section aria-labelledby="findings">${head}${state('good', 'No findings')} <span class="quiet">in ${plural(summary.pages, 'page')}</span></section>`;
  return html`<section aria-labelledby="findings">${head}<p class="about">${sums.join(', ')} in ${plural(summary.pages, 'page')}.</p>
${table(
  'Findings by code',
  [
    { title: 'Code', cell: ({ code }) => html`<code>${code}</code>` },
    { title: 'Severity', cell: ({ severity }) => state(severityTones[severity], severity) },
    { title: 'Number', isNumber: true, cell: (each) => count(each.count) },
    { title: 'Example', cell: ({ example }) => example },
  ],
  byCode,
)}
<h3>By page</h3>
<ul class="findings">${pages.map(
    ({ path, findings }) =>
      html`<li><p>${path === undefined ? 'The whole project' : html`<code>${path}</code>`}</p><ul>${findings.map(
        ({ severity, code, message, file, line, column }) =>
          html`<li>${state(severityTones[severity], severity)} <span>${message} <span class="quiet"><code>${code}</code>${file === undefined ? '' : html` ${[file, line, column].filter((part) => part !== undefined).join(':')}`}</span></span></li>`,
      )}</ul></li>`,
  )}</ul>
${further(nextCursor === undefined ? undefined : withQuery(to, { findings: nextCursor }), cursor === undefined ? undefined : to)}</section>`;
}

/** The digest beside that of another export of the same content. */
async function compared(visit: At, { job, timeline }: Export, other: string | undefined): Promise<SafeHtml> {
  const { ask, base, now } = visit;
  const { jobs } = await ask(
    {
      path: '/v1/static-export/jobs',
      query: { domain: job.domain, status: 'completed', limit: mostCompared },
    },
    exportListSchema,
  );
  const others = jobs.filter((each) => each.contentVersion === job.contentVersion && each.jobId !== job.jobId);
  if (others.length === 0)
    return html`<p class="quiet">No other export of the last ${mostCompared} has the same content. “Replay” makes one, whose archive must have the same digest.</p>`;
  const chosen = others.find((each) => each.jobId === other);
  const choose = html`<form method="get" action="${base}/exports/${job.jobId}" class="filters"><div><label for="f-with">Another export of the same content</label><select id="f-with" name="with">${others.map(
    (each) =>
      html`<option value="${each.jobId}"${each === chosen ? html` selected` : ''}>${each.jobId.slice(0, 9)}…${each.jobId.slice(-5)}, ${each.createdAt.slice(0, 16).replace('T', ' ')} UTC</option>`,
  )}</select></div><button class="button">Compare</button></form>`;
  if (chosen === undefined) return choose;
  const history = await ask({ path: `${jobPath(chosen.jobId)}/events` }, historySchema);
  const [one, two] = [timeline, drawable(history, now)];
  const isSame = one?.bundle !== undefined && one.bundle.sha256 === two?.bundle?.sha256;
  const rows: [name: string, one: SafeHtml | string, two: SafeHtml | string][] = [
    ['SHA-256', digestOf(one), digestOf(two)],
    ['Size', sizeOf(one), sizeOf(two)],
    ['Pages', count(job.pageCount), count(chosen.pageCount)],
    ['Renderer', one?.rendererVersion ?? 'unknown', two?.rendererVersion ?? 'unknown'],
    ['Started', time(job.createdAt, now), time(chosen.createdAt, now)],
  ];
  return html`${choose}
<p>${isSame ? state('good', 'Same digest') : state('warn', 'Different digest')}</p>
${table(
  'Digests',
  [
    { title: 'Figure', cell: ([name]) => name },
    { title: 'This export', cell: ([, value]) => value },
    { title: 'The other', cell: ([, , value]) => value },
  ],
  rows,
)}<p>${exportLink(base, chosen)}</p>`;
}

const digestOf = (timeline: Timeline | undefined): SafeHtml | string =>
  timeline?.bundle === undefined ? 'unknown' : id(timeline.bundle.sha256);

const sizeOf = (timeline: Timeline | undefined): string =>
  timeline?.bundle === undefined ? 'unknown' : bytes(timeline.bundle.sizeBytes);

/** The parts of the page as they change, until the export ends. */
const exportLive = stream({ path: '/exports/:jobId/live', params }, async (visit, reply, request) => {
  const { params: at } = visit;
  let notBefore = 0;
  return await sendLive(visit, reply, request, async (event) => {
    if (event.event === 'deployment' || (event.event === 'export' && event.data.jobId !== at.jobId)) return undefined;
    const isLast = event.event === 'export' && hasEnded(event.data);
    if (!isLast) await delay(Math.max(0, notBefore - performance.now()));
    const startedAt = performance.now();
    const now = visit.current();
    const seen = await read(visit, now);
    const isOver = hasEnded(seen.job);
    const parts = html`${livePart('export-state', stateOf(seen.job), 'content')}
${livePart('export-actions', actions(visit, seen.job), 'content')}
${livePart('export-now', nowOf({ ...visit, now }, seen), 'content')}
${livePart('export-timeline', timelineSection(seen), 'content')}
${livePart('export-events', eventList(seen), 'content')}
${isOver ? livePart('export-after', await afterEnd({ ...visit, now }, seen, query.parse({})), 'content') : ''}`;
    const passedMs = performance.now() - startedAt;
    notBefore = performance.now() + Math.max(leastPauseMs, restFactor * passedMs);
    return { parts, isOver };
  });
});

/**
 * Leads to the archive with a link that was signed now. Signing is recorded and counted, so a page of another site must not cause it: a person who comes
 * from there is led to the export.
 */
const download = stream(
  { path: '/exports/:jobId/download', params },
  async ({ ask, base, params: at }, reply, request) => {
    const { 'sec-fetch-site': site = 'none' } = request.headers;
    if (request.method !== 'GET' || (site !== 'same-origin' && site !== 'none'))
      return reply.redirect(`${base}/exports/${at.jobId}`, 303);
    const { bundleUrl } = await ask({ method: 'POST', path: `${jobPath(at.jobId)}/bundle` }, bundleLinkSchema);
    return reply.redirect(bundleUrl, 303);
  },
);

const replay = form(
  { path: '/exports/:jobId/replay', params, fields: z.object({}), page: exportPage },
  async ({ ask, base, params: at }) => {
    const job = await ask({ method: 'POST', path: `${jobPath(at.jobId)}/replay` }, exportJobSchema);
    return { to: `${base}/exports/${job.jobId}`, said: 'The replay is started: this is its page.' };
  },
);

const cancel = form(
  { path: '/exports/:jobId/cancel', params, fields: z.object({}), page: exportPage },
  async ({ ask, base, params: at }) => {
    await ask({ method: 'POST', path: `${jobPath(at.jobId)}/cancel` }, exportJobSchema);
    return { to: `${base}/exports/${at.jobId}`, said: 'The export ends as cancelled in a moment.' };
  },
);

export const exportRoutes = [exportPage, exportLive, download, replay, cancel];
