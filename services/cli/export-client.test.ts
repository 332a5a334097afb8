import { expect, test } from 'vitest';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { downloadVerified } from './export-client.ts';

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
