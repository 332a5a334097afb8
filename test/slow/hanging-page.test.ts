import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { childChecker } from '#services/cli/check/child-checker.ts';
import { checkFolder } from '#services/cli/check/check-folder.ts';
import { devSite } from '#services/cli/dev/dev-site.ts';
import { folderProject } from '#services/cli/folder-project.ts';
import { newFolder } from '../support/new-folder.ts';

const program = {
  entry: new URL('../../services/page-renderer/test-children/hanging-renderer.ts', import.meta.url),
  addons: true,
};
/** Limit of processor time. An honest page takes less, also in a process that has just started. */
const pageDeadlineMs = 4_000;
const how = { program, pageDeadlineMs };

function folderWithHangingPage(): string {
  const folder = newFolder();
  mkdirSync(join(folder, 'guides'));
  const navigation = { pages: ['index', 'guides/hangs'] };
  writeFileSync(
    join(folder, 'docs.json'),
    JSON.stringify({ name: 'A', theme: 'mint', colors: { primary: '#123456' }, navigation }),
  );
  writeFileSync(join(folder, 'index.mdx'), '---\ntitle: A\n---\n\nHello. See [nothing](/none).\n');
  writeFileSync(join(folder, 'guides/hangs.mdx'), '---\ntitle: B\n---\n\nPages hang here.\n');
  return folder;
}

test('a check names a page that hangs its process, and checks the others', { timeout: 300_000 }, async () => {
  const checker = childChecker(how);
  onTestFinished(() => checker.close());
  const { findings } = await checkFolder(await folderProject(folderWithHangingPage()), checker, { pages: true });
  const found = findings.map(({ finding: { code, file } }) => `${code} ${file}`);
  expect(found).toContain('page-not-rendered guides/hangs.mdx');
  expect(found).toContain('broken-link index.mdx');
});

test('a preview shows the source of a page that hangs its process, and goes on', { timeout: 300_000 }, async () => {
  const site = await devSite(folderWithHangingPage(), () => [], { how });
  onTestFinished(() => site.close());
  const bodyOf = async (target: string) => {
    const file = await site.answer(target);
    return file.kind === 'file' ? { body: Buffer.from(file.body).toString(), failure: file.page?.failure } : undefined;
  };
  const hanging = await bodyOf('/guides/hangs.html');
  expect(hanging?.body).toContain('Pages hang here.');
  expect(hanging?.failure).toBeTruthy();
  expect((await bodyOf('/index.html'))?.body).toContain('Hello.');
});
