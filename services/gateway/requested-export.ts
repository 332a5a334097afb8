import { createHmac } from 'node:crypto';
import { sha256OfJson } from '#shared/canonical-json/sha256-of.ts';
import type { ExportEventOf } from '#shared/contracts/export-events.ts';
import type { ExportJobState } from '#shared/contracts/export-job-state.ts';
import type { StartExportBody } from '#shared/contracts/http/start-export.ts';
import { base62Of } from '#shared/identifiers/base62.ts';

const jobIdDigits = 22;

/** The job id of an idempotency key: the same for as long as the hash key stays. Pure. */
export function jobIdOfIdempotencyKey(hashKey: string, organization: string, idempotencyKey: string): string {
  // As JSON, so that no organization and key can read like another pair.
  const digest = createHmac('sha256', hashKey)
    .update(JSON.stringify([organization, idempotencyKey]))
    .digest();
  return `se_${base62Of(digest, jobIdDigits)}`;
}

export const newJobId = (random: (length: number) => string): string => `se_${random(jobIdDigits)}`;

/** What makes two requests the same under one idempotency key: what they ask for, not how they write it. Pure. */
export function startRequestDigest(body: StartExportBody, domain: string): string {
  const paths = body.paths === undefined ? undefined : sortedPagePaths(body.paths);
  return sha256OfJson({ ...body, domain, paths, groups: sortedOnce(body.groups) });
}

export const replayRequestDigest = (replayOf: string): string => sha256OfJson({ replayOf });

/** Page paths as the site model has them: without slashes around, the start page as `index`. Pure. */
export function pagePathOf(text: string): string {
  const path = text.replace(/^\/+|\/+$/g, '');
  return path === '' ? 'index' : path;
}

export const sortedPagePaths = (paths: readonly string[]): string[] => sortedOnce(paths.map(pagePathOf));
export const sortedOnce = (texts: readonly string[]): string[] => [...new Set(texts)].sort();

/** The state of a job right after it was requested: what its first commit carries. Pure. */
export function requestedExport(
  { data }: ExportEventOf<'ExportRequested'>,
  requestedBy: string,
  createdAt: string,
): ExportJobState {
  return {
    ...data,
    requestedBy,
    phase: 'requested',
    createdAt,
    chunkCount: 0,
    pageTotal: 0,
    pageCount: 0,
    doneChunks: '',
    failedChunks: '',
    timedOutAttempts: {},
    failedPages: [],
    failedPageCount: 0,
    progress: 0,
  };
}
