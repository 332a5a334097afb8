import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { z } from 'zod';
import { callerHeader, callerText } from './caller.ts';
import type { CallerOf, InternalCall } from './internal-call.ts';
import { ApiError, type ErrorBody, errorTable } from '#shared/http/errors.ts';
import { serviceTokenHeader } from './internal-server.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { messageOf, Unavailable } from '#shared/runtime/failures.ts';

/** Address of a service, and the token with which this caller identifies itself. */
export type ServiceAddress = { baseUrl: string; serviceToken: string };

type Part<Name extends string, S> = S extends z.ZodType ? Record<Name, z.input<S>> : unknown;

/** The parts of a declared call: those of `params`, `query`, `headers` and `body` that it has. */
export type CallParts<C extends InternalCall> = (C extends { params: infer S } ? Part<'params', S> : unknown) &
  (C extends { query: infer S } ? Part<'query', S> : unknown) &
  (C extends { headers: infer S } ? Part<'headers', S> : unknown) &
  (C extends { body: infer S }
    ? {
        /**
         * A stream is sent at the rate at which the service reads it, and is not destroyed if the service responds early. Bytes in place of a JSON
         * body are sent as its text, which the service checks.
         */
        body: S extends z.ZodType ? z.input<S> | Uint8Array : Readable;
      }
    : unknown);

/** A 2xx response. `body` must be read to its end or destroyed; destroying it tells the service to stop. */
export type ServiceAnswer<C extends InternalCall> = {
  status: number;
  headers: C extends { answerHeaders: infer H extends z.ZodType } ? z.output<H> : Record<string, never>;
  body: Readable;
  /** HTTP trailers; empty before the end of the body. */
  trailers(): Readonly<Record<string, string | undefined>>;
  /** Parses the body with the schema of the declaration. */
  json(): Promise<C['answer'] extends z.ZodType ? z.output<C['answer']> : never>;
};

const connectWithinMs = 2_000;

/** The HTTP client. It is loaded at the first call, because it takes 5 MB of each process. */
let client: ReturnType<typeof openClient> | undefined;

/** One pool for all services. Without pipelining, one caller's stream never waits for another's. */
async function openClient() {
  const { Agent, request } = await import('undici');
  return { request, dispatcher: new Agent({ connect: { timeout: connectWithinMs }, pipelining: 1 }) };
}

/**
 * Calls another service. Throws the error that the service returned, `ServiceUnavailable` if it did not respond, or the reason of `signal`, which
 * aborts when the answer is no longer needed.
 */
export async function callService<C extends InternalCall>(
  call: C,
  { baseUrl, serviceToken }: ServiceAddress,
  { caller, signal, ...given }: { caller: CallerOf<C>; signal: AbortSignal } & CallParts<C>,
): Promise<ServiceAnswer<C>> {
  const parts = given as {
    params?: Record<string, string>;
    query?: Record<string, string | undefined>;
    headers?: Record<string, string | undefined>;
    body?: unknown;
  };
  const url = new URL(
    call.path.replaceAll(/:(\w+)/g, (_, name: string) => segmentOf(parts.params?.[name] ?? '')),
    baseUrl,
  );
  for (const [name, value] of Object.entries(parts.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  try {
    const { request, dispatcher } = await (client ??= openClient());
    const answer = await request(url, {
      dispatcher,
      method: call.method,
      headers: {
        ...definedOnly(parts.headers ?? {}),
        ...contentType(call),
        [serviceTokenHeader]: serviceToken,
        [callerHeader]: callerText(caller),
        traceparent: caller.traceparent,
      },
      body: bodyOf(call, parts.body),
      signal,
      headersTimeout: call.answerWithinMs,
      bodyTimeout: call.idleMs,
    });
    if (answer.statusCode >= 300) {
      throw await answeredError(call, answer.statusCode, answer.headers['retry-after'], answer.body);
    }
    const headers = call.answerHeaders?.safeParse(answer.headers);
    if (headers?.success === false) {
      // Destroying a body causes an error event, which must not end the process.
      answer.body.on('error', () => {}).destroy();
      throw new WrongAnswer(`The ${call.service} answered with wrong headers: ${headers.error.message}`);
    }
    return {
      status: answer.statusCode,
      headers: (headers?.data ?? {}) as ServiceAnswer<C>['headers'],
      body: answer.body,
      trailers: () => answer.trailers,
      json: async () => {
        const bytes = await buffer(answer.body).catch((error: unknown) => {
          throw signal.aborted ? signal.reason : new ServiceUnavailable(call.service, error);
        });
        return parseAnswer(call, bytes.toString('utf8')) as never;
      },
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof ApiError || error instanceof WrongAnswer
      ? error
      : new ServiceUnavailable(call.service, error);
  }
}

/** One segment of a path. Throws `not_found` for an id that would change the path, because nothing can have such an id. */
function segmentOf(id: string): string {
  if (/^(\.{0,2})$/.test(id) || !id.isWellFormed()) throw new ApiError('not_found', 'There is nothing with this name.');
  return encodeURIComponent(id);
}

function parseAnswer({ service, answer }: InternalCall, text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    return answer === 'stream' ? body : answer.parse(body);
  } catch (error) {
    throw new WrongAnswer(`The ${service} answered with a wrong body: ${messageOf(error)}`);
  }
}

const definedOnly = (headers: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined));

function contentType({ body }: InternalCall): Record<string, string> {
  if (body === undefined) return {};
  return { 'content-type': body === 'stream' ? 'application/octet-stream' : 'application/json' };
}

function bodyOf({ body: kind }: InternalCall, body: unknown): Readable | Uint8Array | string | null {
  if (kind === undefined) return null;
  return kind === 'stream' || body instanceof Uint8Array ? (body as Readable | Uint8Array) : JSON.stringify(body);
}

const maxErrorBytes = 256 * 1024;

/** The error that a service returned, to be thrown again. A response that is not an error of the public interface becomes a `WrongAnswer`. */
async function answeredError(
  { service }: InternalCall,
  status: number,
  retryAfter: string | string[] | undefined,
  stream: Readable,
): Promise<Error> {
  const text = await readText(stream);
  const body = errorBodyIn(text);
  // 401 is about the service token, which is our own error and not the caller's.
  if (status === 401 || body === undefined) {
    return new WrongAnswer(`The ${service} answered ${status}: ${text.slice(0, 300)}`);
  }
  const seconds = Number(retryAfter);
  return new ApiError(body.code, body.error, {
    ...(body.fields ? { fields: body.fields } : {}),
    ...(Number.isFinite(seconds) ? { retryAfterSeconds: seconds } : {}),
  });
}

/** A body's text, cut at 256 KB. */
async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxErrorBytes) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function errorBodyIn(text: string): ErrorBody | undefined {
  const body = jsonIn(text) as Partial<ErrorBody> | null | undefined;
  const known = typeof body?.error === 'string' && body.code !== undefined && Object.hasOwn(errorTable, body.code);
  return known ? (body as ErrorBody) : undefined;
}

/** Another service responded with data that its declaration does not allow, which is our own error. */
class WrongAnswer extends Error {
  override name = 'WrongAnswer';
}

/** Another service did not respond: it refused the connection, disconnected, or was too late. */
class ServiceUnavailable extends Unavailable {
  override name = 'ServiceUnavailable';

  constructor(service: string, cause: unknown) {
    super(`The ${service} did not answer: ${cause instanceof Error ? cause.message || cause.name : String(cause)}.`, {
      cause,
    });
  }
}
