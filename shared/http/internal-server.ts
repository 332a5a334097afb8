import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import { type Caller, callerHeader, callerSchema } from '#shared/contracts/internal/caller.ts';
import { addHealthRoutes, type ReadinessChecks } from '#shared/runtime/health-server.ts';
import { toApiError } from './errors.ts';

/**
 * The HTTP server of a service that the gateway calls: health, the service token, and errors in the public form, so that the gateway
 * can hand them on. Whoever makes it adds its `/internal/` routes.
 */
export function internalApp(options: {
  service: string;
  serviceToken: string;
  logger: Logger;
  checks: ReadinessChecks;
  draining: () => boolean;
}): FastifyInstance {
  const logger: FastifyBaseLogger = options.logger;
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: 'idle',
    genReqId: (request) => requestIdIn(request.headers[callerHeader]),
  });
  requireServiceToken(app, options.serviceToken);
  addHealthRoutes(app, options.service, options.checks, options.draining);
  app.setErrorHandler((error, request, reply) => {
    const answer = toApiError(error);
    // The gateway hangs up when its client does: what that broke off is no failure.
    const hungUp = request.raw.socket?.destroyed;
    if (answer.status >= 500 && !hungUp) request.log.error({ err: error, requestId: request.id }, 'a call failed');
    if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', answer.retryAfterSeconds);
    return reply.code(answer.status).send(answer.toBody(request.id));
  });
  return app;
}

function requestIdIn(header: string | string[] | undefined): string {
  try {
    const { requestId } = JSON.parse(String(header)) as { requestId?: unknown };
    return typeof requestId === 'string' ? requestId : 'unknown';
  } catch {
    return 'unknown';
  }
}

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

/** What the gateway says of whom it calls for. Throws when the header is missing or wrong: only a service can have sent it. */
export function readCaller(headers: IncomingHttpHeaders): Caller {
  return callerSchema.parse(JSON.parse(String(headers[callerHeader] ?? 'null')));
}
