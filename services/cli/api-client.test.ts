import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { onLoopback } from '../../test/support/on-loopback.ts';
import { apiClient, type IdleTimer } from './api-client.ts';

/** Starts a server and returns its address: `127.0.0.1:1234`. */
async function serve(listener: RequestListener): Promise<string> {
  const { port, close } = await onLoopback(createServer(listener));
  onTestFinished(() => close());
  return `127.0.0.1:${port}`;
}

test('a server without TLS that is asked with it is a sentence that says so', async () => {
  const host = await serve((_, response) => response.end('{}'));
  const asked = apiClient(`https://${host}`, 'k').json('/v1/jobs');
  await expect(asked).rejects.toThrow(`No answer from https://${host}: it does not speak TLS. Is it http://${host}?`);
});

test('a server that ends connections may speak TLS', async () => {
  const host = await serve((request) => request.socket.destroy());
  const asked = apiClient(`http://${host}`, 'k').json('/v1/jobs');
  await expect(asked).rejects.toThrow(`it ended the connection. If it speaks TLS, it is https://${host}`);
});

test('a server of something else is not taken for one of ours', async () => {
  const host = await serve((_, response) => response.end('<!doctype html>'));
  const asked = apiClient(`http://${host}`, 'k').json('/v1/jobs');
  await expect(asked).rejects.toThrow(`http://${host} answers, but is not a Bindery server. Is --url right?`);
});

test('a server may be below a path of a proxy', async () => {
  const host = await serve((request, response) => response.end(JSON.stringify({ asked: request.url })));
  for (const base of ['', '/', '/bindery', '/bindery/']) {
    const asked = apiClient(`http://${host}${base}`, 'k').json('/v1/jobs?x=1', { query: { status: 'failed' } });
    const prefix = base.replace(/\/$/, '');
    expect(await asked).toEqual({ asked: `${prefix}/v1/jobs?x=1&status=failed` });
  }
});

describe('an idle timeout', () => {
  test('before the answer ends the call with a sentence', async () => {
    const arrived = Promise.withResolvers<void>();
    const host = await serve(() => arrived.resolve());
    const timer = handTimer();
    const asked = apiClient(`http://${host}`, 'k', timer.start).json('/v1/jobs');
    await arrived.promise;
    timer.expire();
    await expect(asked).rejects.toThrow(
      `No answer from http://${host}: it accepted the connection and then sent nothing for 30 s.`,
    );
  });

  test('in an upload begins again with each piece, and ends the upload', async () => {
    const host = await serve(() => {});
    const timer = handTimer();
    const pieces = endlessBody();
    const upload = apiClient(`http://${host}`, 'k', timer.start).raw('/v1/x', { method: 'PUT', body: pieces.body });
    await expect.poll(() => timer.refreshes()).toBeGreaterThan(1);
    timer.expire();
    await expect(upload).rejects.toThrow('sent nothing for 30 s');
    await pieces.cancelled;
  });

  test('in the answer begins again with each piece, and ends the call with a sentence', async () => {
    const host = await serve((_, response) => void response.write('{"jobs":['));
    const timer = handTimer();
    const asked = apiClient(`http://${host}`, 'k', timer.start).json('/v1/jobs');
    // The head of the answer, and its first piece.
    await expect.poll(() => timer.refreshes()).toBe(2);
    timer.expire();
    await expect(asked).rejects.toThrow(`The answer of http://${host} broke off: no data came for 30 s. Try again.`);
  });

  test('is stopped with the call, also with one that fails', async () => {
    const host = await serve((request, response) => response.writeHead(request.url === '/a' ? 200 : 500).end('{}'));
    const timer = handTimer();
    const client = apiClient(`http://${host}`, 'k', timer.start);
    await client.json('/a');
    await expect(client.json('/b')).rejects.toThrow('answered 500');
    expect(timer.running()).toBe(0);
  });
});

test('an answer that breaks off is a sentence', async () => {
  const breaks = await serve((_, response) => void response.write('{"jobs":[', () => response.destroy()));
  await expect(apiClient(`http://${breaks}`, 'k').json('/v1/jobs')).rejects.toThrow('broke off');
});

/** An idle timer that expires when the test says so. */
function handTimer() {
  const started = new Set<() => void>();
  let refreshes = 0;
  return {
    start: (onIdle: () => void): IdleTimer => {
      started.add(onIdle);
      return { refresh: () => void (refreshes += 1), stop: () => void started.delete(onIdle) };
    },
    refreshes: () => refreshes,
    running: () => started.size,
    expire() {
      for (const onIdle of started) onIdle();
    },
  };
}

/** The body exceeds the buffers of any socket. `cancelled` resolves when it is no longer read. */
function endlessBody(): { body: ReadableStream<Uint8Array>; cancelled: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void =>
    controller.enqueue(new Uint8Array(1_000_000));
  return { body: new ReadableStream({ pull, cancel: () => resolve() }), cancelled: promise };
}

test('a redirection is not followed, and names the other address', async () => {
  const heard: string[] = [];
  const other = await serve((request, response) => {
    heard.push(request.method ?? '');
    response.end('{}');
  });
  const host = await serve((request, response) =>
    response.writeHead(301, { location: `http://${other}${request.url}` }).end(),
  );
  const asked = apiClient(`http://${host}`, 'k').json('/v1/jobs', { method: 'POST', json: {} });
  await expect(asked).rejects.toThrow(
    `http://${host} redirects requests to http://${other}. Give --url http://${other} if you trust it.`,
  );
  expect(heard).toEqual([]);
});

test.each([
  [502, '<html>Bad gateway</html>', 'unavailable', 'A proxy in between may not reach it.'],
  [404, '{"message":"no"}', 'internal', 'Is --url right?'],
  [403, 'null', 'internal', 'Is --url right?'],
])('an error of something in between is one sentence: %i %s', async (status, body, code, words) => {
  const host = await serve((_, response) => response.writeHead(status).end(body));
  const failure: unknown = await apiClient(`http://${host}`, 'k')
    .json('/v1/jobs')
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code, status });
  expect(String(failure)).toContain(`http://${host} answered ${status}, and the answer is not from Bindery. ${words}`);
});

test('Ctrl-C while an export is waited for says that it goes on, and how to follow it', async () => {
  const polled = Promise.withResolvers<void>();
  const host = await serve((request, response) => {
    if (request.method === 'GET') polled.resolve();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jobId: 'se_1', status: 'running', progress: 5 }));
  });
  const program = join(import.meta.dirname, 'bindery.mjs');
  const args = ['export', 'docs', '--wait', '--url', `http://${host}`, '--key', 'k'];
  const child = spawn(process.execPath, [program, ...args]);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'close');
  await polled.promise;
  child.kill('SIGINT');
  expect((await ended)[0]).toBe(130);
  expect(said).toContain('The export continues. Follow it with "bindery jobs --watch se_1"');
});
