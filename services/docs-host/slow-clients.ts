import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const mostWaiting = 1_000;

/**
 * Limits the number of connections that have not yet sent a whole request: above it, the one that waited longest is closed. So a client that opens
 * thousands and sends headers or bodies byte by byte, at once or after a first request, closes its own connections. Readers send whole requests at
 * once, so they are answered; browsers reopen an idle connection that was closed.
 */
export function closeSlowest(server: Server, most = mostWaiting): void {
  /** Waiting connections, in the order in which they began to wait. */
  const waiting = new Set<Socket>();
  /** Answers in flight. One connection may have sent several requests at once. */
  const answering = new WeakMap<Socket, number>();
  const wait = (socket: Socket): void => {
    waiting.add(socket);
    if (waiting.size <= most) return;
    const [slowest] = waiting;
    if (slowest === undefined) return;
    waiting.delete(slowest);
    slowest.destroy();
  };
  server.on('connection', (socket: Socket) => {
    socket.once('close', () => waiting.delete(socket));
    wait(socket);
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    // A body may end after its answer; the connection waits again then.
    const arrived = () => (answering.get(socket) ?? 0) > 0 && waiting.delete(socket);
    if (hasBody(request)) request.once('end', arrived);
    else waiting.delete(socket);
    answering.set(socket, (answering.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (answering.get(socket) ?? 1) - 1;
      answering.set(socket, left);
      if (left === 0 && !socket.destroyed) wait(socket);
    });
  });
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
