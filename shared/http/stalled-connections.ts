import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is under way on a connection. */
type Exchange = { request: IncomingMessage; response: ServerResponse };

/**
 * Ends connections on which nothing has moved for `afterMs` and whose client is to go on: a body that stops arriving, an answer that its
 * client stops reading, a connection between requests. Where the next step is ours it may take longer: a request that is being worked on, a
 * body that we are not taking yet, an answer that we have no more of yet.
 * `refuse` answers a body that stopped, and closes the connection. When the server closes, connections on which nothing was asked yet end, too, and
 * others as soon as what was asked is answered: browsers open some in advance and keep all of them, and Node would wait for these. A request that is
 * on its way in that moment is still answered.
 */
export function endStalledConnections(
  server: Server,
  afterMs: number,
  refuse: (socket: Socket) => void = (socket) => socket.destroy(),
): void {
  const exchanges = new WeakMap<Socket, Exchange>();
  // Sets the timer of each socket. It starts again with every byte in either direction, also while a long write goes on.
  server.setTimeout(afterMs, (socket: Socket) => {
    const { request, response } = exchanges.get(socket) ?? {};
    const isIdle = request === undefined || response === undefined || response.writableFinished;
    if (isIdle || response.writableLength > 0 || socket.writableLength > 0) socket.destroy();
    else if (response.headersSent || request.complete) socket.setTimeout(afterMs);
    // When the buffer is full, it is us who take no more.
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
  // Node calls it when a server closes: once, so that what is busy then would stay, and it counts connections without a request as busy.
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

/** Longer than a request takes from its client to us. */
const onItsWayMs = 250;
