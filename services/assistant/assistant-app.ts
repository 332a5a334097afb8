import type { FastifyInstance } from 'fastify';
import { ApiError } from '#shared/http/errors.ts';
import { internalApp } from '#shared/http/internal-server.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { addFeedbackRoute, addMessageRoute, type MessageRouteParts } from './conversation-routes.ts';
import { addPageRoute, addSearchRoute } from './search-routes.ts';
import { threads } from './threads.ts';

/** The gateway refuses more than 1 MiB before it gets here. */
const BODY_LIMIT = 2 * 1024 * 1024;

export type AssistantAppParts = Omit<MessageRouteParts, 'conversations'> & {
  clock: Clock;
  objects: ObjectStore;
  serviceToken: string;
  draining: () => boolean;
};

/** The assistant's HTTP server, with all it needs given to it. */
export function assistantApp(parts: AssistantAppParts): FastifyInstance {
  const app = internalApp({
    service: 'assistant',
    serviceToken: parts.serviceToken,
    logger: parts.logger,
    checks: {
      bus: () => parts.bus.check(),
      search: () => parts.searchIndex.check(),
      objects: () => parts.objects.check(),
    },
    draining: parts.draining,
  });
  // Bodies are what the gateway was sent, under whatever type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT }, (_request, body, done) => {
    try {
      done(null, JSON.parse(String(body)));
    } catch {
      done(new ApiError('invalid_json'));
    }
  });
  const conversations = threads(parts.bus.conversations, parts.clock);
  addMessageRoute(app, { ...parts, conversations });
  addFeedbackRoute(app, { conversations });
  addSearchRoute(app, parts);
  addPageRoute(app, parts);
  return app;
}
