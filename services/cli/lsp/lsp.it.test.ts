import { spawn } from 'node:child_process';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CodeActionRequest,
  type CompletionItem,
  CompletionRequest,
  DefinitionRequest,
  DidChangeWatchedFilesNotification,
  DocumentLinkRequest,
  ExitNotification,
  FileChangeType,
  HoverRequest,
  type Position,
  ShutdownRequest,
  type TextEdit,
  WillRenameFilesRequest,
} from 'vscode-languageserver-protocol/node';
import { newFolder } from '../../../test/support/new-folder.ts';
import { openChecker } from '../check/open-checker.ts';
import { startEditor, type TestEditor } from '../../../test/support/test-editor.ts';

const bindery = new URL('../bindery.mjs', import.meta.url).pathname;
const command = [process.execPath, bindery];
const soon = { timeout: 60_000, interval: 50 };

const settings = {
  $schema: './docs.schema.json',
  name: 'Acme',
  theme: 'mint',
  colors: { primary: '#123456' },
  icons: { library: 'lucide' },
  navigation: { groups: [{ group: 'Start', icon: 'rocket', pages: ['index', 'guides/keys'] }] },
};
const files: Record<string, string> = {
  'docs.json': JSON.stringify(settings, undefined, 2),
  'index.mdx':
    '---\ntitle: Start\n---\n\nRead [the guide](/guides/keys#rotate).\n\n<Card title="Keys" href="/guides/keys" />\n',
  'guides/keys.mdx':
    "---\ntitle: Keys\ndescription: About keys.\n---\n\nimport Note1 from '/snippets/note.mdx';\n\n## Rotate\n\nBack to [the start](../index).\n\n<Note1 />\n",
  'guides/more.mdx': '---\ntitle: More\n---\n\nSee [keys](./keys).\n',
  'snippets/note.mdx': 'A note, and [the start](/index).\n',
  'images/one.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
};

