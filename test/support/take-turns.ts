import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type TurnTaker = {
  url: string;
  /** Number of connections of each server. */
  counts: readonly number[];
  close(): Promise<void>;
};

/** Load balancer on loopback: each new connection goes to the next server, and a server that refuses it is skipped. */
export async function takeTurns(ports: readonly number[], port = 0): Promise<TurnTaker> {
  const counts = ports.map(() => 0);
  const sockets = new Set<Socket>();
  let next = 0;

  function hand(client: Socket, triesLeft: number): void {
    const turn = next % ports.length;
    next += 1;
    const server = connect(ports[turn] ?? 0, '127.0.0.1');
    let isConnected = false;
    sockets.add(server);
    server.once('connect', () => {
      isConnected = true;
      counts[turn] = (counts[turn] ?? 0) + 1;
      client.pipe(server).pipe(client);
    });
    server.on('error', () => {
      if (!isConnected && triesLeft > 1) hand(client, triesLeft - 1);
      else client.destroy();
    });
    server.once('close', () => {
      sockets.delete(server);
      // The next read of the connection fails at once.
      if (isConnected) client.destroy();
    });
    client.once('close', () => server.destroy());
  }

  const balancer = createServer((client) => {
    sockets.add(client);
    client.on('error', () => client.destroy()).once('close', () => sockets.delete(client));
    hand(client, ports.length);
  });
  balancer.listen(port, '127.0.0.1');
  await once(balancer, 'listening');
  return {
    url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    counts,
    async close() {
      for (const socket of sockets) socket.destroy();
      balancer.close();
      await once(balancer, 'close');
    },
  };
}
