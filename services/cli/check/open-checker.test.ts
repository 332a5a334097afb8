import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openChecker } from './open-checker.ts';

test('small projects are checked one after the other by the thread, without child processes', async () => {
  const checker = openChecker(() => Promise.reject(new Error('The thread did not answer.')));
  try {
    for (const page of ['one', 'two', 'three']) {
      const folder = await mkdtemp(join(tmpdir(), 'bindery-checked-'));
      await writeFile(join(folder, 'docs.json'), JSON.stringify({ name: 'A', navigation: { pages: [page] } }));
      await writeFile(join(folder, `${page}.mdx`), '---\ntitle: A\n---\n\nSee [nothing](/none).\n');
      const { findings } = await checker.check(folder, { pages: true, added: new Map() });
      expect(findings.map(({ finding }) => [finding.code, finding.file])).toContainEqual([
        'broken-link',
        `${page}.mdx`,
      ]);
    }
  } finally {
    await checker.close();
  }
});
