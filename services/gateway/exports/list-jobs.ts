import type { ExportList, ListExportsQuery } from '#shared/interfaces/http/exports.ts';
import { type JobListEntry, jobListOrder } from '#shared/interfaces/read-models.ts';
import type { GatewayContext } from '../context.ts';
import { readCursor, toCursor } from '../parse-input.ts';
import { type DayList, mostRead, partsNewestFirst, readCost } from '../read-day-list.ts';
import { exportJobOf, readJobs } from './read-job.ts';

/**
 * An organization's jobs, newest first. `domain` is the slug. If few jobs match, an answer may have fewer than requested, with a cursor to continue.
 * Throws `invalid_request` for a wrong cursor.
 */
export async function listJobs(
  context: Pick<GatewayContext, 'bus'>,
  organization: string,
  query: Omit<ListExportsQuery, 'domain'> & { domain: string | undefined },
): Promise<ExportList> {
  const since = query.since === undefined ? '' : new Date(query.since).toISOString();
  const range = {
    firstDay: since.slice(0, 10),
    before: query.cursor === undefined ? undefined : parsePosition(query.cursor),
  };
  const found: JobListEntry[] = [];
  let readSoFar = 0;
  let next: string | undefined;
  for await (const { entries } of partsNewestFirst(jobListOf(context), organization, range)) {
    readSoFar += readCost(entries);
    found.push(...entries.filter((job) => matches(job, query, since)));
    const last = entries.at(-1);
    next = last === undefined ? next : jobListOrder(last);
    if (found.length > query.limit || readSoFar >= mostRead) break;
    next = undefined;
  }
  const page = found.slice(0, query.limit);
  const last = page.at(-1);
  if (found.length > query.limit && last !== undefined) next = jobListOrder(last);
  const views = await readJobs(
    context,
    organization,
    page.map(({ jobId }) => jobId),
  );
  const jobs = views.map(exportJobOf);
  return { jobs, ...(next === undefined ? {} : { nextCursor: toCursor(next) }) };
}

const jobListOf = ({ bus: { readModels } }: Pick<GatewayContext, 'bus'>): DayList<JobListEntry> => ({
  days: readModels.jobDays,
  parts: readModels.jobList,
  orderOf: jobListOrder,
});

function matches(
  job: JobListEntry,
  query: { domain: string | undefined; status?: string | undefined },
  since: string,
): boolean {
  return (
    (query.domain === undefined || job.domain === query.domain) &&
    (query.status === undefined || job.status === query.status) &&
    job.createdAt >= since
  );
}

const positionPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (se_[0-9A-Za-z]{22})$/;

function parsePosition(cursor: string): string {
  const [position = ''] = readCursor(cursor, positionPattern);
  return position;
}
