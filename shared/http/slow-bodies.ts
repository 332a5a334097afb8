import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerAndClose } from './answer-and-close.ts';
import { ApiError } from './errors.ts';
import { endStalledConnections } from './stalled-connections.ts';

/**
 * Time that a client may take to send a request. A client that sends a byte a minute would otherwise hold a connection, and its memory, without
 * limit. So each server allows ten seconds for the headers of a request, and ten seconds more in which it reads the body. While the server checks
 * the caller, it reads no more than its buffer holds, and that time does not count. An upload continues while it makes progress.
 */

/** Options for `http.createServer`, for every server. They have no limit for bodies, because Node's would apply to uploads too. */
export const headerTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 0,
  connectionsCheckingInterval: 2_000,
} as const satisfies ServerOptions;

const bodyWithinMs = 10_000;

export type SlowClients = {
  /** Idle timeout of a connection: see `endStalledConnections`. */
  stalledAfterMs: number;
  /**
   * Deadline for the whole body of a request that is not an upload, not counting the time in which the server does not read; also the deadline for
   * the rest of a body after the response was sent.
   */
  bodyWithinMs?: number;
  /** Minimum rate of an upload while the server reads it. */
  leastOfUpload?: { bytes: number; inMs: number };
};

/** A connection that is a hundred times slower than the slowest mobile networks sends more. */
const usualLeast = { bytes: 32 * 1024, inMs: 30_000 };

/** Ends connections whose clients are too slow or disappear. A body that is too slow is answered with 408 and a sentence. */
export function endSlowClients(server: Server, options: SlowClients): void {
  const { stalledAfterMs, leastOfUpload = usualLeast } = options;
  const withinMs = options.bodyWithinMs ?? bodyWithinMs;
  const refuse = (socket: Socket, sentence: string): void => {
    const [first, ...further] = underWay.get(socket) ?? [];
    // If a response has begun, or further requests wait for this one, an error response can no longer be sent, so the connection is closed.
    if (first?.headersSent === true || further.length > 0) socket.destroy();
    else answerAndClose(socket, new ApiError('request_timeout', sentence));
  };
  /** Incomplete responses, in the order of their requests. */
  const underWay = new WeakMap<Socket, Set<ServerResponse>>();
  endStalledConnections(server, stalledAfterMs, (socket) =>
    refuse(socket, `The body stopped arriving for ${stalledAfterMs / 1_000} seconds. Send it again.`),
  );

  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const answers = underWay.get(socket) ?? new Set();
    underWay.set(socket, answers.add(response));
    response.once('finish', () => answers.delete(response));
    if (!hasBody(request)) return;
    const whole = (): void =>
      refuse(socket, `The body of the request took longer than ${withinMs / 1_000} seconds. Send it again, faster.`);
    let stopDeadline = countdown(request, withinMs, whole);
    const restAfterAnswer = (): void => {
      if (isOver(request) || uploads.has(request)) return;
      stopDeadline();
      const deadline = setTimeout(() => unlessArriving(request, () => socket.destroy()), withinMs);
      stopDeadline = () => clearTimeout(deadline);
    };
    const end = (): void => {
      stopDeadline();
      uploads.get(request)?.stop();
      uploads.delete(request);
      response.off('finish', restAfterAnswer);
      socket.off('close', end);
    };
    response.once('finish', restAfterAnswer);
    request.once('end', end).once('close', () => isOver(request) && end());
    socket.once('close', end);
    starts.set(request, () => {
      stopDeadline();
      const slow = (): void => {
        const { bytes, inMs } = leastOfUpload;
        refuse(
          socket,
          `Less than ${Math.round(bytes / 1024)} KB of the upload arrived in ${inMs / 1_000} seconds. Send it again, over a faster connection.`,
        );
      };
      return watchRate(request, leastOfUpload, slow);
    });
  });
}

type Upload = { stop: () => void };
const starts = new WeakMap<IncomingMessage, () => Upload>();
const uploads = new WeakMap<IncomingMessage, Upload>();

/**
 * From here on the body of a request has no deadline, only a minimum rate. Call it when the sender is known to be allowed to send an upload. Without
 * `endSlowClients` a server has no limits.
 */
export function takesUpload(request: IncomingMessage): void {
  const start = starts.get(request);
  if (start === undefined || uploads.has(request) || isOver(request)) return;
  uploads.set(request, start());
}

/** Calls `slow` after an interval in which too little arrived, unless the server was not reading. */
function watchRate(
  request: IncomingMessage,
  { bytes, inMs }: NonNullable<SlowClients['leastOfUpload']>,
  slow: () => void,
): Upload {
  const { socket } = request;
  let before = socket.bytesRead;
  let stood = false;
  // While received data waits for the server to read it, the interval says nothing about the client.
  const look = setInterval(() => {
    stood ||= isFull(request);
  }, inMs / 10).unref();
  const judge = setInterval(() => {
    const arrived = socket.bytesRead - before;
    const isSlow = arrived < bytes && !stood && !isFull(request);
    before = socket.bytesRead;
    stood = false;
    if (isSlow) unlessArriving(request, slow);
  }, inMs).unref();
  return {
    stop() {
      clearInterval(look);
      clearInterval(judge);
    },
  };
}

/** Steps of a deadline. A step in which the server reads nothing does not count. */
const steps = 20;

/** Calls `late` if the body is incomplete after `withinMs` during which the server read it. Returns a function that stops the countdown. */
function countdown(request: IncomingMessage, withinMs: number, late: () => void): () => void {
  let left = steps;
  let stopped = false;
  let timer: NodeJS.Timeout;
  const next = (): void => {
    timer = setTimeout(() => {
      if (!isFull(request)) left -= 1;
      if (left > 0) next();
      else unlessArriving(request, judge);
    }, withinMs / steps);
  };
  const judge = (): void => {
    if (stopped) return;
    if (!isFull(request)) late();
    else {
      left = 1;
      next();
    }
  };
  next();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** True while the buffer of a body is full: the server reads no more, and the client's data waits in its network. */
const isFull = (request: IncomingMessage): boolean => request.readableLength >= request.readableHighWaterMark;

/**
 * After a pause, a process runs its timers before it reads the data that arrived meanwhile. A body counts as still arriving if it then arrives faster
 * than this.
 */
const stillArriving = { bytes: 4 * 1024, inMs: 50 };

/** Calls `late` unless the body is complete, or is still arriving at the rate of a usual client. */
function unlessArriving(request: IncomingMessage, late: () => void, before = -stillArriving.bytes): void {
  const { bytesRead } = request.socket;
  if (isOver(request)) return;
  if (bytesRead - before < stillArriving.bytes) late();
  else setTimeout(() => unlessArriving(request, late, bytesRead), stillArriving.inMs);
}

const isOver = (request: IncomingMessage): boolean => request.complete || request.socket.destroyed;

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
