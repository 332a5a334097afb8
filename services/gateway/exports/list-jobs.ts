import type { ExportList, ListExportsQuery } from '#shared/contracts/http/exports.ts';
import { type JobListDocument, jobListKey } from '#shared/contracts/read-models.ts';
import { ApiError } from '#shared/http/errors.ts';
import { askBus } from '../ask-bus.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { readCursor, toCursor } from '../parse-input.ts';
import { exportJobOf, readJob } from './read-job.ts';

type Entry = JobListDocument['jobs'][number];

/** An organization's jobs, newest first. `domain` is the slug. Throws `invalid_request` for a wrong cursor. */
export async function listJobs(
  context: Pick<GatewayContext, 'bus'>,
  organization: string,
  query: Omit<ListExportsQuery, 'domain'> & { domain: string | undefined },
): Promise<ExportList> {
  const after = query.cursor === undefined ? undefined : parsePosition(query.cursor);
  const since = query.since === undefined ? '' : new Date(query.since).toISOString();
  const { jobList } = context.bus.readModels;
  const days = (await askBus(jobList.keys(`${organization}.*`)))
    .filter((key) => dayOf(key) >= since.slice(0, 10) && dayOf(key) <= (after?.createdAt.slice(0, 10) ?? '9'))
    .sort()
    .reverse();
  const found: Entry[] = [];
  for (const key of days) {
    const jobs = (await askBus(jobList.get(key)))?.document.jobs ?? [];
    found.push(...jobs.toReversed().filter((job) => matches(job, query, since) && isOlder(job, after)));
    if (found.length > query.limit) break;
  }
  const page = found.slice(0, query.limit);
  const last = page.at(-1);
  const jobs = await Promise.all(page.map(async (job) => exportJobOf(await readJob(context, organization, job.jobId))));
  return {
    jobs,
    ...(found.length > query.limit && last !== undefined
      ? { nextCursor: toCursor(`${last.createdAt} ${last.jobId}`) }
      : {}),
  };
}

const dayOf = (key: string): string => key.slice(key.indexOf('.') + 1);

function matches(
  job: Entry,
  query: { domain: string | undefined; status?: string | undefined },
  since: string,
): boolean {
  return (
    (query.domain === undefined || job.domain === query.domain) &&
    (query.status === undefined || job.status === query.status) &&
    job.createdAt >= since
  );
}

type Position = Pick<Entry, 'createdAt' | 'jobId'>;

/** Whether a job comes after `after` in the list, which is sorted by time, and by id within one millisecond. */
function isOlder(job: Position, after: Position | undefined): boolean {
  if (after === undefined || job.createdAt < after.createdAt) return true;
  return job.createdAt === after.createdAt && job.jobId < after.jobId;
}

const positionPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (se_[0-9A-Za-z]{22})$/;

function parsePosition(cursor: string): Position {
  const [, createdAt = '', jobId = ''] = readCursor(cursor, positionPattern);
  return { createdAt, jobId };
}

/** No job lives longer than an hour. The list may lag a little. */
const longestJobMs = 65 * 60_000;

const retryAfterSeconds = 30;

/** Throws `rate_limited` when an organization has as many queued or running jobs as it may have, going by the read model. */
export async function checkActiveJobs(
  { bus, clock, config }: Pick<GatewayContext, 'bus' | 'clock' | 'config'>,
  { organization, organizationPlan }: Principal,
): Promise<void> {
  const now = clock.now();
  const oldest = new Date(now.getTime() - longestJobMs).toISOString();
  const days = new Set([jobListKey(organization, oldest), jobListKey(organization, now.toISOString())]);
  const lists = await Promise.all([...days].map((key) => askBus(bus.readModels.jobList.get(key))));
  const active = lists
    .flatMap((stored) => stored?.document.jobs ?? [])
    .filter((job) => (job.status === 'queued' || job.status === 'running') && job.createdAt > oldest).length;
  const most = config.activeJobs[organizationPlan];
  if (active < most) return;
  throw new ApiError(
    'rate_limited',
    `${active} exports of this organization are queued or running, and ${most} may be. Wait for one to end, or cancel one.`,
    { retryAfterSeconds },
  );
}
