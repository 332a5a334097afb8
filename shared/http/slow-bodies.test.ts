import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { endSlowClients, headerTimeouts, type SlowClients, takesUpload } from './slow-bodies.ts';

let ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends) end();
  ends = [];
});

async function start(
  limits: Partial<SlowClients>,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  timeouts: object = headerTimeouts,
) {
  const server = createServer(timeouts, handle);
  endSlowClients(server, { stalledAfterMs: 60_000, ...limits });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return async (head: string) => {
    const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    ends.push(() => socket.destroy());
    socket.write(head);
    const ended = async () => {
      await withDeadline(closed, 8_000, () => new Error(`The connection remains open: ${text}`));
      return text;
    };
    /** Sends a byte every few milliseconds until the connection ends. */
    const trickle = (byte = 'x') => {
      const timer = setInterval(() => socket.write(byte), 5);
      const stop = () => clearInterval(timer);
      ends.push(stop);
      return stop;
    };
    return { socket, ended, trickle, text: () => text };
  };
}

const read = (request: IncomingMessage, response: ServerResponse): void => {
  request.resume().on('end', () => response.end('whole'));
};
const put = 'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n';
const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
const timedOut =
  /^HTTP\/1\.1 408 Request Timeout\r\n[^]*connection: close[^]*"error":"The body[^"]+","code":"request_timeout"/;

