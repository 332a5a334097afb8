import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { contentDiagnosticsSchema, contentSourceSchema } from '#shared/interfaces/http/content-reading.ts';
import { exportListSchema, exportReportSchema } from '#shared/interfaces/http/exports.ts';
import { diagnosticSchema } from '#shared/contracts/diagnostic.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { page, type Visit } from '../../page.ts';
import { inTime, unlessSilent } from '../../pieces/part.ts';
import {
  attribute,
  count,
  empty,
  further,
  id,
  pageHead,
  plural,
  state,
  type Tone,
  withQuery,
} from '../../pieces/pieces.ts';
import { contentParams } from './content-page.ts';
import { contentsOf, shortVersion, siteOf, unlessMissing } from './domain-parts.ts';

const findingsAtOnce = 40;
const sourcesAtOnce = 8;
const exportsLookedAt = 100;
/** Code of a link that leads to no page, file or anchor. */
const brokenLink = 'broken-link';

const query = z.object({
  severity: diagnosticSchema.shape.severity.optional().catch(undefined),
  code: diagnosticSchema.shape.code.max(100).optional().catch(undefined),
  cursor: z
    .string()
    .regex(/^[0-9]{1,9}$/)
    .optional()
    .catch(undefined),
});

type FindingsVisit = Visit<z.output<typeof contentParams>, z.output<typeof query>>;

type Shown = {
  /** The page or file that the findings are about. */
  of: string;
  findings: {
    severity: 'error' | 'warning' | 'info';
    code: string;
    message: string;
    line?: number | undefined;
    excerpt?: string | undefined;
  }[];
};

type Findings = {
  counts: { errors: number; warnings: number; infos: number; brokenLinks?: number };
  codes: readonly { code: string; count: number }[];
  shown: Shown[];
  nextCursor?: string | undefined;
  /** The export whose report it is; absent if the content was only published. */
  jobId?: string;
};

/** Findings of a content by file, each with its line: those of its newest export, which also knows broken links, else those of the publication. */
export const findingsPage = page(
  { path: '/domains/:domain/content/:contentVersion/findings', params: contentParams, query },
  async (visit) => {
    const {
      address,
      base,
      query,
      params: { domain, contentVersion },
    } = visit;
    await unlessSilent(contentsOf(visit, domain));
    const found = await inTime(ofExport(visit).then((ofNewest) => ofNewest ?? ofPublication(visit)));
    const { counts, codes, shown, nextCursor, jobId } = found;
    const path = `${base}/domains/${domain}/content/${contentVersion}`;
    const filter = (words: string, to: { severity?: string; code?: string }, isHere: boolean) =>
      html`<a class="button" href="${withQuery(`${path}/findings`, to)}"${attribute('aria-current', isHere && 'true')}>${words}</a>`;
    const isAll = query.severity === undefined && query.code === undefined;
    const content = html`${pageHead('Findings', html`of the content ${shortVersion(contentVersion)} of ${domain}${jobId === undefined ? ', from its publication' : html`, from the export ${id(jobId)}`}`, html`<a class="button" href="${path}">To the content</a>`)}
<div class="filters" role="group" aria-label="Filter">${filter('All', {}, isAll)}${filter(plural(counts.errors, 'error'), { severity: 'error' }, query.severity === 'error')}${filter(plural(counts.warnings, 'warning'), { severity: 'warning' }, query.severity === 'warning')}${filter(plural(counts.infos, 'remark'), { severity: 'info' }, query.severity === 'info')}${counts.brokenLinks === undefined ? '' : filter(plural(counts.brokenLinks, 'link that leads nowhere', 'links that lead nowhere'), { code: brokenLink }, query.code === brokenLink)}</div>
${
  codes.length === 0
    ? ''
    : html`<p class="codes">${codes.map((each) => html`<a class="chip" href="${withQuery(`${path}/findings`, { code: each.code })}"${attribute('aria-current', each.code === query.code && 'true')}>${each.code} ${count(each.count)}</a> `)}</p>`
}
${
  shown.length === 0
    ? empty(
        isAll ? 'Nothing was found' : 'There is no such finding',
        jobId === undefined
          ? html`Broken links are known once the content was exported: <a href="${base}/domains/${domain}/export">export now</a>.`
          : 'The export has no further findings.',
      )
    : shown.map(fileSection)
}${further(nextCursor && withQuery(address, { cursor: nextCursor }), query.cursor && withQuery(address, { cursor: undefined }))}`;
    return { title: 'Findings', content };
  },
);

