import type { FastifyInstance } from 'fastify';
import { exposedHeaders } from './cross-origin.ts';

/** Duration for which a browser remembers the answer to a preflight request. */
const preflightSeconds = 600;

/**
 * Lets pages of these origins send requests to every route from a browser, so that readers of the documentation of this interface can try it. The
 * requests need a key as any other, and browsers never add credentials of their own. Without origins nothing changes: browsers then let pages of other
 * sites read only the routes that are made for them.
 */
export function allowPlaygrounds(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  app.addHook('onRequest', async (request, reply) => {
    const { origin, ...headers } = request.headers;
    reply.header('vary', 'Origin');
    if (origin === undefined || !origins.includes(origin)) return;
    reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedHeaders });
    const method = headers['access-control-request-method'];
    if (request.method !== 'OPTIONS' || method === undefined) return;
    await reply
      .code(204)
      .headers({
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': headers['access-control-request-headers'] ?? 'authorization, content-type',
        'access-control-max-age': String(preflightSeconds),
      })
      .send();
  });
}
