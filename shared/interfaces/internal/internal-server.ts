import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { callerHeader, callerSchema, operatorCallerSchema } from './caller.ts';
import type { CallerOf, InternalCall, InternalCaller } from './internal-call.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { traceparentOf } from '#shared/runtime/tracing.ts';
import { addHealthRoutes, type ReadinessChecks } from '#shared/runtime/health-routes.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { isSameSecret } from '#shared/runtime/same-secret.ts';
import { endSlowClients, headerTimeouts, takesUpload } from '#shared/http/slow-bodies.ts';
import { detachedBody, disconnectSignal } from '#shared/http/client-connection.ts';
import { ApiError, toApiError } from '#shared/http/errors.ts';
import { parseRequest } from '#shared/http/field-problems.ts';
import { withoutJsonSchemas } from '#shared/http/without-json-schemas.ts';

/** The header with which services identify themselves. */
export const serviceTokenHeader = 'x-bindery-service-token';

/** Maximum size of a JSON body. The gateway refuses more than 1 MiB before it calls. */
const mostJsonBytes = 2 * 1024 * 1024;
/** Maximum length of a path parameter. The gateway accepts at most 300. */
const longestParameter = 2_000;
/** Longer than any pause of a live gateway while it sends or reads. */
const stalledAfterMs = 120_000;
/** Maximum size of headers. The caller's header can contain the names of many groups. */
const mostHeaderBytes = 128 * 1024;

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

/** The parts of a call that a route receives, as declared. */
export type CallRequest<C extends InternalCall> = {
  caller: CallerOf<C>;
  params: C extends { params: infer S } ? Output<S> : undefined;
  query: C extends { query: infer S } ? Output<S> : undefined;
  headers: C extends { headers: infer S } ? Output<S> : undefined;
  body: C extends { body: 'stream' } ? Readable : C extends { body: infer S } ? Output<S> : undefined;
  /** Aborts when the caller disconnects, as the gateway does when its client does. */
  signal: AbortSignal;
  /** For a route that writes its answer as a stream. */
  reply: FastifyReply;
  log: FastifyBaseLogger;
};

type CallAnswer<C extends InternalCall> = C extends { answer: infer A extends z.ZodType }
  ? C extends { answerHeaders: infer H extends z.ZodType }
    ? { body: z.input<A>; headers: z.output<H> }
    : { body: z.input<A> }
  : FastifyReply;

type CallerTokens = Partial<Record<InternalCaller, string | undefined>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    call?: InternalCall;
  }
}

export type InternalServerOptions = {
  /** Service tokens of the services that may call this one. */
  callerTokens: CallerTokens;
  logger: Logger;
  checks: ReadinessChecks;
  /** Number of dead letters of a service that reads logs. */
  setAside?: () => number;
  draining: () => boolean;
  metrics: Metrics;
};

/** The HTTP server of a service for internal calls: health, and errors in the public form, so that the gateway can pass them on. */
export function internalApp(service: InternalCall['service'], options: InternalServerOptions): FastifyInstance {
  const logger: FastifyBaseLogger = options.logger;
  const app = Fastify({
    ...withoutJsonSchemas,
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: 'idle',
    genReqId: (request) => requestIdIn(request.headers[callerHeader]),
    http: { ...headerTimeouts, maxHeaderSize: mostHeaderBytes },
    // The gateway validates ids, with a lower limit.
    routerOptions: { maxParamLength: longestParameter },
  });
  // A slow client's upload arrives here at the same rate, and the gateway ends it.
  endSlowClients(app.server, { stalledAfterMs, leastOfUpload: { bytes: 1, inMs: stalledAfterMs } });
  // Uses the matched route instead of the written address, which can have many forms.
  app.addHook('onRequest', async (request) => {
    const { call } = request.routeOptions.config;
    if (call === undefined) return;
    checkServiceToken(request, options.callerTokens, call);
    if (call.body === 'stream') takesUpload(request.raw);
  });
  addHealthRoutes(app, service, options);
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.call === undefined) throw new Error(`${String(method)} ${url} is not a declared call of a service`);
  });
  app.setNotFoundHandler((request) => {
    throw new ApiError('not_found', `The ${service} has no ${request.method} ${request.url.slice(0, 200)}.`);
  });
  app.setErrorHandler((error, request, reply) => {
    const answer = toApiError(error);
    // The gateway disconnects when its client does. Such a call has not failed.
    const hungUp = request.raw.socket?.destroyed;
    if (answer.status >= 500 && !hungUp) request.log.error({ err: error, requestId: request.id }, 'a call failed');
    if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', answer.retryAfterSeconds);
    return reply.code(answer.status).send(answer.toBody(request.id));
  });
  return app;
}

