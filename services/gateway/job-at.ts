import { z } from 'zod';
import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import { ApiError } from '#shared/errors/api-error.ts';
import type { StoredCommit } from '#shared/event-log/event-log.ts';
import { parseInput } from './parse-input.ts';
import { type JobView, viewOf } from './read-job.ts';

export type PointInHistory = { revision: number } | { time: Date };

const revisionText = z
  .string()
  .regex(/^[0-9]{1,9}$/)
  .transform((text) => ({ revision: Number(text) }));
const timeText = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()])
  .transform((text) => ({ time: new Date(text) }));

/** `?at=` as a revision or a time. Throws `invalid_request`. Pure. */
export function parsePoint(text: unknown): PointInHistory {
  if (revisionText.safeParse(text).success) return parseInput(revisionText, text, 'at');
  const parsed = timeText.safeParse(text);
  if (parsed.success) return parsed.data;
  const message = 'must be a revision (1, 2, …) or a time such as 2026-03-01T10:00:00Z';
  throw new ApiError('invalid_request', `The parameter "at" ${message}.`, { fields: [{ path: 'at', message }] });
}

/** The job as it was at a point of its history. Throws `not_found` when it did not exist then. */
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
