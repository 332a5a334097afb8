import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The request and response in flight on a connection. */
type Exchange = { request: IncomingMessage; response: ServerResponse };

/**
 * Ends connections that were idle for `afterMs` because of the client: a body that stops arriving, a response that its client stops reading, a
 * connection between requests. If the server must act next, it may take longer: a request in progress, a body that it does not read yet, a response
 * that it has not produced yet. `refuse` answers a body that stopped, and closes the connection. When the server closes, connections without a
 * request end too, and the others end as soon as their requests are answered: browsers open some connections in advance and keep all of them, and
 * Node would wait for them. A request that is in flight at that moment is still answered.
 */
export function endStalledConnections(
  server: Server,
  afterMs: number,
  refuse: (socket: Socket) => void = (socket) => socket.destroy(),
): void {
  const exchanges = new WeakMap<Socket, Exchange>();
  // Sets the timer of each socket. Every byte in either direction restarts it, even during a long write.
  server.setTimeout(afterMs, (socket: Socket) => {
    const { request, response } = exchanges.get(socket) ?? {};
    const isIdle = request === undefined || response === undefined || response.writableFinished;
    if (isIdle || response.writableLength > 0 || socket.writableLength > 0) socket.destroy();
    else if (response.headersSent || request.complete) socket.setTimeout(afterMs);
    // A full buffer means that the server is not reading.
    else if (request.readableLength >= request.readableHighWaterMark) socket.setTimeout(afterMs);
    else refuse(socket);
  });
  const open = new Set<Socket>();
  let isClosing = false;
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.prependListener('request', (request, response) => {
    exchanges.set(request.socket, { request, response });
    if (isClosing) response.shouldKeepAlive = false;
  });
  // Node calls this once when a server closes, so connections that are busy at that moment would stay open. It also counts connections that never had
  // a request as busy.
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    if (isClosing) return;
    isClosing = true;
    for (const socket of open) {
      const response = exchanges.get(socket)?.response;
      if (response?.headersSent === false) response.shouldKeepAlive = false;
    }
    const timer = setInterval(() => {
      for (const socket of open) if (!exchanges.has(socket)) socket.destroy();
      closeIdle();
    }, onItsWayMs);
    server.once('close', () => clearInterval(timer));
  };
}

/** Longer than a request travels from its client to the server. */
const onItsWayMs = 250;
