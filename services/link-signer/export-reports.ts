import { LRUCache } from 'lru-cache';
import { brokenLinkDiagnostic } from '#shared/docs/render/broken-link.ts';
import { readReport, ReportTooLarge, type StoredReport } from '#shared/export/read-report.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { ExportReport, ExportReportQuery, Finding } from '#shared/interfaces/http/exports.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { DamagedObject, type ObjectStore, storeWithin } from '#shared/storage/object-store.ts';
import { bundleRemoved, type CompletedJob, completedJob } from './completed-job.ts';

export type ReportParts = {
  bus: Pick<BusParts, 'exports'>;
  objectStore: ObjectStore;
};

/** Limit of the JSON of reports that stay in memory between the answers of one list. */
const mostKeptBytes = 16 * 1024 * 1024;
const keptMs = 60_000;
const readWithinMs = 45_000;
const headWithinMs = 5_000;

/** Answers questions about the reports of exports. One report is read at a time, because each takes several times its size of memory. */
export function reportsOf({ bus, objectStore }: ReportParts) {
  const kept = new LRUCache<string, StoredReport>({ maxSize: mostKeptBytes, ttl: keptMs });
  let last: Promise<unknown> = Promise.resolve();

  async function reportOf(job: CompletedJob, signal: AbortSignal): Promise<StoredReport> {
    const key = `${job.organization} ${job.jobId}`;
    const known = kept.get(key);
    if (known !== undefined) {
      // A report must not be shown longer than its bundle exists.
      const head = await objectStore.head(job.bundle.key, { signal: storeWithin(headWithinMs) });
      if (head === undefined) throw bundleRemoved(job.jobId);
      return known;
    }
    const found = await readReport(
      objectStore,
      job,
      AbortSignal.any([signal, AbortSignal.timeout(readWithinMs)]),
    ).catch((error: unknown) => {
      if (error instanceof DamagedObject)
        throw new ApiError('not_found', `The bundle of ${job.jobId} is damaged. Replay the job to make it again.`);
      if (!(error instanceof ReportTooLarge)) throw error;
      throw new ApiError(
        'not_found',
        `The report of ${job.jobId} is too large to be shown. Download the bundle: it is "_bindery/report.json" there.`,
      );
    });
    if (found === undefined) throw bundleRemoved(job.jobId);
    if (found.sizeBytes <= mostKeptBytes) kept.set(key, found.report, { size: Math.max(1, found.sizeBytes) });
    return found.report;
  }

  return {
    /** Throws `not_found` (also for another organization's job, and when the bundle is gone) and `not_completed`. */
    async answer(
      organization: string,
      jobId: string,
      query: ExportReportQuery,
      signal: AbortSignal,
    ): Promise<ExportReport> {
      const job = await completedJob(bus, organization, jobId);
      const reading = last.then(() => {
        signal.throwIfAborted();
        return reportOf(job, signal);
      });
      last = reading.catch(() => {});
      return answerFrom(jobId, await reading, query);
    },
  };
}

type PageFinding = { path: string | undefined; finding: Finding };

/** The part of a report that a client asked for. Pure. */
export function answerFrom(
  jobId: string,
  report: StoredReport,
  { page, severity, code, cursor = '0', limit }: ExportReportQuery,
): ExportReport {
  const wanted = page?.replace(/^\/+/, '');
  const from = Number(cursor);
  const pages: ExportReport['pages'] = [];
  let at = 0;
  let isMore = false;
  for (const { path, finding } of findingsOf(report)) {
    if (severity !== undefined && finding.severity !== severity) continue;
    if ((code !== undefined && finding.code !== code) || (wanted !== undefined && path !== wanted)) continue;
    at += 1;
    if (at <= from) continue;
    isMore = at > from + limit;
    if (isMore) break;
    const last = pages.at(-1);
    if (last !== undefined && last.path === path) last.findings.push(finding);
    else pages.push({ ...(path === undefined ? {} : { path }), findings: [finding] });
  }
  const { summary, byCode } = report;
  return { jobId, summary, byCode, pages, ...(isMore ? { nextCursor: String(from + limit) } : {}) };
}

/** All findings in order: those about the project, then page by page. */
function* findingsOf({ site, pages, brokenLinks, failedPages }: StoredReport): Generator<PageFinding> {
  for (const finding of site) yield { path: undefined, finding };
  const links = Map.groupBy(brokenLinks, (link) => link.page);
  const failures = new Map(failedPages.map(({ path, reason }) => [path, reason]));
  for (const path of new Set([...Object.keys(pages), ...links.keys(), ...failures.keys()])) {
    const failure = failures.get(path);
    if (failure !== undefined) yield { path, finding: { severity: 'error', code: 'page-failed', message: failure } };
    for (const finding of Object.hasOwn(pages, path) ? (pages[path] ?? []) : []) yield { path, finding };
    for (const link of links.get(path) ?? []) {
      // The report has the page of a link, but not the source file of the page.
      const { file: _, ...finding } = brokenLinkDiagnostic(link, '');
      yield { path, finding };
    }
  }
}