describe('a body', () => {
  test.each([
    ['with a length', put, 'x'],
    ['in chunks', chunked, '1\r\nx\r\n'],
    ['of a GET', put.replace('PUT', 'GET'), 'x'],
    ['in whose trailer the sender stays', `${chunked}0\r\nX-A: `, 'x'],
  ])('%s that arrives byte by byte is answered with 408', async (_name, head, byte) => {
    const open = await start({ bodyWithinMs: 100 }, read);
    const client = await open(head);
    client.trickle(byte);
    expect(await client.ended()).toMatch(timedOut);
  });

  test('without a reader is answered with 408 too', async () => {
    const open = await start({ bodyWithinMs: 100 }, () => {});
    const client = await open(put);
    client.trickle();
    expect(await client.ended()).toMatch(timedOut);
  });

  test.each([
    ['that is sent at once', 'x'.repeat(200_000), /^HTTP\/1\.1 200 OK[^]*whole$/],
    ['whose sender is slow after that', 'x'.repeat(150_000), timedOut],
  ])('%s has its time from when we take it', async (_name, sent, seen) => {
    let take = (): void => {};
    const asked = new Promise<void>((resolve) => {
      take = resolve;
    });
    const open = await start({ bodyWithinMs: 200 }, (request, response) => {
      if (request.url === '/delayed') void asked.then(() => read(request, response));
      else read(request, response);
    });
    const client = await open('PUT /delayed HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n');
    client.socket.write(sent);
    // A request that is read at once, and whose deadline began later, has ended meanwhile.
    const other = await open(put);
    other.trickle();
    expect(await other.ended()).toMatch(timedOut);
    expect(client.text()).toBe('');
    take();
    if (sent.length < 200_000) client.trickle();
    await expect.poll(() => client.text()).toMatch(seen);
  });

  test('whose response was sent before it arrived no longer keeps the connection', async () => {
    const open = await start({ bodyWithinMs: 100 }, (_request, response) => response.end('early'));
    const client = await open(put);
    client.trickle();
    expect(await client.ended()).toMatch(/^HTTP\/1\.1 200 OK[^]*early/);
  });

  test.each([
    ['is being sent', (response: ServerResponse) => response.write('begins'), /^HTTP\/1\.1 200 OK(?![^]*408)/],
    ['is still being made', () => {}, /^$/],
  ])('behind another request whose response %s is not answered in its place', async (_name, handle, seen) => {
    const open = await start({ bodyWithinMs: 100 }, (request, response) => {
      if (request.method === 'GET') handle(response);
      else read(request, response);
    });
    const client = await open(`GET / HTTP/1.1\r\nHost: x\r\n\r\n${put}`);
    client.trickle();
    expect(await client.ended()).toMatch(seen);
  });

  test('that is slow behind a request with a complete response is answered with 408', async () => {
    const open = await start({ bodyWithinMs: 100 }, read);
    const client = await open(`${put.replace('100000', '3')}abc${put}`);
    client.trickle();
    expect(await client.ended()).toMatch(/^HTTP\/1\.1 200 OK[^]*whole(?=HTTP\/1\.1 408)/);
  });

  test('during whose response it is still slow ends both', async () => {
    const open = await start({ bodyWithinMs: 100 }, (_request, response) => response.write('begins'));
    const client = await open(put);
    client.trickle();
    expect(await client.ended()).toMatch(/^HTTP\/1\.1 200 OK(?![^]*408)/);
  });

  test('of a later request on the same connection has the same time, and a connection may have many', async () => {
    const open = await start({ bodyWithinMs: 100 }, read);
    const client = await open('');
    for (let count = 1; count <= 20; count += 1) {
      client.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
      await expect.poll(() => client.text().split('whole').length - 1).toBe(count);
    }
    client.socket.write(put);
    client.trickle();
    expect(await client.ended()).toMatch(/408 Request Timeout/);
  });

  test('that has arrived is read, although the process was busy at its deadline', async () => {
    const open = await start({ bodyWithinMs: 50 }, (request, response) => {
      read(request, response);
      request.once('data', () => {
        // Blocks until the timer is due before the rest is read.
        for (const until = performance.now() + 150; performance.now() < until; );
      });
    });
    const body = 'x'.repeat(400_000);
    const client = await open(
      `PUT / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(await client.ended()).toMatch(/^HTTP\/1\.1 200 OK[^]*whole/);
  });
});

describe('an upload', () => {
  const upload = (request: IncomingMessage, response: ServerResponse): void => {
    takesUpload(request);
    read(request, response);
  };

  test('stays open while it makes progress', async () => {
    const open = await start({ bodyWithinMs: 50, leastOfUpload: { bytes: 5, inMs: 200 } }, (request, response) => {
      const isUpload = request.method === 'PUT';
      (isUpload ? upload : read)(request, response);
    });
    const client = await open(chunked.replace('POST', 'PUT'));
    const stop = client.trickle('1\r\nx\r\n');
    // Longer than four times the deadline of another body.
    for (let count = 0; count < 4; count += 1) {
      const other = await open(put.replace('PUT', 'POST'));
      expect(await other.ended()).toMatch(timedOut);
    }
    stop();
    client.socket.write('0\r\n\r\n');
    await expect.poll(() => client.text()).toMatch(/^HTTP\/1\.1 200 OK[^]*whole/);
  });

  test('that almost stops is ended', async () => {
    const open = await start({ leastOfUpload: { bytes: 10_000, inMs: 200 } }, upload);
    const client = await open(put);
    client.trickle();
    expect(await client.ended()).toMatch(/^HTTP\/1\.1 408 [^]*Less than 10 KB of the upload arrived in 0\.2 seconds/);
  });

  test('that the server does not read stays open', async () => {
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
    const open = await start({ bodyWithinMs: 50, leastOfUpload: { bytes: 10_000, inMs: 100 } }, (request, response) => {
      if (request.method !== 'PUT') return read(request, response);
      takesUpload(request);
      request.on('end', () => response.end('whole'));
      resolve(request);
    });
    const client = await open(put.replace('100000', '20000000'));
    client.socket.write(Buffer.alloc(20_000_000));
    const taken = await promise;
    for (let count = 0; count < 5; count += 1) await (await open(put.replace('PUT', 'POST'))).ended();
    taken.resume();
    await expect.poll(() => client.text()).toMatch(/^HTTP\/1\.1 200 OK[^]*whole/);
  });
});

test('headers that arrive byte by byte end, and so does an idle connection', async () => {
  const open = await start({}, read, { ...headerTimeouts, headersTimeout: 100, connectionsCheckingInterval: 20 });
  const slow = await open('GET / HTTP/1.1\r\nHost: x\r\nX-A: ');
  slow.trickle();
  const silent = await open('');
  await Promise.all([slow.ended(), silent.ended()]);
});
