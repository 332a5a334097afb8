import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerAndClose } from './answer-and-close.ts';
import { ApiError } from './errors.ts';
import { endStalledConnections } from './stalled-connections.ts';

/**
 * How long a client may take to send what it asks. Who sends a byte a minute would hold a connection, and what is kept for it, for as long as
 * it likes. So each server gives the headers of a request ten seconds, and its body ten seconds more. An upload goes on as long as it moves.
 */

/** For `http.createServer`, of every server. Bodies have no time here: Node's would count that of uploads, too. */
export const headerTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 0,
  connectionsCheckingInterval: 2_000,
} as const satisfies ServerOptions;

const bodyWithinMs = 10_000;

export type SlowClients = {
  /** A connection on which nothing moves for so long ends: see `endStalledConnections`. */
  stalledAfterMs: number;
  /** For the whole body of a request that is no upload, and for the rest of a body whose answer is already sent. */
  bodyWithinMs?: number;
  /** What an upload sends in each stretch of time at least, while we take it. */
  leastOfUpload?: { bytes: number; inMs: number };
};

/** A line that is a hundred times slower than the slowest of mobile networks sends more. */
const usualLeast = { bytes: 32 * 1024, inMs: 30_000 };

/** Ends connections whose clients are too slow, or go away without a word. A body that is too slow is answered with 408 and a sentence. */
export function endSlowClients(server: Server, options: SlowClients): void {
  const { stalledAfterMs, leastOfUpload = usualLeast } = options;
  const withinMs = options.bodyWithinMs ?? bodyWithinMs;
  const refuse = (socket: Socket, sentence: string): void => {
    const [first, ...further] = underWay.get(socket) ?? [];
    // Of an answer that has begun nothing can be made but an end. What a client sends behind other requests has its answer behind theirs.
    if (first?.headersSent === true || further.length > 0) socket.destroy();
    else answerAndClose(socket, new ApiError('request_timeout', sentence));
  };
  /** Answers that are not sent whole, in the order of their requests. */
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
    let deadline = setTimeout(() => unlessArriving(request, whole), withinMs);
    const restAfterAnswer = (): void => {
      if (isOver(request) || uploads.has(request)) return;
      clearTimeout(deadline);
      deadline = setTimeout(() => unlessArriving(request, () => socket.destroy()), withinMs);
    };
    const end = (): void => {
      clearTimeout(deadline);
      uploads.get(request)?.stop();
      uploads.delete(request);
      response.off('finish', restAfterAnswer);
      socket.off('close', end);
    };
    response.once('finish', restAfterAnswer);
    request.once('end', end).once('close', () => isOver(request) && end());
    socket.once('close', end);
    starts.set(request, () => {
      clearTimeout(deadline);
      const slow = (): void => {
        const { bytes, inMs } = leastOfUpload;
        refuse(
          socket,
          `Less than ${Math.round(bytes / 1024)} KB of the upload arrived in ${inMs / 1_000} seconds. Send it again, over a faster line.`,
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
 * From here on the body of a request may take as long as it moves. To be called when it is known that the sender may send one; a server
 * without `endSlowClients` has no limits.
 */
export function takesUpload(request: IncomingMessage): void {
  const start = starts.get(request);
  if (start === undefined || uploads.has(request) || isOver(request)) return;
  uploads.set(request, start());
}

/** Calls `slow` after a stretch of time in which too little came, unless it is us who did not take more. */
function watchRate(
  request: IncomingMessage,
  { bytes, inMs }: NonNullable<SlowClients['leastOfUpload']>,
  slow: () => void,
): Upload {
  const { socket } = request;
  let before = socket.bytesRead;
  let stood = false;
  // Where nobody reads, what arrived waits: then the stretch says nothing about the client.
  const look = setInterval(() => {
    stood ||= request.readableLength >= request.readableHighWaterMark;
  }, inMs / 10).unref();
  const judge = setInterval(() => {
    const arrived = socket.bytesRead - before;
    const isSlow = arrived < bytes && !stood && request.readableLength < request.readableHighWaterMark;
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

/** A process that was busy or paused hears of its timers before it reads what came meanwhile: such a body arrives faster than this. */
const stillArriving = { bytes: 4 * 1024, inMs: 50 };

/** Calls `late` unless the body is whole, or becomes whole from what is still coming at the speed of a usual client. */
function unlessArriving(request: IncomingMessage, late: () => void, before = -stillArriving.bytes): void {
  const { bytesRead } = request.socket;
  if (isOver(request)) return;
  if (bytesRead - before < stillArriving.bytes) late();
  else setTimeout(() => unlessArriving(request, late, bytesRead), stillArriving.inMs);
}

const isOver = (request: IncomingMessage): boolean => request.complete || request.socket.destroyed;

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
