import { createConnection } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const retryMs = 10;

/** Resolves when something accepts TCP connections on this loopback port. @throws when nothing does within the deadline. */
export async function acceptsConnections(port: number, deadlineMs = 10_000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await canConnect(port))) {
    if (performance.now() > end) throw new Error(`nothing accepts connections on port ${port} after ${deadlineMs} ms`);
    await delay(retryMs);
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    const finish = (connected: boolean): void => {
      socket.destroy();
      resolve(connected);
    };
    socket.once('connect', () => finish(true)).once('error', () => finish(false));
  });
}
