import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import { toApiError } from '#shared/errors/to-api-error.ts';
import { addHealthRoutes, type ReadinessChecks } from '#shared/lifecycle/health-server.ts';
import { callerHeader } from './caller.ts';
import { requireServiceToken } from './service-token.ts';

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
