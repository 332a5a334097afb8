import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { type Caller, callerHeader } from '#shared/contracts/internal/caller.ts';
import { ApiError, type ErrorBody, errorTable } from './errors.ts';
import { serviceTokenHeader } from './internal-server.ts';

export type ServiceCall = {
  /** Name of the service, for messages. */
  service: string;
  baseUrl: string;
  serviceToken: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  caller: Caller;
  headers?: Record<string, string>;
  /** A stream is sent as fast as the service takes it; it is not destroyed when the service answers early. */
  body?: Uint8Array | string | Readable;
  /** Whoever waits for the answer went away. */
  signal: AbortSignal;
  /** The answer's head must be there by then, also when the body is long. */
  answerWithinMs: number;
  /** No part of the answer's body may take longer. */
  idleMs: number;
};

/** `body` must be read to its end or destroyed; destroying it tells the service to stop. */
export type ServiceAnswer = { status: number; headers: IncomingHttpHeaders; body: Readable };

const connectWithinMs = 2_000;

// One pool for all services. Without pipelining a stream of one caller never waits behind another's.
const agent = new Agent({ connect: { timeout: connectWithinMs }, pipelining: 1 });

/** Calls another service. Rejects with `ServiceUnavailable`, or with the signal's reason when that aborted. */
export async function callService(call: ServiceCall): Promise<ServiceAnswer> {
  try {
    const answer = await request(new URL(call.path, call.baseUrl), {
      dispatcher: agent,
      method: call.method,
      headers: {
        ...call.headers,
        [serviceTokenHeader]: call.serviceToken,
        [callerHeader]: JSON.stringify(call.caller),
        traceparent: call.caller.traceparent,
      },
      body: call.body ?? null,
      signal: call.signal,
      headersTimeout: call.answerWithinMs,
      bodyTimeout: call.idleMs,
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.body };
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason;
    throw new ServiceUnavailable(call.service, error);
  }
}

const maxErrorBytes = 256 * 1024;

/** The error that a service answered with, to be thrown on. What is no error of the public interface becomes a plain `Error`. */
export async function serviceAnswerError(service: string, answer: ServiceAnswer): Promise<Error> {
  const text = await readText(answer.body);
  const body = errorBodyIn(text);
  // 401 is about the service token: our own mistake, not the caller's.
  if (answer.status === 401 || body === undefined) {
    return new Error(`The ${service} answered ${answer.status}: ${text.slice(0, 300)}`);
  }
  const retryAfter = Number(answer.headers['retry-after']);
  return new ApiError(body.code, body.error, {
    ...(body.fields ? { fields: body.fields } : {}),
    ...(Number.isFinite(retryAfter) ? { retryAfterSeconds: retryAfter } : {}),
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
  try {
    const body = JSON.parse(text) as Partial<ErrorBody> | null;
    const known = typeof body?.error === 'string' && body.code !== undefined && Object.hasOwn(errorTable, body.code);
    return known ? (body as ErrorBody) : undefined;
  } catch {
    return undefined;
  }
}

/** Another service did not answer: refused, gone in the middle, or too late. */
export class ServiceUnavailable extends Error {
  override name = 'ServiceUnavailable';

  constructor(service: string, cause: unknown) {
    super(`The ${service} did not answer: ${cause instanceof Error ? cause.message || cause.name : String(cause)}.`, {
      cause,
    });
  }
}
