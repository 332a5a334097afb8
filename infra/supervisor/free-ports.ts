import { createServer, type Server } from 'node:net';

/**
 * Start of a range below the ephemeral ports, which begin at 32,768 (Linux) or 49,152 (others), so that the system does not give a port of this range
 * to another process meanwhile.
 */
const firstPort = 20_000;
const portCount = 12_000;
/** Distance between the first candidates of two processes with neighbouring ids. It is a prime, so that processes that start together try different ports. */
const portsApart = 97;

let looked = process.pid * portsApart;

/** Finds `count` different free ports of the loopback address. A process never gets the same port twice. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tried = 0; ports.length < count; tried += 1) {
    if (tried === portCount) throw new Error(`There are no ${count} free ports from ${firstPort} on.`);
    const port = firstPort + (looked++ % portCount);
    if (await isFree('127.0.0.1', port)) ports.push(port);
  }
  return ports;
}

/** True if a server could listen on this address now. */
export async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host, exclusive: true }, resolve);
    });
    return true;
  } catch {
    return false;
  } finally {
    await close(server);
  }
}

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
