import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#shared/errors/api-error.ts';
import { toApiError } from '#shared/errors/to-api-error.ts';

/** Every error in the public form; what nobody foresaw is logged with the request's id and answered as `internal`. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(error, request, reply));
  app.setNotFoundHandler((request, reply) => sendError(noSuchPath(request), request, reply));
}

/** Also for what the framework refuses before a route is found. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const answer = toApiError(error);
  // Whoever asked has hung up: what that broke off is no failure.
  if (request.raw.socket?.destroyed) request.log.debug({ requestId: request.id }, 'the client went away');
  else if (answer.code === 'internal') request.log.error({ err: error, requestId: request.id }, 'a request failed');
  else if (answer.status >= 500) request.log.warn({ err: error, requestId: request.id }, 'a needed system is down');
  if (answer.retryAfterSeconds !== undefined) void reply.header('retry-after', String(answer.retryAfterSeconds));
  // A stream may have set its own type before it failed.
  void reply
    .code(answer.status)
    .header('x-request-id', request.id)
    .header('content-type', 'application/json; charset=utf-8')
    .removeHeader('content-length')
    .send(answer.toBody(request.id));
}

function noSuchPath(request: FastifyRequest): ApiError {
  const path = request.url.split('?')[0]?.slice(0, 200) ?? '';
  return new ApiError('not_found', `There is no ${request.method} ${path} here.`);
}
