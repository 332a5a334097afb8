import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePorts } from '#infra/supervisor/free-ports.ts';
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
  const folder = await mkdtemp(join(tmpdir(), 'bindery-download-'));
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
    await rm(folder, { recursive: true });
  }
});
