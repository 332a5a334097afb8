import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';

const bindery = new URL('./bindery.mjs', import.meta.url).pathname;

/** A client that starts the command and speaks its lines, as agents do. */
function startMcp(folder: string) {
  const child = spawn(process.execPath, [bindery, 'mcp', folder], { stdio: ['pipe', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill());
  const waiting = new Map<number, (answer: Record<string, never>) => void>();
  createInterface(child.stdout).on('line', (line) => {
    // A line that is no message would break the protocol.
    const answer = JSON.parse(line);
    waiting.get(answer.id)?.(answer);
  });
  let said = '';
  child.stderr.on('data', (text) => (said += String(text)));
  let id = 0;
  const write = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    child,
    said: () => said,
    notify: (method: string) => write({ method }),
    ask: async (method: string, params: object = {}) => {
      id += 1;
      const answered = new Promise<Record<string, never>>((resolve) => waiting.set(id, resolve));
      write({ id, method, params });
      return await answered;
    },
  };
}

test('an agent asks about the project in a folder, also after it changed', async () => {
  const folder = newFolder();
  await mkdir(join(folder, 'guides'));
  const settings = {
    name: 'Acme',
    theme: 'mint',
    colors: { primary: '#123456' },
    navigation: { pages: ['guides/keys', 'guides/secret'] },
  };
  await writeFile(join(folder, 'docs.json'), JSON.stringify(settings));
  await writeFile(
    join(folder, 'guides/keys.mdx'),
    '---\ntitle: Keys\n---\n\n## Rotate\n\nPress Rotate to get a new key.\n',
  );
  await writeFile(join(folder, 'guides/secret.mdx'), '---\ntitle: Secret\ngroups: [staff]\n---\n\nThe hidden words.\n');
  await mkdir(join(folder, '.mintlify/skills/deploy'), { recursive: true });
  const skill = '---\nname: deploy\ndescription: Deploy to production.\n---\n\n# Deploy\n';
  await writeFile(join(folder, '.mintlify/skills/deploy/SKILL.md'), skill);
  const mcp = startMcp(folder);
  const clientInfo = { name: 'test', version: '1' };
  const hello = await mcp.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  expect(hello).toMatchObject({ result: { serverInfo: { name: 'docs', title: 'Acme' } } });
  mcp.notify('notifications/initialized');
  const call = async (name: string, args: object) => (await mcp.ask('tools/call', { name, arguments: args })).result;
  expect(await mcp.ask('tools/list')).toMatchObject({
    result: { tools: ['search', 'read_page', 'list_pages', 'find_in_pages'].map((name) => ({ name })) },
  });
  expect(await call('search', { query: 'new key' })).toMatchObject({
    structuredContent: { passages: [{ path: 'guides/keys' }] },
  });
  expect(await call('read_page', { paths: ['guides/keys'], section: 'rotate' })).toMatchObject({
    structuredContent: { pages: [{ content: expect.stringContaining('Press Rotate') }] },
  });
  expect(await call('list_pages', {})).toMatchObject({ structuredContent: { totalPages: 1 } });
  expect(await mcp.ask('resources/list')).toMatchObject({
    result: {
      resources: ['skills/acme', 'skills/deploy', 'pages/guides/keys'].map((uri) => ({ uri: `docs://${uri}` })),
    },
  });
  expect(await mcp.ask('resources/read', { uri: 'docs://skills/deploy' })).toMatchObject({
    result: { contents: [{ text: skill }] },
  });
  expect(JSON.stringify(await call('find_in_pages', { pattern: 'hidden' }))).not.toContain('hidden words');
  await writeFile(join(folder, 'guides/keys.mdx'), '---\ntitle: Keys\n---\n\nTurnips are new here.\n');
  await expect
    .poll(async () => JSON.stringify(await call('find_in_pages', { pattern: 'turnips' })))
    .toContain('Turnips are new here.');
  mcp.child.stdin.end();
  const code = await new Promise((resolve) => mcp.child.once('exit', resolve));
  expect([code, mcp.said()]).toEqual([0, expect.stringContaining('Agents can ask about "Acme" now.')]);
});
