import { z } from 'zod';
import { missingContentsSchema, publishedContentSchema } from '#shared/interfaces/http/content.ts';
import {
  contentChangesQuerySchema,
  contentChangesSchema,
  contentDiagnosticsQuerySchema,
  contentDiagnosticsSchema,
  contentSourceQuerySchema,
  contentSourceSchema,
} from '#shared/interfaces/http/content-reading.ts';
import { contentLabel, contentVersion } from '#shared/contracts/identifiers.ts';
import { publicationSourceQuery } from '#shared/contracts/publication-source.ts';
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

/** Site models of large sites are read first. */
const readWithinMs = 30_000;

const reading = {
  service: 'publisher',
  callers: ['gateway'],
  method: 'POST',
  params: z.object({ contentVersion }),
  errors: ['not_found', 'too_large'],
  answerWithinMs: readWithinMs,
  idleMs: changeWithinMs,
} as const;

const publication = {
  service: 'publisher',
  callers: ['gateway'],
  method: 'PUT',
  body: 'stream',
  answer: publishedContentSchema,
  answerHeaders: revisionHeader,
  answerWithinMs: publishWithinMs,
  idleMs: changeWithinMs,
} as const;
const labelled = z.object({ label: contentLabel.optional(), ...publicationSourceQuery });
const forLabel = z.object({ label: contentLabel, ...publicationSourceQuery });
const errors = ['invalid_project', 'too_many_labels'] as const;
const errorsOfChanges = ['invalid_project', 'contents_missing', 'too_many_labels'] as const;

/** Calls of the gateway and the housekeeper to the publisher, about the content of the caller's domain. */
export const publisher = {
  /** The body is the docs project as a `.tar.gz`. */
  publishContent: internalCall({ ...publication, path: '/internal/content', query: labelled, errors }),
  /**
   * The body is a `.tar.gz` with the list of the project's files and those that are missing (`listed-files.ts`). A call of its own, because a publisher
   * of an earlier version would mistake the changed files for the whole project.
   */
  publishChanges: internalCall({
    ...publication,
    path: '/internal/content/changes',
    query: labelled,
    errors: errorsOfChanges,
  }),
  /** The same for content that only gets a label. A publisher of an earlier version would make it the latest. */
  publishPreview: internalCall({ ...publication, path: '/internal/previews', query: forLabel, errors }),
  publishPreviewChanges: internalCall({
    ...publication,
    path: '/internal/previews/changes',
    query: forLabel,
    errors: errorsOfChanges,
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
  contentChanges: internalCall({
    ...reading,
    path: '/internal/content/:contentVersion/changes',
    body: contentChangesQuerySchema,
    answer: contentChangesSchema,
  }),
  contentSource: internalCall({
    ...reading,
    path: '/internal/content/:contentVersion/source',
    body: contentSourceQuerySchema,
    answer: contentSourceSchema,
  }),
  contentDiagnostics: internalCall({
    ...reading,
    path: '/internal/content/:contentVersion/diagnostics',
    body: contentDiagnosticsQuerySchema,
    answer: contentDiagnosticsSchema,
  }),
};
