import type { FastifyInstance } from 'fastify';
import { invalidRequest } from '#shared/errors/to-api-error.ts';
import { readCaller } from '#shared/internal-http/read-caller.ts';
import { feedbackBodySchema } from './message-body.ts';
import type { Threads } from './threads.ts';

/** `POST /internal/feedback`: what a reader thinks of an answer. Header `x-thread-key` is optional. */
export function addFeedbackRoute(app: FastifyInstance, parts: { conversations: Threads }): void {
  app.post('/internal/feedback', async (request) => {
    const caller = readCaller(request.headers);
    const parsed = feedbackBodySchema.safeParse(request.body);
    if (!parsed.success) throw invalidRequest(parsed.error);
    const { threadId, messageId, rating, comment } = parsed.data;
    const key = request.headers['x-thread-key'];
    await parts.conversations.rate(
      { organization: caller.organization, domain: caller.domain, threadId },
      { messageId, rating, ...(comment ? { comment } : {}) },
      key === undefined ? undefined : String(key),
      caller,
    );
    return { threadId, messageId, rating };
  });
}
