import { installationWorkSchema } from '#shared/interfaces/http/installation.ts';
import { internalCall } from './internal-call.ts';

/** A page waits for the answer. */
const withinMs = 2_000;

/** Calls of the gateway to the orchestrator. A spare answers as well as the leader. */
export const orchestrator = {
  readWork: internalCall({
    service: 'orchestrator',
    callers: ['gateway'],
    of: 'installation',
    method: 'GET',
    path: '/internal/work',
    answer: installationWorkSchema,
    errors: [],
    answerWithinMs: withinMs,
    idleMs: withinMs,
  }),
};
