import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { apiClient } from './api-client.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Where it listens: `127.0.0.1:1234`. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close().closeAllConnections());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
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
  await expect(asked).rejects.toThrow(`http://${host} answers, but not as Bindery does. Is --url right?`);
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
  expect(said).toContain('The export goes on. Follow it with "bindery jobs --watch se_1"');
});