async function newProject(folder = newFolder(), more: Record<string, string> = {}): Promise<string> {
  for (const [path, text] of Object.entries({ ...files, ...more })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** A text with `|` at the place of the cursor. */
function marked(written: string): { text: string; position: Position } {
  const offset = written.indexOf('|');
  const text = written.replace('|', '');
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { text, position: { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 } };
}

/** A text after edits. */
function edited(text: string, edits: readonly TextEdit[]): string {
  const starts = [0, ...[...text.matchAll(/\r\n|\r|\n/g)].map(({ index, 0: end }) => index + end.length)];
  const at = ({ line, character }: Position): number => (starts[line] ?? text.length) + character;
  return [...edits]
    .sort((a, b) => at(b.range.start) - at(a.range.start))
    .reduce((now, { range, newText }) => now.slice(0, at(range.start)) + newText + now.slice(at(range.end)), text);
}

async function ended(editor: TestEditor): Promise<void> {
  await editor.connection.sendRequest(ShutdownRequest.type);
  await editor.connection.sendNotification(ExitNotification.type);
  expect(await editor.ended).toBe(0);
  editor.connection.dispose();
}

describe('an editor', () => {
  let folder: string;
  let editor: TestEditor;
  beforeAll(async () => {
    folder = await newProject();
    editor = await startEditor({ folder, command });
  });
  afterAll(() => ended(editor));

  const type = async (file: string, text: string): Promise<void> => {
    if (editor.diagnostics.has(`opened ${file}`)) return editor.change(file, text);
    editor.diagnostics.set(`opened ${file}`, []);
    return editor.open(file, text);
  };
  const labels = async (file: string, written: string): Promise<CompletionItem[]> => {
    const { text, position } = marked(written);
    await type(file, text);
    const found = await editor.connection.sendRequest(CompletionRequest.type, {
      textDocument: { uri: editor.uriOf(file) },
      position,
    });
    return Array.isArray(found) ? found : (found?.items ?? []);
  };
  const hover = async (file: string, written: string): Promise<string> => {
    const { text, position } = marked(written);
    await type(file, text);
    const found = await editor.connection.sendRequest(HoverRequest.type, {
      textDocument: { uri: editor.uriOf(file) },
      position,
    });
    return JSON.stringify(found?.contents ?? '');
  };

  test('says what it can do', () => {
    expect(editor.server.serverInfo?.name).toBe('bindery');
    expect(editor.server.capabilities).toMatchObject({
      positionEncoding: 'utf-16',
      hoverProvider: true,
      definitionProvider: true,
    });
  });

  test('gets the findings of "bindery check", at their words, and new ones as somebody types', async () => {
    const text =
      '---\ntitle: Start\nrelated: true\n---\n\n🙂🙂 [x](/gone) and <Cardd>a</Cardd>\r\n\r\n![](/images/none.svg)\n\n<Tabs borderBottom><Tab title="A">x</Tab></Tabs>\n';
    await type('index.mdx', text);
    await expect.poll(() => editor.codesOf('index.mdx')?.length, soon).toBeGreaterThan(3);
    const other = await newProject(newFolder(), { 'index.mdx': text });
    const checker = openChecker();
    const { findings } = await checker.check(other, { pages: true, added: new Map() });
    await checker.close();
    const wanted = findings.map(({ finding }) => finding).filter(({ file }) => file === 'index.mdx');
    const found = editor.diagnostics.get(editor.uriOf('index.mdx')) ?? [];
    const said = (all: readonly { code?: unknown; message: unknown }[]): string[] =>
      all.map(({ code, message }) => `${String(code)} ${String(message)}`).toSorted();
    expect(said(found)).toEqual(said(wanted));
    const lines = text.split(/\r\n|\n/);
    const words = found.map(({ code, range }) => [
      code,
      lines[range.start.line]?.slice(range.start.character, range.end.character),
    ]);
    expect(Object.fromEntries(words)).toMatchObject({
      'broken-link': '[x](/gone)',
      'unknown-component': '<Cardd',
      'property-without-effect': 'borderBottom',
    });
    // A change of a range, in UTF-16 units.
    await editor.change('index.mdx', [
      { range: { start: { line: 5, character: 9 }, end: { line: 5, character: 14 } }, text: '/guides/keys' },
    ]);
    await expect.poll(() => editor.codesOf('index.mdx')?.includes('broken-link'), soon).toBe(false);
  });

  test('sees what a change does to other documents, open or not', async () => {
    await type('index.mdx', files['index.mdx'] ?? '');
    await expect.poll(() => editor.codesOf('index.mdx'), soon).toEqual([]);
    await type('guides/keys.mdx', files['guides/keys.mdx'] ?? '');
    await expect.poll(() => editor.codesOf('guides/keys.mdx') ?? [], soon).toEqual([]);
    await type('guides/keys.mdx', (files['guides/keys.mdx'] ?? '').replace('## Rotate', '## Change'));
    await expect.poll(() => editor.codesOf('index.mdx'), soon).toEqual(['broken-anchor']);
    await editor.close('index.mdx');
    editor.diagnostics.delete('opened index.mdx');
    // The page is closed, and still depends on the changed one.
    await type('guides/keys.mdx', (files['guides/keys.mdx'] ?? '').replace('## Rotate', '## Changes'));
    await expect.poll(() => editor.codesOf('index.mdx'), soon).toEqual(['broken-anchor']);
    await type('guides/keys.mdx', files['guides/keys.mdx'] ?? '');
    await expect.poll(() => editor.codesOf('index.mdx'), soon).toEqual([]);
    await type('snippets/note.mdx', 'A note, and [the start](/nowhere).\n');
    await expect.poll(() => editor.codesOf('snippets/note.mdx'), soon).toEqual(['broken-link']);
    await type('snippets/note.mdx', files['snippets/note.mdx'] ?? '');
    await expect.poll(() => editor.codesOf('snippets/note.mdx'), soon).toEqual([]);
  });

  test('completes page paths, anchors, pictures and imports', async () => {
    expect(
      (await labels('index.mdx', 'See [keys](/gui|).')).map(({ label, detail }) => [label, detail]),
    ).toContainEqual(['/guides/keys', 'Keys']);
    expect((await labels('index.mdx', '<Card href="|" />')).map(({ label }) => label)).toContain('/guides/more');
    expect((await labels('index.mdx', '[keys](/guides/keys#|)')).map(({ label }) => label)).toEqual([
      '/guides/keys#rotate',
    ]);
    expect((await labels('index.mdx', '## Own part\n\n[own](#|)')).map(({ label }) => label)).toEqual(['#own-part']);
    expect((await labels('index.mdx', '![x](|)')).map(({ label }) => label)).toEqual(['/images/one.svg']);
    expect((await labels('index.mdx', "import A from '|';")).map(({ label }) => label)).toEqual(['/snippets/note.mdx']);
    const [first] = await labels('index.mdx', '🙂 [keys](/guides/k|eys)');
    expect(first?.textEdit).toMatchObject({ range: { start: { character: 10 }, end: { character: 22 } } });
  });

  test('completes components, props, values, icons and frontmatter, with documentation', async () => {
    const components = await labels('index.mdx', "import Own from '/snippets/note.mdx';\n\n<|");
    expect(components.map(({ label }) => label)).toEqual(expect.arrayContaining(['Card', 'Tree.Folder', 'Own']));
    expect(components.find(({ label }) => label === 'Card')?.documentation).toMatchObject({
      value: expect.stringMatching(/^A box/) as string,
    });
    const props = await labels('index.mdx', '<Card title="x" |>');
    expect(props.map(({ label }) => label)).toEqual(expect.arrayContaining(['href', 'icon']));
    expect(props.map(({ label }) => label)).not.toContain('title');
    expect(props.find(({ label }) => label === 'type')).toMatchObject({ tags: [1] });
    expect((await labels('index.mdx', '<Badge color="|">x</Badge>')).map(({ label }) => label)).toContain('green');
    expect((await labels('index.mdx', '<Card icon="rock|" />')).map(({ label }) => label)).toContain('rocket');
    expect((await labels('index.mdx', '---\ntitle: A\n|\n---\n')).map(({ label }) => label)).toEqual(
      expect.arrayContaining(['sidebarTitle', 'mode']),
    );
    expect((await labels('index.mdx', '---\nmode: |\n---\n')).map(({ label }) => label)).toContain('wide');
    expect(await labels('index.mdx', '```html\n<|\n```\n')).toEqual([]);
    expect(await labels('index.mdx', 'Plain words|')).toEqual([]);
  });

  test('completes pages, icons and values in docs.json', async () => {
    const config = files['docs.json'] ?? '';
    const pages = await labels('docs.json', config.replace('"guides/keys"', '"guides/keys", "|"'));
    expect(pages.map(({ label }) => label)).toContain('index');
    expect(pages.toSorted((a, b) => ((a.sortText ?? '') < (b.sortText ?? '') ? -1 : 1))[0]?.label).toBe('guides/more');
    expect((await labels('docs.json', config.replace('"rocket"', '"rock|"'))).map(({ label }) => label)).toContain(
      'rocket',
    );
    expect((await labels('docs.json', config.replace('"mint"', '"|"'))).map(({ label }) => label)).toContain('maple');
    await type('docs.json', config);
  });

  test('shows the meaning of components, props, frontmatter and settings', async () => {
    expect(await hover('index.mdx', '<Ca|rd title="x" />')).toContain('A box with a title');
    expect(await hover('index.mdx', '<Card ti|tle="x" />')).toContain('Title.');
    expect(await hover('index.mdx', '<Tabs border|Bottom />')).toContain('Has no effect');
    expect(await hover('index.mdx', '---\nsidebar|Title: x\n---\n')).toContain('Shorter title');
    expect(await hover('docs.json', (files['docs.json'] ?? '').replace('"library"', '"libr|ary"'))).toContain(
      'Library in which',
    );
    expect(await hover('docs.json', (files['docs.json'] ?? '').replace('"group"', '"gro|up"'))).toContain(
      'Heading of the group',
    );
    expect(await hover('index.mdx', 'Plain wor|ds')).toBe('""');
  });

  test('goes to the page, the heading, the snippet and the picture of a link, and to pages of the navigation', async () => {
    const goes = async (file: string, written: string): Promise<[string | undefined, number | undefined]> => {
      const { text, position } = marked(written);
      await type(file, text);
      const found = await editor.connection.sendRequest(DefinitionRequest.type, {
        textDocument: { uri: editor.uriOf(file) },
        position,
      });
      const [at] = [found ?? []].flat();
      return at !== undefined && 'uri' in at
        ? [at.uri.replace(pathToFileURL(folder).href, ''), at.range.start.line]
        : [undefined, undefined];
    };
    expect(await goes('index.mdx', '🙂 [keys](/guides/k|eys#rotate)\r\n')).toEqual(['/guides/keys.mdx', 7]);
    expect(await goes('index.mdx', '<Card title="x" href="./guides/mo|re" />')).toEqual(['/guides/more.mdx', 0]);
    expect(await goes('index.mdx', "import A from '/snippets/no|te.mdx';\n\n<A />")).toEqual(['/snippets/note.mdx', 0]);
    expect(await goes('index.mdx', '![One](/images/o|ne.svg)')).toEqual(['/images/one.svg', 0]);
    expect(await goes('docs.json', (files['docs.json'] ?? '').replace('guides/keys', 'guides/|keys'))).toEqual([
      '/guides/keys.mdx',
      0,
    ]);
    expect(await goes('index.mdx', 'No li|nk.')).toEqual([undefined, undefined]);
    await type('index.mdx', files['index.mdx'] ?? '');
    const links = await editor.connection.sendRequest(DocumentLinkRequest.type, {
      textDocument: { uri: editor.uriOf('index.mdx') },
    });
    expect(links?.map(({ target }) => target)).toEqual([
      editor.uriOf('guides/keys.mdx'),
      editor.uriOf('guides/keys.mdx'),
    ]);
  });

  test('repairs findings that have one right repair', async () => {
    const text = 'One<br>line\r\n\r\n[keys](/guides/keys#rotatee) 🙂 [the rest](./guides/more.mdx)\n';
    await type('index.mdx', text);
    await expect
      .poll(() => editor.codesOf('index.mdx')?.toSorted(), soon)
      .toEqual(['broken-anchor', 'link-to-source', 'mdx-repaired']);
    const diagnostics = editor.diagnostics.get(editor.uriOf('index.mdx')) ?? [];
    const actions = await editor.connection.sendRequest(CodeActionRequest.type, {
      textDocument: { uri: editor.uriOf('index.mdx') },
      range: { start: { line: 0, character: 0 }, end: { line: 3, character: 0 } },
      context: { diagnostics },
    });
    const edits = (actions ?? []).map((action) =>
      'edit' in action ? (action.edit?.changes?.[editor.uriOf('index.mdx')] ?? []) : [],
    );
    expect(edits.map((own) => edited(text, own))).toEqual([
      text.replace('<br>', '<br />'),
      text.replace('rotatee', 'rotate'),
      text.replace('./guides/more.mdx', '/guides/more'),
      'One<br />line\r\n\r\n[keys](/guides/keys#rotate) 🙂 [the rest](/guides/more)\n',
    ]);
  });

  test('renames a page in links, imports and the navigation', async () => {
    await type('index.mdx', files['index.mdx'] ?? '');
    await type('docs.json', files['docs.json'] ?? '');
    const rename = async (from: string, to: string): Promise<Record<string, string>> => {
      const found = await editor.connection.sendRequest(WillRenameFilesRequest.type, {
        files: [{ oldUri: editor.uriOf(from), newUri: editor.uriOf(to) }],
      });
      const changes = Object.entries(found?.changes ?? {});
      return Object.fromEntries(
        changes.map(([uri, own]) => {
          const file = Object.keys(files).find((each) => editor.uriOf(each) === uri) ?? uri;
          return [file, edited(files[file] ?? '', own)];
        }),
      );
    };
    expect(await rename('guides/keys.mdx', 'setup/secrets.mdx')).toEqual({
      'index.mdx': (files['index.mdx'] ?? '').replaceAll('/guides/keys', '/setup/secrets'),
      'guides/more.mdx': (files['guides/more.mdx'] ?? '').replace('./keys', '../setup/secrets'),
      'docs.json': (files['docs.json'] ?? '').replace('guides/keys', 'setup/secrets'),
    });
    expect(await rename('snippets/note.mdx', 'snippets/words.mdx')).toEqual({
      'guides/keys.mdx': (files['guides/keys.mdx'] ?? '').replace('note.mdx', 'words.mdx'),
    });
    expect(await rename('guides', 'manual')).toMatchObject({
      'index.mdx': (files['index.mdx'] ?? '').replaceAll('/guides/', '/manual/'),
      'docs.json': (files['docs.json'] ?? '').replace('guides/', 'manual/'),
    });
  });

  test('keeps the pages while docs.json is broken, and says where', async () => {
    await type('docs.json', (files['docs.json'] ?? '').replace('"theme":', '"theme"'));
    await expect.poll(() => editor.codesOf('docs.json'), soon).toEqual(['bad-config']);
    expect(editor.diagnostics.get(editor.uriOf('docs.json'))?.[0]?.range.start.line).toBe(3);
    expect((await labels('index.mdx', 'See [keys](/gui|).')).map(({ label }) => label)).toContain('/guides/keys');
    await type('docs.json', files['docs.json'] ?? '');
    await expect.poll(() => editor.codesOf('docs.json'), soon).toEqual([]);
  });

  test('sees files that change outside of the editor', async () => {
    await type('index.mdx', '[new](/fresh)\n');
    await expect.poll(() => editor.codesOf('index.mdx'), soon).toEqual(['broken-link']);
    await writeFile(join(folder, 'fresh.mdx'), '---\ntitle: Fresh\n---\n\nWords.\n');
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: editor.uriOf('fresh.mdx'), type: FileChangeType.Created }],
    });
    await expect.poll(() => editor.codesOf('index.mdx'), soon).toEqual([]);
    await rename(join(folder, 'fresh.mdx'), join(folder, 'stale.mdx'));
    // The server watches the folder itself, since this editor does not.
    await expect.poll(() => editor.codesOf('index.mdx'), soon).toEqual(['broken-link']);
    await rm(join(folder, 'stale.mdx'));
  });
});

