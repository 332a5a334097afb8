import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const readers = 200;
const rounds = 3;
const megabyte = 1_000_000;
/** Bytes that a client reads of its answer before it disconnects. */
const readBeforeVanishing = 256 * 1024;
/**
 * Limits of the gateway's memory, which is about 150 MB at start and limited to 512 MB in Compose: growth at its peak, and growth that is left after
 * clients disconnected. Data in socket buffers belongs to the kernel.
 */
const mostGrowthBytes = 350 * megabyte;
const mostHeldBytes = 20 * megabyte;

let behind: Server;
let gateway: ChildProcess;
let url: URL;
let authorization: string;
/** Open answers of the assistant, and the bytes that it has sent in all. Its answers have no end. */
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

/** Bytes that are resident and in use (`held`) after a garbage collection, and the peak of resident bytes since the previous measurement. */
type Memory = { resident: number; held: number; most: number };

async function memoryOfGateway(): Promise<Memory> {
  gateway.send('memory');
  const [memory] = (await once(gateway, 'message')) as [Memory];
  return memory;
}

/** Sends a question, and reads the beginning of the answer. */
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
  const beginning = await new Promise<Buffer>((resolve) => {
    socket.once('data', (chunk) => {
      socket.pause();
      resolve(chunk);
    });
  });
  expect(beginning.toString('latin1')).toMatch(/^HTTP\/1\.1 200/);
  return socket;
}

/** Waits until nothing more is sent, because all buffers between the assistant and its readers are full. */
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

/** Reads the beginning of the answer, and disconnects in the middle of it as soon as `may` has resolved. */
async function vanishing(may: Promise<unknown>): Promise<void> {
  const socket = await reader();
  const hasRead = Promise.withResolvers<void>();
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes < readBeforeVanishing) return;
    socket.pause();
    hasRead.resolve();
  });
  socket.resume();
  await hasRead.promise;
  arrived += 1;
  await may;
  socket.destroy();
}

let arrived = 0;

test(`${readers} clients that stop reading, and ${readers} that vanish in the middle, at once: memory is bounded`, async () => {
  const before = await memoryOfGateway();
  const inMegabytes = (bytes: number) => (bytes / megabyte).toFixed(0);
  const slow = await Promise.all(Array.from({ length: readers }, reader));
  for (let round = 1; round <= rounds; round += 1) {
    arrived = 0;
    const all = Promise.withResolvers<void>();
    const gone = Promise.all(Array.from({ length: readers }, () => vanishing(all.promise)));
    await expect.poll(() => arrived, { timeout: 60_000 }).toBe(readers);
    expect(open).toBe(2 * readers);
    all.resolve();
    await gone;
    // Answers to disconnected clients end, and the assistant notices it.
    await expect.poll(() => open, { timeout: 60_000 }).toBe(readers);
    await whenStill();
    const { resident, most } = await memoryOfGateway();
    console.log(
      `${readers} clients stopped reading, and ${readers} vanished at once (${round} of ${rounds}): the gateway had ${inMegabytes(before.resident)} MB, ${inMegabytes(most)} MB at most, and has ${inMegabytes(resident)} MB; ${inMegabytes(sentBytes)} MB were sent to it`,
    );
    expect(most - before.resident).toBeLessThan(mostGrowthBytes);
  }

  for (const socket of slow) socket.destroy();
  await expect.poll(() => open, { timeout: 60_000 }).toBe(0);
  const heldMore = async () => (await memoryOfGateway()).held - before.held;
  await expect.poll(heldMore).toBeLessThan(mostHeldBytes);
  console.log(`When all are gone, it holds ${inMegabytes(await heldMore())} MB more than at its start.`);
});
