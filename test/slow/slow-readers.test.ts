import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const readers = 200;
const megabyte = 1_000_000;
/**
 * Of the gateway, which starts with some 150 MB, and gets 512 MB in Compose. It grew by 152 and 192 MB in two runs on a busy machine, with
 * 3.4 GB sent to it before all was full: what waits in sockets is the kernel's.
 */
const mostGrowthBytes = 250 * megabyte;

let behind: Server;
let gateway: ChildProcess;
let url: URL;
let authorization: string;
/** What the assistant has open, and has sent in all: its answers have no end. */
let open = 0;
let sentBytes = 0;

beforeAll(async () => {
  const chunk = Buffer.alloc(16_384, 'x');
  behind = createServer((request, response) => {
    request.resume();
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (): void => {
      while (!response.destroyed) {
        sentBytes += chunk.length;
        if (response.write(chunk)) continue;
        response.once('drain', send);
        return;
      }
    };
    send();
  }).listen(0, '127.0.0.1');
  await once(behind, 'listening');
  const assistantUrl = `http://127.0.0.1:${(behind.address() as AddressInfo).port}`;
  gateway = fork(fileURLToPath(new URL('./lone-gateway.ts', import.meta.url)), [assistantUrl], {
    execArgv: ['--expose-gc'],
  });
  const [said] = (await once(gateway, 'message')) as [{ url: string; headers: { authorization: string } }];
  url = new URL(said.url);
  authorization = said.headers.authorization;
});

afterAll(() => {
  gateway.disconnect();
  behind.closeAllConnections();
  behind.close();
});

async function residentBytes(): Promise<number> {
  gateway.send('memory');
  const [memory] = (await once(gateway, 'message')) as [NodeJS.MemoryUsage];
  return memory.rss;
}

/** Asks, reads the beginning of the answer, and no more. */
async function reader(): Promise<Socket> {
  const body = '{"fp":"x","messages":[]}';
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    [
      'POST /discovery/v2/assistant/docs/message HTTP/1.1',
      `host: ${url.host}`,
      `authorization: ${authorization}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      '',
      body,
    ].join('\r\n'),
  );
  await once(socket, 'readable');
  expect(socket.read(12).toString()).toBe('HTTP/1.1 200');
  return socket.pause();
}

/** Until nothing more is sent: all that is between the assistant and its readers is full. */
async function whenStill(): Promise<void> {
  let before = -1;
  await expect
    .poll(
      () => {
        const isStill = sentBytes === before;
        before = sentBytes;
        return isStill;
      },
      { interval: 1_000, timeout: 120_000 },
    )
    .toBe(true);
}

test(`${readers} readers that stop reading, and ${readers} that vanish meanwhile, take bounded memory`, async () => {
  const before = await residentBytes();
  const slow: Socket[] = [];
  for (let at = 0; at < readers; at += 25) {
    const some = await Promise.all(Array.from({ length: 50 }, reader));
    slow.push(...some.slice(0, 25));
    for (const vanishing of some.slice(25)) vanishing.destroy();
  }
  expect(slow).toHaveLength(readers);
  // Who vanished is not answered any more, and the assistant hears of it.
  await expect.poll(() => open, { timeout: 60_000 }).toBe(readers);
  await whenStill();
  const growth = (await residentBytes()) - before;
  const sent = sentBytes;
  console.log(
    `${readers} slow readers: the gateway has ${(before / megabyte).toFixed(0)} MB and grew by ${(growth / megabyte).toFixed(0)} MB; ${(sent / megabyte).toFixed(0)} MB were sent to it`,
  );
  expect(growth).toBeLessThan(mostGrowthBytes);

  for (const socket of slow) socket.destroy();
  await expect.poll(() => open, { timeout: 60_000 }).toBe(0);
});
