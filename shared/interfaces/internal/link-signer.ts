import { z } from 'zod';
import { bundleLinkSchema, exportReportQuerySchema, exportReportSchema } from '#shared/interfaces/http/exports.ts';
import { jobId } from '#shared/contracts/identifiers.ts';
import { internalCall } from './internal-call.ts';

const withinMs = 10_000;
/** The report of a large site is unpacked from its closing segment. */
const reportWithinMs = 60_000;

/** Calls of the gateway to the link-signer. */
export const linkSigner = {
  signLink: internalCall({
    service: 'link-signer',
    callers: ['gateway'],
    method: 'POST',
    path: '/internal/links',
    body: z.object({ jobId }),
    answer: bundleLinkSchema,
    errors: ['not_found', 'not_completed'],
    answerWithinMs: withinMs,
    idleMs: withinMs,
  }),
  readReport: internalCall({
    service: 'link-signer',
    callers: ['gateway'],
    method: 'POST',
    path: '/internal/reports',
    body: exportReportQuerySchema.extend({ jobId }),
    answer: exportReportSchema,
    errors: ['not_found', 'not_completed'],
    answerWithinMs: reportWithinMs,
    idleMs: withinMs,
  }),
};
