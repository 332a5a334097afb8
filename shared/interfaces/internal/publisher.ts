import { z } from 'zod';
import { missingContentsSchema, publishedContentSchema } from '#shared/interfaces/http/content.ts';
import { contentLabel, contentVersion } from '#shared/contracts/identifiers.ts';
import { internalCall } from './internal-call.ts';

const publishWithinMs = 15 * 60_000;
const changeWithinMs = 10_000;

/** Revision of the domain's content log after the change. */
const revisionHeader = z.object({ 'x-bindery-content-revision': z.coerce.number().int().min(0) });

const change = {
  service: 'publisher',
  callers: ['gateway'],
  params: z.object({ contentVersion }),
  answer: z.object({}),
  answerHeaders: revisionHeader,
  errors: ['not_found', 'in_use'],
  answerWithinMs: changeWithinMs,
  idleMs: changeWithinMs,
} as const;

/** Calls of the gateway and the housekeeper to the publisher, about the content of the caller's domain. */
export const publisher = {
  publishContent: internalCall({
    service: 'publisher',
    callers: ['gateway'],
    method: 'PUT',
    path: '/internal/content',
    query: z.object({ label: contentLabel.optional() }),
    /** The docs project as a `.tar.gz`. */
    body: 'stream',
    answer: publishedContentSchema,
    answerHeaders: revisionHeader,
    errors: ['invalid_project', 'too_many_labels'],
    answerWithinMs: publishWithinMs,
    idleMs: changeWithinMs,
  }),
  /** A separate call, because a publisher of an earlier version would mistake the changed files for the whole project. */
  publishChanges: internalCall({
    service: 'publisher',
    callers: ['gateway'],
    method: 'PUT',
    path: '/internal/content/changes',
    query: z.object({ label: contentLabel.optional() }),
    /** A `.tar.gz` with the list of the project's files and those that are missing (`listed-files.ts`). */
    body: 'stream',
    answer: publishedContentSchema,
    answerHeaders: revisionHeader,
    errors: ['invalid_project', 'contents_missing', 'too_many_labels'],
    answerWithinMs: publishWithinMs,
    idleMs: changeWithinMs,
  }),
  missingContents: internalCall({
    service: 'publisher',
    callers: ['gateway'],
    method: 'POST',
    path: '/internal/content/missing',
    /** A `.tar.gz` with the list of files alone. */
    body: 'stream',
    answer: missingContentsSchema,
    errors: ['invalid_project'],
    answerWithinMs: publishWithinMs,
    idleMs: changeWithinMs,
  }),
  promoteContent: internalCall({
    ...change,
    method: 'POST',
    path: '/internal/content/:contentVersion/promote',
  }),
  deleteContent: internalCall({
    ...change,
    callers: ['gateway', 'housekeeper'],
    method: 'DELETE',
    path: '/internal/content/:contentVersion',
  }),
  removeLabel: internalCall({
    ...change,
    method: 'DELETE',
    path: '/internal/labels/:label',
    params: z.object({ label: contentLabel }),
    errors: ['not_found'],
  }),
};
