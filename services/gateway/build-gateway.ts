import type { Socket } from 'node:net';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { answerAndClose } from '#shared/http/answer-and-close.ts';
import { ApiError, toApiError } from '#shared/http/errors.ts';
import { checkForwarded } from '#shared/http/forwarded-address.ts';
import { headerTimeouts } from '#shared/http/slow-bodies.ts';
import { withoutJsonSchemas } from '#shared/http/without-json-schemas.ts';
import { addHealthRoutes } from '#shared/runtime/health-routes.ts';
import type { GatewayContext } from './context.ts';
import { limitConnections } from './connections.ts';
import { auditRoutes } from './audit/audit-routes.ts';
import { verificationRoutes } from './audit/verification-routes.ts';
import { limitsRoute } from './audit/limits-route.ts';
import { contentRoutes } from './content/content-routes.ts';
import { allowPlaygrounds } from './auth/playground-origins.ts';
import { apiKeyRoutes } from './directory/api-key-routes.ts';
import { organizationRoutes } from './directory/organization-routes.ts';
import { whoamiRoute } from './directory/whoami-route.ts';
import { discoveryRoutes } from './discovery/discovery-routes.ts';
import { mcpRoutes } from './discovery/mcp-routes.ts';
import { widgetSettingsRoute } from './discovery/widget-settings-route.ts';
import { insightRoutes } from './discovery/insight-routes.ts';
import { eventRoutes } from './events/event-routes.ts';
import { exportRoutes } from './exports/export-routes.ts';
import { signedDownloadRoutes } from './exports/signed-download.ts';
import { domainListRoute } from './sites/domain-list-route.ts';
import { siteRoutes } from './sites/site-routes.ts';
import { viewRoutes } from './sites/view-routes.ts';
import { gatewayHealth } from './gateway-health.ts';
import { installationRoutes } from './installation/installation-routes.ts';
import { openApiRoute } from './openapi.ts';
import { pageRoutes } from './pages/page-routes.ts';
import { widgetRoutes } from './pages/widget-routes.ts';
import { addPublicRoute, type PublicRoute, routeErrors } from './public-route.ts';

const mostBodyBytes = 1024 * 1024;
const longestParameter = 300;

/** Answers are for programs: a browser that opens one must not guess its type, run it, frame it, or send its address as a referrer. */
const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

/** All routes of the gateway except health. The description, the reference and the matrix of keys are made from them. */
export const publicRoutes: readonly PublicRoute[] = [
  whoamiRoute,
  domainListRoute,
  ...organizationRoutes,
  ...installationRoutes,
  ...apiKeyRoutes,
  ...contentRoutes,
  ...exportRoutes,
  ...siteRoutes,
  ...viewRoutes,
  ...eventRoutes,
  ...auditRoutes,
  ...verificationRoutes,
  limitsRoute(() => publicRoutes),
  ...discoveryRoutes,
  ...mcpRoutes,
  widgetSettingsRoute,
  ...insightRoutes,
  ...signedDownloadRoutes,
  openApiRoute(() => publicRoutes),
  ...pageRoutes(() => publicRoutes),
  ...widgetRoutes,
];

/** Assembles the public server with its hooks and routes; it does not listen yet. */
export async function buildGateway(context: GatewayContext, routes = publicRoutes): Promise<FastifyInstance> {
  const { trustProxy } = context.config;
  const logger: FastifyBaseLogger = context.logger;
  const app = Fastify({
    ...withoutJsonSchemas,
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: mostBodyBytes,
    http: headerTimeouts,
    routerOptions: { maxParamLength: longestParameter },
    trustProxy: trustProxy.length === 0 ? false : trustProxy,
    requestIdHeader: false,
    genReqId: () => `req_${context.random(22)}`,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    frameworkErrors: sendError,
    clientErrorHandler: refuseBrokenRequest,
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { declaration } = request.routeOptions.config;
    if (declaration !== undefined && context.onAnswer !== undefined) {
      const route = `${declaration.method} ${declaration.path}`;
      context.onAnswer({ route, code: toApiError(error).code, declared: routeErrors(declaration) });
    }
    sendError(error, request, reply);
  });
  app.setNotFoundHandler((request, reply) => sendError(noSuchPath(request), request, reply));
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, ...securityHeaders });
  });
  app.addHook('onSend', async (_request, reply) => {
    // Keep-alive connections are closed after their answer during shutdown, because a request that comes while they close would get no answer.
    if (context.draining()) reply.header('connection', 'close');
    // Answers are about one caller and one time, unless their route says otherwise.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });
  allowPlaygrounds(app, context.config.playgroundOrigins);
  checkForwarded(app, trustProxy, context.logger);
  limitConnections(app, context);
  addHealthRoutes(app, 'gateway', { ...gatewayHealth(context), isPublic: true });
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.declaration === undefined)
      throw new Error(`${String(method)} ${url} is not declared as a public route`);
  });
  for (const route of routes) addPublicRoute(app, context, route);
  await app.after();
  return app;
}

/** Sends every error in the public form, also the framework's. Unexpected errors are logged with the request's id, and become `internal`. */
function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const answer = toApiError(error);
  // After a client disconnects, the errors that this causes are not failures.
  if (request.raw.socket?.destroyed) request.log.debug({ requestId: request.id }, 'the client disconnected');
  else if (answer.code === 'internal') request.log.error({ err: error, requestId: request.id }, 'a request failed');
  else if (answer.status >= 500)
    request.log.warn({ err: error, requestId: request.id }, 'a system that the request needs is down');
  if (answer.retryAfterSeconds !== undefined) void reply.header('retry-after', String(answer.retryAfterSeconds));
  if (answer.status === 401) void reply.header('www-authenticate', challengeOf(answer));
  // A stream may have set its own type before it failed.
  void reply
    .code(answer.status)
    // Requests that the framework refuses have passed no hook, so the headers are set here.
    .headers({ 'x-request-id': request.id, ...securityHeaders, 'cache-control': 'no-store' })
    .header('content-type', 'application/json; charset=utf-8')
    .removeHeader('content-length')
    .send(answer.toBody(request.id));
}

/** The authentication challenge (RFC 6750, section 3): a request without a key has made no error yet. */
const challengeOf = ({ code }: ApiError): string =>
  code === 'missing_key' ? 'Bearer realm="Bindery"' : 'Bearer realm="Bindery", error="invalid_token"';

function noSuchPath(request: FastifyRequest): ApiError {
  const path = request.url.split('?')[0]?.slice(0, 200) ?? '';
  return new ApiError('not_found', `There is no ${request.method} ${path} here.`);
}

const notHttp = new ApiError('invalid_request', 'This is not a valid HTTP request.');

const brokenRequests: Readonly<Record<string, ApiError>> = {
  HPE_HEADER_OVERFLOW: new ApiError('too_large', 'The headers of the request are too large.'),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError(
    'request_timeout',
    `The headers of the request took longer than ${headerTimeouts.headersTimeout / 1_000} seconds. Send it again.`,
  ),
};

/** Answers bytes that are not an HTTP request, or a request with headers that are too long or too late, and closes the connection. */
function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  answerAndClose(socket, brokenRequests[error.code ?? ''] ?? notHttp);
}
