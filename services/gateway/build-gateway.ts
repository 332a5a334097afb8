import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { addHealthRoutes } from '#shared/lifecycle/health-server.ts';
import { answerErrors, sendError } from './answer-errors.ts';
import { apiKeyRoutes } from './api-key-routes.ts';
import { auditRoutes } from './audit-routes.ts';
import { contentRoutes } from './content-routes.ts';
import type { GatewayContext } from './context.ts';
import { discoveryRoutes } from './discovery-routes.ts';
import { exportRoutes } from './export-routes.ts';
import { lenientJson } from './lenient-json.ts';
import { objectLinkRoutes } from './object-link-routes.ts';
import { operatorRoutes } from './operator-routes.ts';
import { refuseBrokenRequest } from './refuse-broken-request.ts';

const mostBodyBytes = 1024 * 1024;
/** A publication of 500 MB over a slow line. */
const longestRequestMs = 30 * 60_000;
const longestParameter = 300;

/** The public door: assembles hooks and routes, listens to nothing yet. */
export async function buildGateway(context: GatewayContext): Promise<FastifyInstance> {
  const { trustProxy } = context.config;
  const logger: FastifyBaseLogger = context.logger;
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: mostBodyBytes,
    requestTimeout: longestRequestMs,
    routerOptions: { maxParamLength: longestParameter },
    trustProxy: trustProxy.length === 0 ? false : trustProxy,
    requestIdHeader: false,
    genReqId: () => `req_${context.random(22)}`,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    frameworkErrors: sendError,
    clientErrorHandler: refuseBrokenRequest,
  });
  lenientJson(app);
  answerErrors(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  addHealthRoutes(
    app,
    'gateway',
    { bus: () => context.bus.check(), 'object store': () => context.objectStore.check() },
    () => context.stopping.aborted,
  );
  const parts = [
    operatorRoutes,
    apiKeyRoutes,
    contentRoutes,
    exportRoutes,
    auditRoutes,
    discoveryRoutes,
    objectLinkRoutes,
  ];
  for (const part of parts) await app.register((scope) => part(scope, context));
  return app;
}
