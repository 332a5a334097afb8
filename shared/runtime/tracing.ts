import {
  type Attributes,
  context,
  diag,
  DiagLogLevel,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import { afterAnswers } from './after-answers.ts';
import { messageOf } from './failures.ts';
import type { Logger } from './telemetry.ts';
import { withDeadline } from './with-deadline.ts';
import { withoutKeys } from './without-keys.ts';

/*
 * Traces with OpenTelemetry. A trace travels with requests, commits, tasks and facts as a W3C `traceparent`
 * (https://www.w3.org/TR/trace-context/). Without a collector it is passed on unchanged.
 */

/** A unit of work with a beginning and an end. */
export type Span = {
  /** Trace context to send along, so that other work becomes a child of this span. */
  readonly traceparent: string;
  /** The id of the trace, for logs; undefined without a collector. */
  readonly traceId: string | undefined;
  set(attributes: Attributes): void;
  /** Adds an event at the current time. */
  event(name: string): void;
  /** Ends the span; with an error, as failed. */
  end(error?: unknown): void;
};

type SpanOptions = {
  /** A `traceparent`. If it is missing or invalid, a new trace begins. */
  parent?: string | undefined;
  /** `server` answers a request, `consumer` handles a message. The default is work within a service. */
  kind?: 'server' | 'consumer';
  /** Attributes of the span. They must not contain text of a client or a project, except ids. */
  attributes?: Attributes;
  /** Start of the span; now by default. */
  startedAt?: Date;
};

/** Spans of one service. Without a collector they cost only an id. */
export type Tracing = {
  start(name: string, options?: SpanOptions): Span;
  /** Runs work in a span. Spans that libraries record meanwhile are its children. */
  inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
};

/** Attributes of Bindery, with the prefix of their names in all spans: `bindery.jobId`. */
export const ownAttributes = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`bindery.${name}`, value]));

const kinds = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER };

/** The spans of one service, which are sent only after `collectTraces`. */
export function tracingOf(service: string): Tracing {
  const tracer = trace.getTracer(`bindery.${service}`);
  const begin = (name: string, { parent, kind, attributes, startedAt }: SpanOptions): OtelSpan =>
    tracer.startSpan(
      name,
      {
        kind: kind === undefined ? SpanKind.INTERNAL : kinds[kind],
        ...(attributes && { attributes }),
        ...(startedAt && { startTime: startedAt }),
      },
      contextOf(parent),
    );
  return {
    start: (name, options = {}) => spanOver(begin(name, options)),
    async inSpan(name, options, work) {
      const begun = begin(name, options);
      const span = spanOver(begun);
      try {
        const result = await context.with(trace.setSpan(contextOf(options.parent), begun), () => work(span));
        span.end();
        return result;
      } catch (error) {
        span.end(error);
        throw error;
      }
    },
  };
}

function spanOver(span: OtelSpan): Span {
  const own = span.spanContext();
  const isSampled = Boolean(own.traceFlags & TraceFlags.SAMPLED);
  let traceparent: string | undefined;
  return {
    // The value is created on demand: random numbers are the main cost, and few requests send it along.
    get traceparent() {
      traceparent ??= isSpanContextValid(own)
        ? `00-${own.traceId}-${own.spanId}-${isSampled ? '01' : '00'}`
        : newTraceparent();
      return traceparent;
    },
    traceId: isSampled && isSpanContextValid(own) ? own.traceId : undefined,
    set: (attributes) => void span.setAttributes(attributes),
    event: (name) => void span.addEvent(name),
    end: (error) => {
      if (error !== undefined) {
        const message = withoutKeys(messageOf(error).slice(0, mostMessageCharacters));
        span.setStatus({ code: SpanStatusCode.ERROR, message });
      }
      span.end();
    },
  };
}

const mostMessageCharacters = 500;

/** A new `traceparent` of a trace that is not collected. */
export const newTraceparent = (): string =>
  `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`;

const pattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function contextOf(traceparent: string | undefined) {
  if (traceparent === undefined) return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = '00'] = pattern.exec(traceparent) ?? [];
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

/** The id of the trace, for logs; undefined if it is not collected. */
export function collectedTraceId(traceparent: string | undefined): string | undefined {
  const [, traceId, , flags = '00'] = pattern.exec(traceparent ?? '') ?? [];
  return Number.parseInt(flags, 16) & TraceFlags.SAMPLED ? traceId : undefined;
}

const spans = new WeakMap<FastifyRequest, Span>();

/** The `traceparent` of the span that answers the request. */
export const traceparentOf = (request: FastifyRequest): string => spans.get(request)?.traceparent ?? newTraceparent();

/** Routes that programs request every few seconds. */
const probes = new Set(['/livez', '/readyz', '/metrics']);

/** Answers each request to a server in a span, from its headers to the end of its answer. Must be called before its routes are added. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { url } = request.routeOptions;
    if (url !== undefined && !probes.has(url)) {
      const { traceparent: parent } = request.headers;
      const span = tracing.start(`${request.method} ${url}`, {
        kind: 'server',
        ...(typeof parent === 'string' ? { parent } : {}),
        attributes: { 'http.request.method': request.method, 'http.route': url, 'bindery.requestId': request.id },
      });
      spans.set(request, span);
      const { traceId } = span;
      if (traceId !== undefined) request.log = request.log.child({ traceId });
    }
    done();
  });
  afterAnswers(app, (request, reply) => {
    const span = spans.get(request);
    span?.set({ 'http.response.status_code': reply.statusCode });
    if (!reply.raw.writableEnded) span?.end(new Error('The answer was cut off.'));
    else span?.end(reply.statusCode >= 500 ? new Error(`answered ${reply.statusCode}`) : undefined);
  });
}

/** The message of an SDK error, which is reported as JSON with a stack. */
function lineOf(message: string): string {
  const [, line] = /"message":"((?:[^"\\]|\\.)*)"/.exec(message) ?? [];
  return (line ?? message).slice(0, mostMessageCharacters);
}

const lastSpansWithinMs = 3_000;

/**
 * Sends the spans of this process to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names, with all settings of OpenTelemetry's
 * environment (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). Without the variable nothing is loaded.
 * Must be called before services start. The returned function flushes the remaining spans within three seconds. It never rejects.
 */
export async function collectTraces(
  services: readonly string[],
  env: NodeJS.ProcessEnv,
  logger: Logger,
): Promise<() => Promise<void>> {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || env.OTEL_SDK_DISABLED === 'true') return async () => {};
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const said = new Set<string>();
  // Repetitions of one line every few seconds, while a collector is unavailable, would hide other lines.
  const warn = (message: string): void => {
    const line = withoutKeys(lineOf(message));
    if (said.has(line)) return;
    said.add(line);
    logger.warn({ endpoint }, `traces: ${line}`);
  };
  const ignore = () => {};
  diag.setLogger({ error: warn, warn, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN);
  const [only] = services.length === 1 ? services : [];
  const sdk = new NodeSDK({
    serviceName: env.OTEL_SERVICE_NAME ?? (only === undefined ? 'bindery' : `bindery-${only}`),
    instrumentations: [],
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  // The SDK would wait ten seconds for each batch, and a supervisor would kill the process meanwhile.
  const late = () => new Error(`the collector did not accept the last spans within ${lastSpansWithinMs / 1_000} s`);
  return () => withDeadline(sdk.shutdown(), lastSpansWithinMs, late).catch((error: unknown) => warn(messageOf(error)));
}
