import { setTimeout as delay } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { ErrorBody, FieldProblem } from '#shared/http/errors.ts';
import { replaceFetch } from '#shared/http/replace-fetch.ts';
import { connectionProblem } from '#shared/runtime/connection-problem.ts';
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
  /** The parsed body of a 2xx answer, which is an object or a list. Rejects with `ApiFailure`. */
  json<T>(path: string, call?: ApiCall): Promise<T>;
  /** The answer itself, for streams; also rejects with `ApiFailure` unless 2xx. */
  raw(path: string, call?: ApiCall): Promise<Response>;
};

/** How long nothing may move before a call ends: no byte of an upload, no answer, no byte of an answer that is read as a whole. */
const silentMs = 30_000;

/** `call.json` rejects when nothing moves for `patienceMs`, `call.raw` when no answer begins. */
export function apiClient(baseUrl: string, key: string, patienceMs = silentMs): ApiClient {
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
    await replaceFetch();
    let response: Response;
    try {
      response = await fetch(url, {
        method: call.method ?? 'GET',
        headers,
        // A redirection would lose the key, and make a GET of a POST.
        redirect: 'manual',
        ...(body === undefined ? {} : { body, duplex: 'half' as const }),
        signal: call.signal ? AbortSignal.any([call.signal, watch.signal]) : watch.signal,
      });
      watch.moved();
    } catch (error) {
      if (call.signal?.aborted) throw error;
      const why = watch.signal.aborted ? silent(patienceMs) : unreachableBecause(error, url);
      throw new ApiFailure(`No answer from ${url.origin}: ${why}`, 'unreachable', 0);
    }
    if (response.status >= 300 && response.status < 400) throw redirected(response, url);
    if (!response.ok) throw failureOf(response, await textOf(response, url, watch));
    return response;
  };
  const watched = async <T>(work: (watch: StallWatch) => Promise<T>): Promise<T> => {
    const watch = stallWatch(patienceMs);
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

/** Where a server has a path. A proxy may serve it below a path of its own (`https://acme.com/bindery`). Pure. */
export function addressOf(baseUrl: string, path: string): URL {
  const url = new URL(path, baseUrl);
  url.pathname = `${new URL(baseUrl).pathname.replace(/\/+$/, '')}${url.pathname}`;
  return url;
}

/** Aborts when nothing has moved for so long. */
type StallWatch = {
  signal: AbortSignal;
  moved(): void;
  /** The same body; each piece that is taken from it moves. When it is sent, the server works: from then on only `fetch` itself has a limit. */
  uploading(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array>;
  stop(): void;
};

function stallWatch(patienceMs: number): StallWatch {
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(), patienceMs);
  const stop = () => clearTimeout(timer);
  const moved = () => void timer.refresh();
  return {
    signal: stalled.signal,
    moved,
    stop,
    uploading: (body) =>
      body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(piece, controller) {
            moved();
            controller.enqueue(piece);
          },
          flush: stop,
        }),
        // Otherwise fetch goes on taking pieces after it was aborted.
        { signal: stalled.signal },
      ),
  };
}

const silent = (ms: number): string =>
  `it accepted the connection, and then nothing came for ${ms / 1_000} s. Is --url right, and is the server well ("bindery doctor" on its machine)?`;

/** The whole body of an answer. Rejects with `ApiFailure` when it breaks off or stops coming. */
async function textOf(response: Response, { origin }: URL, watch: StallWatch): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const piece of response.body ?? []) {
      watch.moved();
      text += decoder.decode(piece as Uint8Array, { stream: true });
    }
  } catch (error) {
    const why = watch.signal.aborted ? 'it stopped coming' : causeOf(error);
    throw new ApiFailure(`The answer of ${origin} broke off: ${why}. Try again.`, 'unreachable', 0);
  }
  return text + decoder.decode();
}

function jsonOf({ url, status }: Response, text: string): unknown {
  const answer = parsedObject(text);
  if (answer !== undefined) return answer;
  throw new ApiFailure(`${new URL(url).origin} answers, but not as Bindery does. Is --url right?`, 'internal', status);
}

/** Undefined unless the text is a JSON object or list. */
function parsedObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
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
  const problem = connectionProblem(error);
  return problem.includes('NODE_EXTRA_CA_CERTS')
    ? problem
    : `${problem}. Is the server running ("npm start"), and is --url right?`;
}

function redirected(response: Response, url: URL): ApiFailure {
  const to = URL.parse(response.headers.get('location') ?? '', url.href);
  const hint = to === null || to.origin === url.origin ? 'Is --url right?' : `Give --url ${to.origin} if you trust it.`;
  const where = to === null ? 'elsewhere' : `to ${to.origin}`;
  return new ApiFailure(`${url.origin} sends requests on ${where}. ${hint}`, 'redirected', response.status);
}

function failureOf({ status, url }: Response, text: string): ApiFailure {
  const body: Partial<ErrorBody> | undefined = parsedObject(text);
  if (typeof body?.error === 'string' && typeof body.code === 'string')
    return new ApiFailure(body.error, body.code, status, body.fields);
  const { origin } = new URL(url);
  // What a proxy says while it does not reach the server, as during an update.
  if (status >= 502 && status <= 504) {
    const why = `A proxy in between may not reach it. Is the server running?`;
    return new ApiFailure(`${origin} answered ${status}, but not as Bindery does. ${why}`, 'unavailable', status);
  }
  return new ApiFailure(`${origin} answered ${status}, but not as Bindery does. Is --url right?`, 'internal', status);
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
