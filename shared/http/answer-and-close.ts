import type { Socket } from 'node:net';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import type { ApiError } from './errors.ts';

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Content Too Large',
  429: 'Too Many Requests',
};

/** Sends an error response on a connection without a complete request, and closes it. */
export function answerAndClose(socket: Socket, error: ApiError): void {
  const requestId = `req_${randomBase62(22)}`;
  const body = JSON.stringify(error.toBody(requestId));
  const { status, retryAfterSeconds } = error;
  socket.on('error', () => {});
  socket.write(
    [
      `HTTP/1.1 ${status} ${reasons[status] ?? 'Error'}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      ...(retryAfterSeconds === undefined ? [] : [`retry-after: ${retryAfterSeconds}`]),
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  // After `end` alone, the client could keep the connection open without limit.
  socket.destroySoon();
}
