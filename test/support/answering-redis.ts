import { createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export type AnsweringRedis = {
  url: string;
  /** The answer to the commands that match `answers`, in the protocol of Redis. A test may replace it. */
  answer: string;
  close(): Promise<void>;
};

/** A server with the protocol of Redis, which answers commands that match `answers` with `answer`, and all others with `OK`. */
export async function answeringRedis(answers: RegExp, answer: string): Promise<AnsweringRedis> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = '';
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      for (let command = takeCommand(); command !== undefined; command = takeCommand()) {
        const info = 'redis_version:7.0.0\r\nloading:0';
        if (answers.test(command)) socket.write(running.answer);
        else socket.write(command === 'info' ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
      }
    });
    /** The name of the next whole command, which is an array of strings with their lengths. */
    function takeCommand(): string | undefined {
      const [head = '', count] = /^\*(\d+)\r\n/.exec(received) ?? [];
      if (count === undefined) return undefined;
      let [at, name] = [head.length, ''];
      for (let left = Number(count); left > 0; left -= 1) {
        const [start = '', length] = /^\$(\d+)\r\n/.exec(received.slice(at, at + 30)) ?? [];
        const end = at + start.length + Number(length);
        if (length === undefined || received.length < end + 2) return undefined;
        if (name === '') name = received.slice(at + start.length, end).toLowerCase();
        at = end + 2;
      }
      received = received.slice(at);
      return name;
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const running: AnsweringRedis = {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer,
    async close() {
      const closed = once(server.close(), 'close');
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return running;
}
