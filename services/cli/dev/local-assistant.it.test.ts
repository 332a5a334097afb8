import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newFolder } from '../../../test/support/new-folder.ts';
import { localAssistant } from './local-assistant.ts';
import { openDev } from './open-dev.ts';

const settings = {
  ...{ name: 'Acme', theme: 'mint', colors: { primary: '#123456' } },
  navigation: { pages: ['guides/keys', 'guides/secret'] },
};
const keys = (how: string): string => `---\ntitle: Keys\n---\n\n## Rotate a key\n\n${how}\n`;

async function startPreview(docsJson: string) {
  const folder = newFolder();
  await mkdir(join(folder, 'guides'));
  await writeFile(join(folder, 'docs.json'), docsJson);
  await writeFile(join(folder, 'guides/keys.mdx'), keys('Press the red button to rotate a key.'));
  await writeFile(
    join(folder, 'guides/secret.mdx'),
    '---\ntitle: Secret\ngroups: [staff]\n---\n\nRotate the hidden key.\n',
  );
  const said: string[] = [];
  const errors: unknown[] = [];
  const assistant = localAssistant(folder, (sentence) => said.push(sentence));
  const dev = await openDev(folder, { port: 0, assistant, onError: (error) => errors.push(error) });
  onTestFinished(async () => {
    await dev.close();
    expect(errors).toEqual([]);
  });
  const ask = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(dev.server.url + path, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', ...headers },
    });
    const text = await response.text();
    // The answer comes in pieces of a few words.
    const said = Array.from(text.matchAll(/"delta":("(?:[^"\\\\]|\\\\.)*")/g), ([, piece = '']) =>
      String(JSON.parse(piece)),
    );
    return { status: response.status, text, said: said.join(''), headers: response.headers };
  };
  const question = (text: string, more: object = {}) => ({
    ...{ fp: 'anonymous', messages: [{ id: 'm0', role: 'user', parts: [{ type: 'text', text }] }] },
    ...more,
  });
  return { folder, said, dev, ask, question };
}

const messages = '/discovery/v2/assistant/preview/message';
const within = { timeout: 60_000, interval: 100 };

test('pages answer from the folder, also after a change and in a thread, and not for other sites', {
  timeout: 90_000,
}, async () => {
  const { folder, dev, ask, question } = await startPreview(JSON.stringify(settings));
  const config = await (await fetch(`${dev.server.url}/_bindery/config.js`)).text();
  expect(config).toContain('features.assistant = true');
  const rotate = () => ask(messages, question('How do I rotate a key?'));
  await expect.poll(async () => (await rotate()).said, within).toContain('red button');
  const answer = await rotate();
  expect(answer.status).toBe(200);
  expect(answer.said).toContain('/guides/keys#rotate-a-key');
  expect(answer.said).not.toContain('hidden');
  const thread = { threadId: answer.headers.get('x-thread-id'), threadKey: answer.headers.get('x-thread-key') };
  const later = await ask(messages, question('And which button is it?', thread));
  expect(later.headers.get('x-thread-id')).toBe(thread.threadId);
  const messageId = /"messageId":"([^"]+)"/.exec(later.text)?.[1];
  expect((await ask('/discovery/v1/feedback/preview', { ...thread, messageId, rating: 'up' })).status).toBe(200);

  await writeFile(join(folder, 'guides/keys.mdx'), keys('Turn the blue wheel to rotate a key.'));
  await expect.poll(async () => (await rotate()).said, within).toContain('blue wheel');

  expect((await ask(messages, question('How?'), { origin: 'https://other.example' })).status).toBe(405);
  expect((await ask(messages, { fp: 'anonymous' })).status).toBe(400);
});

test('a project that cannot be read is answered when it can', async () => {
  const { folder, said, ask, question } = await startPreview('{');
  await expect.poll(() => said.join(), within).toContain('cannot be read');
  expect((await ask(messages, question('How do I rotate a key?'))).status).toBe(503);
  await writeFile(join(folder, 'docs.json'), JSON.stringify(settings));
  const rotate = async () => (await ask(messages, question('How do I rotate a key?'))).said;
  await expect.poll(rotate, within).toContain('red button');
});
