import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { folderUploads } from './folder-files.ts';

vi.mock(import('node:fs/promises'), async (original) => {
  const real = await original();
  return { ...real, mkdir: vi.fn(real.mkdir) as unknown as typeof real.mkdir };
});

test('a file gets to its place although another process removes a folder above it while that is made', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-uploads-'));
  const uploads = folderUploads(join(folder, 'uploads'));
  await uploads.check();
  vi.mocked(mkdir).mockRejectedValueOnce(Object.assign(new Error('gone'), { code: 'ENOENT' }));
  const target = join(folder, 'stored', 'a', 'b');
  expect(await uploads.store(target, true, Buffer.from('x'))).toBe(true);
  expect(await readFile(target, 'utf8')).toBe('x');
  await rm(folder, { recursive: true });
});
