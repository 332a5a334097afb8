import { setTimeout as delay } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { ErrorBody, FieldProblem } from '#shared/http/errors.ts';
import { replaceFetch } from '#shared/http/replace-fetch.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { startCommand } from '#shared/runtime/command-words.ts';
import { connectionProblem } from '#shared/runtime/connection-problem.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';

/** A response other than 2xx, or no response. The message is the server's sentence; `fields` tells the problem with each part of the request. */
export class ApiFailure extends Error {
  override name = 'ApiFailure';
  readonly code: string;
  readonly status: number;
  readonly fields: readonly FieldProblem[];
  /** Pause after which the server wants the request again. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    code: string,
    status: number,
    {
      fields = [],
      retryAfterMs,
    }: { fields?: readonly FieldProblem[] | undefined; retryAfterMs?: number | undefined } = {},
  ) {
    super(message);
    this.fields = fields;
    this.retryAfterMs = retryAfterMs;
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
  /** The parsed body of a 2xx response, which is an object or a list. Rejects with `ApiFailure`. */
  json<T>(path: string, call?: ApiCall): Promise<T>;
  /** The response itself, for streams; also rejects with `ApiFailure` unless it is 2xx. */
  raw(path: string, call?: ApiCall): Promise<Response>;
};

/** Idle timeout of a call: the time without progress in the upload, before the response, or within a response that is read as a whole. */
const idleTimeoutMs = 30_000;

/** Runs a function once after the idle timeout, unless it is stopped before. `refresh` starts the time again. */
export type IdleTimer = { refresh: () => void; stop: () => void };

function startIdleTimer(onIdle: () => void): IdleTimer {
  const timer = setTimeout(onIdle, idleTimeoutMs);
  return { refresh: () => void timer.refresh(), stop: () => clearTimeout(timer) };
}

/** `call.json` rejects after the idle timeout without progress, `call.raw` if no response begins within it. */
export function apiClient(baseUrl: string, key: string, startTimer = startIdleTimer): ApiClient {
  const begin = async (path: string, call: ApiCall, watch: StallWatch): Promise<Response> => {
    const url = addressOf(baseUrl, path);
    for (const [name, value] of Object.entries(call.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, value);
    const body = call.json === undefined ? call.body && watch.uploading(call.body) : JSON.stringify(call.json);
    const headers = {
      authorization: `Bearer ${key}`,
      ...(call.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
    };
    replaceFetch();
    let response: Response;
    try {
      response = await fetch(url, {
        method: call.method ?? 'GET',
        headers,
        // Following a redirect would lose the key, and turn a POST into a GET.
        redirect: 'manual',
        ...(body === undefined ? {} : { body, duplex: 'half' as const }),
        signal: call.signal ? AbortSignal.any([call.signal, watch.signal]) : watch.signal,
      });
      watch.moved();
    } catch (error) {
      if (call.signal?.aborted) throw error;
      const why = watch.signal.aborted ? silent : unreachableBecause(error, url);
      throw new ApiFailure(`No answer from ${url.origin}: ${why}`, 'unreachable', 0);
    }
    if (response.status >= 300 && response.status < 400) throw redirected(response, url);
    if (!response.ok) throw failureOf(response, await textOf(response, url, watch));
    return response;
  };
  const watched = async <T>(work: (watch: StallWatch) => Promise<T>): Promise<T> => {
    const watch = stallWatch(startTimer);
    try {
      return await work(watch);
    } finally {
      watch.stop();
    }
  };
  return {
    baseUrl,
    raw: (path, call = {}) => watched((watch) => begin(path, call, watch)),
    json: <T>(path: string, call: ApiCall = {}) =>
      watched(async (watch) => {
        const response = await begin(path, call, watch);
        return jsonOf(response, await textOf(response, new URL(baseUrl), watch)) as T;
      }),
  };
}

/** URL of a path on the server. A proxy may serve it below its own path (`https://acme.com/bindery`). Pure. */
export function addressOf(baseUrl: string, path: string): URL {
  const url = new URL(path, baseUrl);
  url.pathname = `${new URL(baseUrl).pathname.replace(/\/+$/, '')}${url.pathname}`;
  return url;
}

/** Watches an upload or a response, and aborts after the idle timeout without progress. */
type StallWatch = {
  signal: AbortSignal;
  moved(): void;
  /** Passes the body through; each piece that is read from it counts as progress. After the upload the server works, and only the limits of `fetch` apply. */
  uploading(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array>;
  stop(): void;
};

function stallWatch(startTimer: (onIdle: () => void) => IdleTimer): StallWatch {
  const stalled = new AbortController();
  const { refresh, stop } = startTimer(() => stalled.abort());
  return {
    signal: stalled.signal,
    moved: refresh,
    stop,
    uploading: (body) =>
      body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(piece, controller) {
            refresh();
            controller.enqueue(piece);
          },
          flush: stop,
        }),
        // Without the signal, fetch would continue to read the body after it was aborted.
        { signal: stalled.signal },
      ),
  };
}