test('a document outside of projects, and one with an address of another kind, get empty answers', async () => {
  const folder = await newProject(join(newFolder(), 'site with ümlauts'));
  const outside = newFolder();
  const editor = await startEditor({ folder: outside, command });
  const asks = async (uri: string): Promise<unknown[]> => {
    const at = { textDocument: { uri }, position: { line: 0, character: 3 } };
    return [
      await editor.connection.sendRequest(CompletionRequest.type, at),
      await editor.connection.sendRequest(HoverRequest.type, at),
      await editor.connection.sendRequest(DefinitionRequest.type, at),
      await editor.connection.sendRequest(DocumentLinkRequest.type, { textDocument: { uri } }),
      await editor.connection.sendRequest(CodeActionRequest.type, {
        textDocument: { uri },
        range: { start: at.position, end: at.position },
        context: { diagnostics: [] },
      }),
    ];
  };
  for (const uri of [
    pathToFileURL(join(outside, 'a.mdx')).href,
    'untitled:Untitled-1',
    'untitled:/etc/docs.json',
    'file:///C%3A/docs/index.mdx',
    'file://other-host/docs/index.mdx',
    'file:///%00',
    'file:///%2e%2e/%2e%2e/etc/passwd',
    'vscode-notebook-cell:/a#b',
    'nonsense',
  ]) {
    await editor.open('a.mdx', '<Card />', uri);
    expect(await asks(uri), uri).toEqual([null, null, null, null, null]);
  }
  await expect(
    editor.connection.sendRequest(WillRenameFilesRequest.type, {
      files: [{ oldUri: 'untitled:a', newUri: 'file:///etc/x' }],
    }),
  ).resolves.toBeNull();
  // A project in a sub-folder that the editor was not told of, under an address with escapes of its own.
  const escaped = pathToFileURL(join(folder, 'index.mdx')).href.replace('index', '%69ndex');
  await editor.open('index.mdx', '[x](/gone)', escaped);
  await expect.poll(() => editor.diagnostics.get(escaped)?.map(({ code }) => code), soon).toEqual(['broken-link']);
  await ended(editor);
});

test('the server ends when the process of the editor is gone, though its input is open', async () => {
  const helper = spawn('sleep', ['600']);
  const editor = await startEditor({ folder: await newProject(), command, processId: helper.pid ?? 0 });
  await editor.open('index.mdx', '[x](/gone)');
  await expect.poll(() => editor.codesOf('index.mdx'), soon).toEqual(['broken-link']);
  helper.kill('SIGKILL');
  expect(await editor.ended).toBe(1);
  editor.connection.dispose();
});

test('the server ends when the editor closes the streams', async () => {
  const editor = await startEditor({ folder: await newProject(), command });
  await editor.open('index.mdx', '[x](/gone)');
  await expect.poll(() => editor.codesOf('index.mdx'), soon).toEqual(['broken-link']);
  editor.child.stdin?.end();
  expect(await editor.ended).toBe(1);
  editor.connection.dispose();
});
