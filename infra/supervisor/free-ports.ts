import { createServer, type Server } from 'node:net';

/** `count` different free ports of the loopback address. All are held at the same time, so none is given twice. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)));
  const ports = servers.map(portOf);
  await Promise.all(servers.map(close));
  return ports;
}

/** Whether a server could listen there now. */
export async function isFree(host: string, port: number): Promise<boolean> {
  try {
    await close(await listen(port, host));
    return true;
  } catch {
    return false;
  }
}

function listen(port: number, host = '127.0.0.1'): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => resolve(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A listening server has no port.');
  return address.port;
}

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
