import { createServer, type Server } from 'node:net';

/** Systems give ports by themselves from 32,768 up (Linux) or 49,152 up (others): nobody is given one of these while its service starts or is away. */
const firstPort = 20_000;
const portCount = 12_000;
/** A prime: processes that begin at the same time, with ids close to each other, look in different places. */
const portsApart = 97;

let looked = process.pid * portsApart;

/** `count` different free ports of the loopback address. None is given twice in a process. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tried = 0; ports.length < count; tried += 1) {
    if (tried === portCount) throw new Error(`There are no ${count} free ports from ${firstPort} on.`);
    const port = firstPort + (looked++ % portCount);
    if (await isFree('127.0.0.1', port)) ports.push(port);
  }
  return ports;
}

/** Whether a server could listen there now. */
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
