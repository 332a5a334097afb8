import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { type Caller, callerHeader } from './caller.ts';
import { serviceTokenHeader } from './service-token.ts';
import { ServiceUnavailable } from './service-unavailable.ts';

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
