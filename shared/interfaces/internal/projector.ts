import { z } from 'zod';
import { organizationId } from '#shared/contracts/identifiers.ts';
import { verificationBodySchema, verificationSchema } from '#shared/interfaces/http/verification.ts';
import { internalCall } from './internal-call.ts';

/** The subjects of the streams are listed first. */
const withinMs = 20_000;

/** The logs to verify: those of an organization, or all. */
const scope = { organization: organizationId.optional() };

const base = {
  service: 'projector',
  callers: ['gateway'],
  of: 'installation',
  method: 'POST',
  answer: verificationSchema,
  errors: [],
  answerWithinMs: withinMs,
  idleMs: withinMs,
} as const;

/** Calls of the gateway to the projector, which alone has the audit key. The organization whose logs are meant is in the body. */
export const projector = {
  /** Starts the verification of logs unless one runs, or a recent result is about the same messages. */
  startVerification: internalCall({
    ...base,
    path: '/internal/verifications/start',
    body: z.object({ ...scope, ...verificationBodySchema.shape }),
  }),
  readVerification: internalCall({ ...base, path: '/internal/verifications/read', body: z.object(scope) }),
};
