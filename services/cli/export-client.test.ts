import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { downloadBundle, downloadVerified } from './export-client.ts';

test('a store that cannot be reached is named, with what to do', async () => {
  const [port] = await freePorts(1);
  const link = {
    jobId: 'se_1',
    bundleUrl: `http://127.0.0.1:${port}/bundle?signature=secret`,
    expiresAt: '2026-01-01T00:00:00.000Z',
    sizeBytes: 1,
    sha256: '0'.repeat(64),
  };
  const download = downloadVerified(link, '/nowhere/bundle.tar.gz');
  await expect(download).rejects.toThrow(
    new RegExp(`^The bundle cannot be downloaded from http://127\\.0\\.0\\.1:${port}: .*ECONNREFUSED.* ask for a link`),
  );
  await expect(download).rejects.not.toThrow('secret');
});

test('a store may end the connection while the disk is slower than it', async () => {
  const folder = newFolder();
  const bundle = randomBytes(4_000_000);
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${bundle.length}\r\nconnection: close\r\n\r\n`;
  const server = createServer((socket) =>
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from(head), bundle]))),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const bundleUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/bundle`;
    const sha256 = createHash('sha256').update(bundle).digest('hex');
    const link = { bundleUrl, sizeBytes: bundle.length, sha256 };
    for (let download = 0; download < 20; download += 1) {
      const file = join(folder, String(download));
      await downloadBundle(link, file);
      expect((await readFile(file)).equals(bundle)).toBe(true);
    }
  } finally {
    server.close();
  }
});

test('Ctrl-C in a download leaves no part of it behind', async () => {
  const folder = newFolder();
  const downloading = Promise.withResolvers<void>();
  const server = createHttpServer(({ method, url = '' }, response) => {
    if (url === '/bundle.tar.gz') {
      downloading.resolve();
      response.write(randomBytes(100_000));
      return;
    }
    const bundleUrl = `http://127.0.0.1:${port()}/bundle.tar.gz`;
    const link = { bundleUrl, sizeBytes: 1_000_000, sha256: '0'.repeat(64), expiresAt: '2026-01-01T00:00:00.000Z' };
    const job = { jobId: 'se_1', status: 'completed', progress: 100, pageCount: 1 };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(method === 'POST' && url.endsWith('/bundle') ? link : job));
  });
  const port = () => (server.address() as AddressInfo).port;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const program = join(import.meta.dirname, 'bindery.mjs');
  const options = ['--url', `http://127.0.0.1:${port()}`, '--key', 'k'];
  const child = spawn(process.execPath, [program, 'export', 'docs', '--out', join(folder, 'site.tar.gz'), ...options]);
  try {
    const ended = once(child, 'close');
    const parts = async () => (await readdir(folder)).join();
    child.stderr.resume();
    await downloading.promise;
    await expect.poll(parts).toBe('site.tar.gz.part');
    child.kill('SIGINT');
    expect((await ended)[0]).toBe(130);
    expect(await parts()).toBe('');
  } finally {
    child.kill('SIGKILL');
    server.close().closeAllConnections();
  }
});
