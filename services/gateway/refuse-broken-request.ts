import type { Socket } from 'node:net';
import { ApiError } from '#shared/errors/api-error.ts';
import { randomBase62 } from '#shared/identifiers/base62.ts';

/** Answers bytes that are no HTTP request, or one whose headers are too long or too late, and ends the connection. */
export function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = `req_${randomBase62(22)}`;
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const answer = tooLarge
    ? new ApiError('too_large', 'The headers of the request are too large.')
    : new ApiError('invalid_request', 'This is not a valid HTTP request, or it took too long to arrive.');
  const body = JSON.stringify(answer.toBody(requestId));
  socket.end(
    [
      `HTTP/1.1 ${answer.status} ${tooLarge ? 'Content Too Large' : 'Bad Request'}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
