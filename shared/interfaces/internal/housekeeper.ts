import { z } from 'zod';
import {
  deadLetterDetailSchema,
  deadLetterListSchema,
  deadLetterSettledSchema,
  decideLettersBodySchema,
  decisionReasonSchema,
  housekeepingQuerySchema,
  housekeepingSchema,
  letterIdSchema,
  lettersDecidedSchema,
  listDeadLettersQuerySchema,
} from '#shared/interfaces/http/installation.ts';
import { internalCall } from './internal-call.ts';

/** A page waits for the answers. */
const withinMs = 2_000;

const common = {
  service: 'housekeeper',
  callers: ['gateway'],
  of: 'installation',
  answerWithinMs: withinMs,
  idleMs: withinMs,
} as const;

const params = z.object({ letter: letterIdSchema });

/** Calls of the gateway to the housekeeper. A spare answers as well as the process with the lease. */
export const housekeeper = {
  listDeadLetters: internalCall({
    ...common,
    method: 'GET',
    path: '/internal/dead-letters',
    query: listDeadLettersQuerySchema,
    answer: deadLetterListSchema,
    errors: [],
  }),
  readDeadLetter: internalCall({
    ...common,
    method: 'GET',
    path: '/internal/dead-letters/:letter',
    params,
    answer: deadLetterDetailSchema,
    errors: ['not_found'],
  }),
  /** Stores the decision of the caller, and waits for a moment until the service of the letter has carried it out. */
  settleDeadLetter: internalCall({
    ...common,
    method: 'POST',
    path: '/internal/dead-letters/:letter/decisions',
    params,
    body: decisionReasonSchema.extend({ action: z.enum(['retry', 'drop']) }),
    answer: deadLetterSettledSchema,
    errors: ['not_found', 'in_use'],
  }),
  /** Stores the decision of the caller about several letters, and waits for a moment for all of them together. */
  settleDeadLetters: internalCall({
    ...common,
    method: 'POST',
    path: '/internal/dead-letters/decisions',
    body: decideLettersBodySchema,
    answer: lettersDecidedSchema,
    errors: [],
  }),
  previewSweep: internalCall({
    ...common,
    method: 'GET',
    path: '/internal/housekeeping',
    query: housekeepingQuerySchema,
    answer: housekeepingSchema,
    errors: [],
  }),
};
