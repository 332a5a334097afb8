import { z } from 'zod';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import { type ExportJob, toExportJob } from '#shared/interfaces/http/exports.ts';
import { type JobStatusDocument, jobStatusKey } from '#shared/interfaces/read-models.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { StoredCommit } from '#shared/messaging/log/event-log.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';
import { invalidParameter, noSuch } from '../parse-input.ts';

/** A job's state at a revision. `lost`: commits that were shown before, and that the log has lost. */
export type JobView = Pick<JobStatusDocument, 'state' | 'revision' | 'commitId' | 'updatedAt' | 'lost'>;

type Reader = Pick<GatewayContext, 'bus'>;

/** A job from the read model, or from the log if the read model is behind. Throws `not_found`, also for another organization's job. */
export async function readJob({ bus }: Reader, organization: string, jobId: string): Promise<JobView> {
  const stored = await askBus(bus.readModels.jobStatus.get(jobStatusKey(organization, jobId)));
  if (stored !== undefined) return stored.document;
  const last = await askBus(bus.exports.last(exportLogSubject(organization, jobId)));
  if (last === undefined) throw noSuch('export job', jobId);
  return viewOf(last.commit);
}

/** The same for several jobs in one question to the read model, in their order. */
export async function readJobs(context: Reader, organization: string, jobIds: readonly string[]): Promise<JobView[]> {
  const keys = jobIds.map((jobId) => jobStatusKey(organization, jobId));
  const found = await askBus(context.bus.readModels.jobStatus.getMany(keys));
  const views = new Map(found.flatMap((each) => ('problem' in each ? [] : [[each.key, each.document] as const])));
  return await Promise.all(
    jobIds.map(async (jobId, at) => views.get(keys[at] ?? '') ?? (await readJob(context, organization, jobId))),
  );
}

/** The newest acknowledged commit of a job, for decisions. Throws `not_found`. */
export async function readJobForDecision(
  { bus }: Reader,
  organization: string,
  jobId: string,
): Promise<StoredCommit<ExportCommit>> {
  const last = await askBus(bus.exports.last(exportLogSubject(organization, jobId), { fromLeader: true }));
  if (last === undefined) throw noSuch('export job', jobId);
  return last;
}

export const viewOf = (commit: ExportCommit): JobView => ({
  state: commit.data.state,
  revision: commit.revision,
  commitId: commit.id,
  updatedAt: commit.time,
});

export const exportJobOf = ({ state, revision, updatedAt }: JobView): ExportJob =>
  toExportJob(state, revision, updatedAt);

type PointInHistory = { revision: number } | { time: Date };

const revisionText = z
  .string()
  .regex(/^[0-9]{1,9}$/)
  .transform((text) => ({ revision: Number(text) }));
const timeText = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()])
  .transform((text) => ({ time: new Date(text) }));

/** `?at=` as a revision or a time. Throws `invalid_request`. Pure. */
export function parsePoint(text: string): PointInHistory {
  const parsed = z.union([revisionText, timeText]).safeParse(text);
  if (parsed.success) return parsed.data;
  throw invalidParameter('at', 'must be a revision (1, 2, …) or a time such as 2026-03-01T10:00:00Z');
}

/** The job at a point of its history. Throws `not_found` if it did not exist then. */
export async function jobAt(
  history: AsyncIterable<StoredCommit<ExportCommit>>,
  point: PointInHistory,
): Promise<JobView> {
  let found: ExportCommit | undefined;
  let newest = 0;
  for await (const { commit } of history) {
    newest = commit.revision;
    if ('revision' in point ? commit.revision === point.revision : Date.parse(commit.time) <= point.time.getTime()) {
      found = commit;
    }
  }
  if (found !== undefined) return viewOf(found);
  if (newest === 0) throw new ApiError('not_found', 'There is no such export job in this organization.');
  throw new ApiError(
    'not_found',
    'revision' in point
      ? `The job has no revision ${point.revision}; its newest is ${newest}.`
      : `The job did not exist yet at ${point.time.toISOString()}.`,
  );
}
