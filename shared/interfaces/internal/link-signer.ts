import { z } from 'zod';
import { exportReportQuerySchema, exportReportSchema, siteLinkSchema } from '#shared/interfaces/http/exports.ts';
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
    /** `withPieces`: the link is for a host of sites. */
    body: z.object({ jobId, withPieces: z.boolean().optional() }),
    answer: siteLinkSchema,
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
