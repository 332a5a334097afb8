import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

/** Header by which services know each other. */
export const serviceTokenHeader = 'x-bindery-service-token';

/** Refuses every request under `/internal/` that does not show the service token. */
export function requireServiceToken(app: FastifyInstance, token: string): void {
  const expected = Buffer.from(token);
  app.addHook('onRequest', async (request, reply) => {
    if (!request.url.startsWith('/internal/')) return;
    const shown = Buffer.from(String(request.headers[serviceTokenHeader] ?? ''));
    if (shown.length === expected.length && timingSafeEqual(shown, expected)) return;
    await reply
      .code(401)
      .send({ error: 'Internal routes need the service token.', code: 'invalid_key', requestId: request.id });
  });
}
