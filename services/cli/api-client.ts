import { setTimeout as delay } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { ErrorBody, FieldProblem } from '#shared/http/errors.ts';
import { errorCode } from '#shared/runtime/failures.ts';

/** An answer other than 2xx, or none; the message is the server's sentence, `fields` what is wrong with which part of the request. */
export class ApiFailure extends Error {
  override name = 'ApiFailure';
  readonly code: string;
  readonly status: number;
  readonly fields: readonly FieldProblem[];

  constructor(message: string, code: string, status: number, fields: readonly FieldProblem[] = []) {
    super(message);
    this.fields = fields;
    this.code = code;
    this.status = status;
  }
}

type ApiCall = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  query?: Record<string, string | undefined>;
  headers?: Record<string, string>;
  json?: unknown;
  body?: ReadableStream<Uint8Array>;
  signal?: AbortSignal;
};

/** A client of the public interface with one key. */
export type ApiClient = {
  baseUrl: string;
  /** The parsed body of a 2xx answer. Rejects with `ApiFailure`. */
  json<T>(path: string, call?: ApiCall): Promise<T>;
  /** The answer itself, for streams; also rejects with `ApiFailure` unless 2xx. */
  raw(path: string, call?: ApiCall): Promise<Response>;
};

export function apiClient(baseUrl: string, key: string): ApiClient {
  const raw = async (path: string, call: ApiCall = {}): Promise<Response> => {
    const url = new URL(path, baseUrl);
    for (const [name, value] of Object.entries(call.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, value);
    const body = call.json === undefined ? call.body : JSON.stringify(call.json);
    const headers = {
      authorization: `Bearer ${key}`,
      ...(call.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
    };
    let response: Response;
    try {
      response = await fetch(url, {
        method: call.method ?? 'GET',
        headers,
        ...(body === undefined ? {} : { body, duplex: 'half' as const }),
        ...(call.signal ? { signal: call.signal } : {}),
      });
    } catch (error) {
      if (call.signal?.aborted) throw error;
      throw new ApiFailure(`No answer from ${url.origin}: ${unreachableBecause(error, url)}`, 'unreachable', 0);
    }
    if (!response.ok) throw await failureOf(response);
    return response;
  };
  return { baseUrl, raw, json: async <T>(path: string, call?: ApiCall) => (await jsonOf(await raw(path, call))) as T };
}

async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiFailure(
      `${new URL(response.url).origin} answers, but not as Bindery does. Is --url right?`,
      'internal',
      response.status,
    );
  }
}

/** What went wrong, and what to do. A server that speaks TLS and one that does not are easily mixed up. */
function unreachableBecause(error: unknown, { protocol, host }: URL): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = errorCode(cause) ?? '';
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG')
    return `it does not speak TLS. Is it http://${host}?`;
  if (protocol === 'http:' && code === 'UND_ERR_SOCKET')
    return `it ended the connection. If it speaks TLS, it is https://${host}`;
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code))
    return `its certificate is not trusted (${causeOf(error)}). NODE_EXTRA_CA_CERTS can name a file with your certificate authority`;
  return `${causeOf(error)}. Is the server running ("npm start"), and is --url right?`;
}

async function failureOf(response: Response): Promise<ApiFailure> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as ErrorBody;
    return new ApiFailure(body.error, body.code, response.status, body.fields);
  } catch {
    return new ApiFailure(
      `${response.url} answered ${response.status} with a body that is not an error of this interface.`,
      'internal',
      response.status,
    );
  }
}

export function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

/** The data of each server-sent event, until the connection ends. */
export async function* sseData(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  const text = response.body.pipeThrough(new TextDecoderStream());
  for await (const { data } of text.pipeThrough(new EventSourceParserStream())) yield data;
}

const retryMs = 250;
const deadlineMs = 60_000;

/** Repeats a call that may be made more than once while the server cannot be reached or says that a needed system is down, for up to a minute. */
export async function retryWhileAway<T>(call: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + deadlineMs; ; await delay(retryMs)) {
    try {
      return await call();
    } catch (error) {
      const away = error instanceof ApiFailure && (error.code === 'unreachable' || error.code === 'unavailable');
      if (!away || performance.now() > deadline) throw error;
    }
  }
}

/** Where a job is in the public interface. Pure. */
export const jobPath = (jobId: string): string => `/v1/static-export/jobs/${encodeURIComponent(jobId)}`;
