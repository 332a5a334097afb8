import { expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { fileListText, readFileList } from './listed-files.ts';

test('a service does other work while it reads a long list', async () => {
  const files = Array.from({ length: 10_000 }, (_, at) => ({
    path: `guides/${at}.mdx`,
    sha256: sha256Of(String(at)),
    sizeBytes: at,
  }));
  let turns = 0;
  let isRead = false;
  const turn = (): void => {
    turns += 1;
    if (!isRead) setImmediate(turn);
  };
  setImmediate(turn);
  const read = await readFileList(fileListText(files), { files: 10_000, bytes: 1e9 });
  isRead = true;
  expect(read).toEqual(files);
  expect(turns).toBeGreaterThanOrEqual(4);
});
