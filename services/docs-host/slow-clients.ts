import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** How long the headers of a request may take to arrive. */
export const headersWithinMs = 10_000;
const mostWaiting = 1_000;

/**
 * Bounds the connections on which no request has arrived yet: of too many the one that waited longest is closed. So whoever opens thousands
 * and sends their headers byte by byte closes his own, and readers, whose headers come at once, are answered.
 */
export function closeSlowest(server: Server, most = mostWaiting): void {
  /** In the order in which they came. */
  const waiting = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    waiting.add(socket);
    socket.once('close', () => waiting.delete(socket));
    if (waiting.size <= most) return;
    const [slowest] = waiting;
    if (slowest !== undefined) {
      waiting.delete(slowest);
      slowest.destroy();
    }
  });
  server.prependListener('request', ({ socket }) => waiting.delete(socket));
}