function checkServiceToken(request: FastifyRequest, tokens: CallerTokens, { callers }: InternalCall): void {
  const shown = String(request.headers[serviceTokenHeader] ?? '');
  const known = (Object.keys(tokens) as InternalCaller[]).filter((caller) => {
    const token = tokens[caller];
    return token !== undefined && isSameSecret(shown, token);
  });
  if (known.length === 0) throw new ApiError('invalid_key', 'Internal routes need the service token.');
  if (known.some((caller) => callers.includes(caller))) return;
  throw new ApiError('invalid_key', `The ${known.join(' and the ')} may not make this call.`);
}

function requestIdIn(header: string | string[] | undefined): string {
  const caller = jsonIn(String(header)) as { requestId?: unknown } | null | undefined;
  return typeof caller?.requestId === 'string' ? caller.requestId : 'unknown';
}

/** Adds the route of a call. `handle` receives only requests that match the declaration. */
export function answerCall<C extends InternalCall>(
  app: FastifyInstance,
  call: C,
  handle: (request: CallRequest<C>) => Promise<CallAnswer<C>>,
): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    if (call.body === 'stream') scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    else scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: mostJsonBytes }, parseJson);
    scope.route({
      method: call.method,
      url: call.path,
      exposeHeadRoute: false,
      config: { call },
      handler: async (request, reply) => {
        const answer = await handle({
          caller: callerOf(call, request),
          params: paramsOf(call, request.params),
          query: call.query && parseRequest(call.query, request.query, 'query'),
          headers: call.headers && parseRequest(call.headers, request.headers, 'headers'),
          body: bodyOf(call, request.body),
          signal: disconnectSignal(reply.raw),
          reply,
          log: request.log,
        } as CallRequest<C>);
        if (call.answer === 'stream') return answer;
        const { body, headers = {} } = answer as { body: unknown; headers?: Record<string, unknown> };
        for (const [name, value] of Object.entries(headers)) reply.header(name, String(value));
        return reply.send(body);
      },
    });
  });
}

/** An id with an invalid form names nothing, so the response is the one for an unknown id. */
function paramsOf({ service, params }: InternalCall, given: unknown): unknown {
  const result = params?.safeParse(given);
  if (result?.success === false) throw new ApiError('not_found', `The ${service} has nothing with this name.`);
  return result?.data;
}

/** Only a service can send this header, so an invalid one is not the client's error. */
function callerOf({ of }: InternalCall, request: FastifyRequest): CallerOf<InternalCall> {
  const { headers } = request;
  const parsed = (of === 'installation' ? operatorCallerSchema : callerSchema).safeParse(
    JSON.parse(String(headers[callerHeader] ?? 'null')),
  );
  if (parsed.success) {
    const traceparent = headers.traceparent === undefined ? parsed.data.traceparent : traceparentOf(request);
    return { ...parsed.data, traceparent } as CallerOf<InternalCall>;
  }
  throw new Error(`The header ${callerHeader} is wrong: ${parsed.error.message}`);
}

async function parseJson(_request: FastifyRequest, text: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ApiError('invalid_json', undefined, { cause: error });
  }
}

function bodyOf(call: InternalCall, body: unknown): unknown {
  if (call.body === undefined) return undefined;
  if (call.body === 'stream') return detachedBody(body as IncomingMessage);
  return parseRequest(call.body, body, 'body');
}
