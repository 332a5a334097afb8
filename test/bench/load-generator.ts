import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * Measures the throughput of a server on loopback with keep-alive connections, each with one request in flight at a time. It runs in a separate
 * process and reads as little of an answer as it can, so that it uses less processor time than the server.
 */
export type LoadOptions = {
  port: number;
  /** Paths of the requests, in turns. All are GET. */
  paths: readonly string[];
  headers?: Readonly<Record<string, string>>;
  /** Host names of the requests, in turns; by default the address of the server. */
  hosts?: readonly string[];
  connections: number;
  seconds: number;
};

export type Load = {
  requestsPerSecond: number;
  /** Durations in milliseconds. */
  medianMs: number;
  p99Ms: number;
  /** Number of answers by status. */
  statuses: Record<string, number>;
};

/** Loads a server for some seconds. Rejects when a connection breaks. */
export async function measureLoad(options: LoadOptions): Promise<Load> {
  const child = fork(import.meta.filename, { env: { ...process.env, LOAD: JSON.stringify(options) } });
  const [outcome] = (await once(child, 'message')) as [Load | { error: string }];
  if ('error' in outcome) throw new Error(outcome.error);
  return outcome;
}

const endOfHead = '\r\n\r\n';

async function generate({
  port,
  paths,
  headers = {},
  hosts = [`127.0.0.1:${port}`],
  connections,
  seconds,
}: LoadOptions): Promise<Load> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const requests = hosts.flatMap((host) =>
    paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${lines.join('')}\r\n`)),
  );
  const times: number[] = [];
  const statuses: Record<string, number> = {};
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  let next = 0;

  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let askedAt = 0;
      /** Bytes of the body that are missing; undefined in the head. */
      let left: number | undefined;
      let head = '';
      const send = (): void => {
        if (performance.now() >= endsAt) return void socket.end(resolve);
        askedAt = performance.now();
        socket.write(requests[next++ % requests.length] ?? '');
      };
      socket.once('connect', send);
      socket.once('error', reject);
      socket.once('end', () => reject(new Error('The server ended a connection.')));
      socket.on('data', (chunk) => {
        let bytes = chunk.length;
        if (left === undefined) {
          head += chunk.toString('latin1');
          const end = head.indexOf(endOfHead);
          if (end === -1) return;
          const status = head.slice(9, 12);
          statuses[status] = (statuses[status] ?? 0) + 1;
          left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
          bytes = head.length - end - endOfHead.length;
          head = '';
        }
        left -= bytes;
        if (left > 0) return;
        left = undefined;
        times.push(performance.now() - askedAt);
        send();
      });
    });

  await Promise.all(Array.from({ length: connections }, ask));
  const took = (performance.now() - startedAt) / 1_000;
  times.sort((a, b) => a - b);
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(part * times.length))] ?? Number.NaN;
  return { requestsPerSecond: times.length / took, medianMs: at(0.5), p99Ms: at(0.99), statuses };
}

if (process.env.LOAD !== undefined) {
  const answer = (outcome: Load | { error: string }) => process.send?.(outcome, () => process.exit(0));
  generate(JSON.parse(process.env.LOAD) as LoadOptions).then(answer, (error: Error) =>
    answer({ error: error.message }),
  );
}