const tones: Readonly<Record<'error' | 'warning' | 'info', Tone>> = { error: 'bad', warning: 'warn', info: 'idle' };

const fileSection = ({ of, findings }: Shown): SafeHtml =>
  html`<section class="findings"><h2><code>${of}</code></h2><ul>${findings.map(
    ({ severity, code, message, line, excerpt }) =>
      html`<li>${state(tones[severity], severity)} <span>${message} <span class="quiet">${code}</span></span>${
        line === undefined
          ? ''
          : html`<pre tabindex="0"><span class="line-number">${line}</span><code>${excerpt ?? ''}</code></pre>`
      }</li>`,
  )}</ul></section>`;

/** Findings in the report of the newest completed export of the content; undefined if there is none, or its bundle was removed. */
async function ofExport(visit: FindingsVisit): Promise<Findings | undefined> {
  const {
    ask,
    query: { severity, code, cursor },
    params: { domain, contentVersion },
  } = visit;
  const jobId = await exportOf(visit);
  if (jobId === undefined) return undefined;
  const report = await unlessMissing(
    ask(
      {
        path: `/v1/static-export/jobs/${jobId}/report`,
        query: { severity, code, cursor, limit: findingsAtOnce },
      },
      exportReportSchema,
    ),
  );
  if (report === undefined) return undefined;
  const { errors, warnings, infos, brokenLinks } = report.summary;
  const shown = await inParallel(report.pages, sourcesAtOnce, async ({ path, findings }): Promise<Shown> => {
    const hasLines = path !== undefined && findings.some(({ line }) => line !== undefined);
    const found = hasLines
      ? await unlessSilent(
          unlessMissing(
            ask(
              { path: `/v1/domains/${domain}/content/${contentVersion}/source`, query: { page: path } },
              contentSourceSchema,
            ),
          ),
        )
      : undefined;
    const lines = found?.source?.text?.split(/\r\n|\n|\r/);
    return {
      of: found?.source?.file ?? findings[0]?.file ?? path ?? 'the project',
      findings: findings.map((each) => ({
        ...each,
        // A finding about an imported file has a line of that file.
        ...(each.line !== undefined && (each.file === undefined || each.file === found?.source?.file)
          ? { excerpt: lines?.[each.line - 1]?.slice(0, 300) }
          : {}),
      })),
    };
  });
  return {
    counts: { errors, warnings, infos, brokenLinks },
    codes: report.byCode,
    shown,
    nextCursor: report.nextCursor,
    jobId,
  };
}

/** The newest export of the content, whose report can be read. */
async function exportOf(visit: FindingsVisit): Promise<string | undefined> {
  const { domain, contentVersion } = visit.params;
  const [{ jobs }, open] = await Promise.all([
    visit.ask(
      { path: '/v1/static-export/jobs', query: { domain, status: 'completed', limit: exportsLookedAt } },
      exportListSchema,
    ),
    siteOf(visit, domain),
  ]);
  const job = jobs.find((each) => each.contentVersion === contentVersion);
  if (job !== undefined) return job.jobId;
  return open?.deployments.find((each) => each.contentVersion === contentVersion && each.sha256 !== undefined)?.jobId;
}

async function ofPublication({ ask, query, params: { domain, contentVersion } }: FindingsVisit): Promise<Findings> {
  const { severity, cursor } = query;
  const { summary, diagnostics, nextCursor } = await ask(
    {
      path: `/v1/domains/${domain}/content/${contentVersion}/diagnostics`,
      query: { severity, cursor, limit: findingsAtOnce },
    },
    contentDiagnosticsSchema,
  );
  const shown = [...Map.groupBy(diagnostics, ({ file }) => file)].map(([of, findings]) => ({ of, findings }));
  return { counts: summary, codes: [], shown, nextCursor };
}
