import type { FastifyInstance } from 'fastify';
import { internalApp } from '#shared/http/internal-server.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { addFeedbackRoute, addMessageRoutes, type MessageRouteParts } from './conversation-routes.ts';
import { addPageRoute, addSearchRoute } from './search-routes.ts';
import { threads } from './threads.ts';

export type AssistantAppParts = Omit<MessageRouteParts, 'conversations'> & {
  clock: Clock;
  objects: ObjectStore;
  serviceToken: string;
  draining: () => boolean;
};

/** The assistant's HTTP server, with all it needs given to it. */
export function assistantApp(parts: AssistantAppParts): FastifyInstance {
  const app = internalApp('assistant', {
    serviceToken: parts.serviceToken,
    logger: parts.logger,
    checks: {
      bus: () => parts.bus.check(),
      search: () => parts.searchIndex.check(),
      objects: () => parts.objects.check(),
    },
    draining: parts.draining,
  });
  const conversations = threads(parts.bus.threads, parts.clock);
  addMessageRoutes(app, { ...parts, conversations });
  addFeedbackRoute(app, { conversations });
  addSearchRoute(app, parts);
  addPageRoute(app, parts);
  return app;
}
