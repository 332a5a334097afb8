import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  CancellationTokenSource,
  CompletionRequest,
  DocumentLinkRequest,
  ExitNotification,
  HoverRequest,
  ShutdownRequest,
} from 'vscode-languageserver-protocol/node';
import { generatedFiles } from '../support/docs-projects.ts';
import { newFolder } from '../support/new-folder.ts';
import { startEditor } from '../support/test-editor.ts';

const bindery = new URL('../../services/cli/bindery.mjs', import.meta.url).pathname;
const soon = { timeout: 240_000, interval: 100 };

/* Floods and hostile documents. The server answers afterwards as before, and ends when it is asked to. */
test('the language server lives with floods, large and hostile documents', { timeout: 280_000 }, async () => {
  const folder = newFolder();
  const files = generatedFiles('Flood', 200);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const page = Object.keys(files).findLast((path) => path.endsWith('.mdx')) ?? '';
  const editor = await startEditor({ folder, command: [process.execPath, bindery] });
  const { connection } = editor;
  const messages = (): string => JSON.stringify(editor.diagnostics.get(editor.uriOf(page)) ?? []);
  const at = (file: string, line = 0, character = 0) => ({
    textDocument: { uri: editor.uriOf(file) },
    position: { line, character },
  });
  await editor.open(page, `${files[page] ?? ''}\n[Somewhere](/gone-1)\n`);
  await expect.poll(messages, soon).toContain('/gone-1');

  const zero = { line: 6, character: 0 };
  for (let count = 0; count < 10_000; count += 1)
    void editor.change(page, [{ range: { start: zero, end: zero }, text: 'a' }]);
  await editor.change(page, `${files[page] ?? ''}\n[Somewhere](/gone-2)\n`);
  await expect.poll(messages, soon).toContain('/gone-2');

  const line = `${'x'.repeat(80)}\n`;
  await editor.open('large.mdx', line.repeat(65_000));
  await expect.poll(() => editor.codesOf('large.mdx'), soon).toEqual(['page-too-large']);
  for (let count = 0; count < 200; count += 1)
    void editor.change('large.mdx', [{ range: { start: zero, end: zero }, text: 'a' }]);
  expect(await connection.sendRequest(HoverRequest.type, at('large.mdx', 30_000, 4))).toBeNull();
  await editor.close('large.mdx');

  const hostile = ['<', '{', '[', '`', '<a ', '<A b={', '"', '---\n'].map((part) => part.repeat(50_000)).join('\n');
  await editor.open('hostile.mdx', hostile);
  for (let row = 0; row < 8; row += 1) {
    await connection.sendRequest(CompletionRequest.type, at('hostile.mdx', row, 49_000));
    await connection.sendRequest(HoverRequest.type, at('hostile.mdx', row, 49_000));
  }
  await editor.close('hostile.mdx');
  await editor.open('docs.json', '{"navigation":'.repeat(20_000));
  await connection.sendRequest(CompletionRequest.type, at('docs.json', 0, 250_000));
  await expect.poll(() => editor.codesOf('docs.json')?.length, soon).toBe(1);
  await editor.close('docs.json');
  await expect.poll(() => editor.codesOf('docs.json'), soon).toEqual([]);

  const cancelled = Array.from({ length: 200 }, () => {
    const source = new CancellationTokenSource();
    const asked = connection
      .sendRequest(DocumentLinkRequest.type, { textDocument: { uri: editor.uriOf(page) } }, source.token)
      .then(
        () => true,
        () => true,
      );
    source.cancel();
    return asked;
  });
  expect((await Promise.all(cancelled)).every(Boolean)).toBe(true);

  await editor.change(page, `${files[page] ?? ''}\n[Somewhere](/gone-3)\n`);
  await expect.poll(messages, soon).toContain('/gone-3');
  await connection.sendRequest(ShutdownRequest.type);
  await connection.sendNotification(ExitNotification.type);
  expect(await editor.ended).toBe(0);
  connection.dispose();
});