const silent = `it accepted the connection and then sent nothing for ${idleTimeoutMs / 1_000} s. Is --url right, and is the server healthy ("bindery doctor" on its machine)?`;

/** The whole body of a response. Rejects with `ApiFailure` if it breaks off or stalls. */
async function textOf(response: Response, { origin }: URL, watch: StallWatch): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const piece of response.body ?? []) {
      watch.moved();
      text += decoder.decode(piece as Uint8Array, { stream: true });
    }
  } catch (error) {
    const why = watch.signal.aborted ? `no data came for ${idleTimeoutMs / 1_000} s` : causeOf(error);
    throw new ApiFailure(`The answer of ${origin} broke off: ${why}. Try again.`, 'unreachable', 0);
  }
  return text + decoder.decode();
}

function jsonOf({ url, status }: Response, text: string): unknown {
  const answer = parsedObject(text);
  if (answer !== undefined) return answer;
  throw new ApiFailure(
    `${new URL(url).origin} answers, but is not a Bindery server. Is --url right?`,
    'internal',
    status,
  );
}

/** The JSON object or list in a text; undefined for any other text. */
function parsedObject(text: string): object | undefined {
  const value = jsonIn(text);
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** Says why the connection failed and how to fix it. Mixing up http:// and https:// is a common cause. */
function unreachableBecause(error: unknown, { protocol, host }: URL): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = errorCode(cause) ?? '';
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG')
    return `it does not speak TLS. Is it http://${host}?`;
  if (protocol === 'http:' && code === 'UND_ERR_SOCKET')
    return `it ended the connection. If it speaks TLS, it is https://${host}`;
  const problem = connectionProblem(error);
  return problem.includes('NODE_EXTRA_CA_CERTS')
    ? problem
    : `${problem}. Is the server running ("${startCommand}"), and is --url right?`;
}

function redirected(response: Response, url: URL): ApiFailure {
  const to = URL.parse(response.headers.get('location') ?? '', url.href);
  const hint = to === null || to.origin === url.origin ? 'Is --url right?' : `Give --url ${to.origin} if you trust it.`;
  const where = to === null ? 'elsewhere' : `to ${to.origin}`;
  return new ApiFailure(`${url.origin} redirects requests ${where}. ${hint}`, 'redirected', response.status);
}

function failureOf({ status, url, headers }: Response, text: string): ApiFailure {
  const retryAfterSeconds = Number(headers.get('retry-after') ?? Number.NaN);
  const retryAfterMs = retryAfterSeconds >= 0 ? retryAfterSeconds * 1_000 : undefined;
  const body: Partial<ErrorBody> | undefined = parsedObject(text);
  if (typeof body?.error === 'string' && typeof body.code === 'string')
    return new ApiFailure(body.error, body.code, status, { fields: body.fields, retryAfterMs });
  const { origin } = new URL(url);
  // Proxies send these statuses while they cannot reach the server, as during an update.
  if (status >= 502 && status <= 504) {
    const why = `A proxy in between may not reach it. Is the server running?`;
    return new ApiFailure(
      `${origin} answered ${status}, and the answer is not from Bindery. ${why}`,
      'unavailable',
      status,
    );
  }
  return new ApiFailure(
    `${origin} answered ${status}, and the answer is not from Bindery. Is --url right?`,
    'internal',
    status,
  );
}

function causeOf(error: unknown): string {
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
/** Each attempt counts for the limits of the server, so an outage of a minute must not use up those of an hour. */
const retries: RetryPolicy = { firstPauseMs: retryMs, longestPauseMs: 4_000 };

/** Retries an idempotent call for up to a minute while the server cannot be reached or reports that a dependency is down. */
export async function retryWhileAway<T>(call: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (let failed = 1; ; failed += 1) {
    try {
      return await call();
    } catch (error) {
      const away = error instanceof ApiFailure && (error.code === 'unreachable' || error.code === 'unavailable');
      if (!away || performance.now() > deadline) throw error;
    }
    await delay(pauseAfter(failed, retries));
  }
}

/** The answer to a GET, or undefined for 404. Repeats the call as `retryWhileAway`. */
export async function foundOrNone<T>(client: ApiClient, path: string): Promise<T | undefined> {
  return await retryWhileAway(() => client.json<T>(path)).catch((error: unknown) => {
    if (error instanceof ApiFailure && error.status === 404) return undefined;
    throw error;
  });
}

const longestRefusalMs = 120_000;
const longestPauseMs = 30_000;

/**
 * Repeats an idempotent call that the server answers with 503 and `Retry-After`, after that pause, for up to two minutes. Rejects with the last
 * failure.
 */
export async function retryWhenAsked<T>(call: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + longestRefusalMs; ; ) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ApiFailure && error.status === 503 && error.retryAfterMs !== undefined)) throw error;
      const pauseMs = Math.min(longestPauseMs, Math.max(retryMs, error.retryAfterMs));
      if (performance.now() + pauseMs > deadline) throw error;
      await delay(pauseMs);
    }
  }
}

/** Path of a job in the public interface. Pure. */
export const jobPath = (jobId: string): string => `/v1/static-export/jobs/${encodeURIComponent(jobId)}`;
