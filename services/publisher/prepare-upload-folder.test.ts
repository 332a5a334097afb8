import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { prepareUploadFolder } from './prepare-upload-folder.ts';

test('what was left more than a day ago goes, what may still be in use stays', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'bindery-uploads-')), 'uploads');
  const now = new Date('2026-03-02T12:00:00Z');
  await prepareUploadFolder(folder, now);
  await mkdir(join(folder, 'old'));
  await mkdir(join(folder, 'new'));
  await utimes(join(folder, 'old'), now, new Date('2026-03-01T11:00:00Z'));
  await utimes(join(folder, 'new'), now, new Date('2026-03-02T11:00:00Z'));
  await prepareUploadFolder(folder, now);
  expect(await readdir(folder)).toEqual(['new']);
  await rm(join(folder, '..'), { recursive: true });
});
