import { createServer, type ServerResponse } from 'node:http';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { assistantBehind } from '../clients/assistant-harness.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { createOrganization, gatewayHarness } from '../support/gateway-harness.ts';
import { onLoopback } from '../support/on-loopback.ts';
import { suiteBrowser } from '../support/suite-browser.ts';
import { serveFolder, siteFolder, siteInBrowser } from './site-folder.ts';

const page = (title: string, text: string): string => `---\ntitle: "${title}"\n---\n\n${text}\n`;
const files = {
  'docs.json': JSON.stringify({
    name: 'Acme',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    navigation: { pages: ['index', 'guides/keys', 'guides/export'] },
  }),
  'index.mdx': page('Start', 'Welcome to [keys](/guides/keys).\n\n## First steps\n\nOpen the dashboard.'),
  'guides/keys.mdx': page('API keys', 'Keys open the interface.\n\n## Rotate a key\n\nPress Rotate on the keys page.'),
  'guides/export.mdx': page('Static export', 'An export is one archive.\n\n## Start a job\n\nSend a request.'),
};
const unusedKey = `svc_dsc_${'0'.repeat(36)}`;

const event = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;
const delta = (text: string): string => event({ type: 'text-delta', id: 'a', delta: text });
const start = event({ type: 'start', messageId: 'msg_1', messageMetadata: { threadId: 'th_1' } });
const finish = `${event({ type: 'finish', threadId: 'th_1' })}data: [DONE]\n\n`;

const panelOf = (opened: Page) => opened.locator('.assistant-panel');
const field = (opened: Page) => opened.locator('.assistant-field');
const lastTurn = (opened: Page) => opened.locator('.assistant-turn').last();
/** Asks a question, and waits until the answer has ended. */
async function ask(opened: Page, question: string): Promise<string> {
  await field(opened).fill(question);
  await opened.keyboard.press('Enter');
  await lastTurn(opened).locator('.assistant-actions, .assistant-problem').first().waitFor();
  return (await lastTurn(opened).textContent()) ?? '';
}

describeWithServers(['chromium'], 'the assistant in a page', () => {
  vi.setConfig({ testTimeout: 60_000 });
  const { newContext } = suiteBrowser();

  /** A page of a cloud bundle on a separate web server. */
  async function site(platform: { serverUrl: string; assistantKey: string }, options: BrowserContextOptions = {}) {
    const folder = await siteFolder(files, { deployment: 'cloud', domain: 'docs', site: platform });
    const host = await serveFolder(folder);
    onTestFinished(() => host.close());
    const context = await newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const opened = await context.newPage();
    const problems: string[] = [];
    opened.on('pageerror', (error) => problems.push(error.message));
    await opened.goto(`${host.url}/docs/index.html`);
    return { opened, context, problems, home: `${host.url}/docs/` };
  }

  /** A platform with the extractive answerer. */
  async function platform() {
    const gateway = await gatewayHarness({}, assistantBehind());
    onTestFinished(() => gateway.close());
    const { assistantKey } = await createOrganization(gateway);
    return { serverUrl: await gateway.app.listen({ host: '127.0.0.1', port: 0 }), assistantKey };
  }

  /** A server that answers every question with a text that the test sets. */
  async function scripted(write: (response: ServerResponse, body: Record<string, unknown>) => void) {
    const bodies: Record<string, unknown>[] = [];
    const gone: Promise<void>[] = [];
    const server = createServer((request, response) => {
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('access-control-allow-headers', 'authorization, content-type, x-thread-key, x-resumable');
      response.setHeader('access-control-expose-headers', 'x-thread-id, x-thread-key');
      if (request.method === 'OPTIONS') return void response.end();
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => (text += part));
      request.on('end', () => {
        const body = JSON.parse(text) as Record<string, unknown>;
        bodies.push({
          ...body,
          url: request.url,
          key: request.headers.authorization,
          threadKey: request.headers['x-thread-key'],
        });
        gone.push(new Promise((resolve) => response.on('close', resolve)));
        response.setHeader('content-type', 'text/event-stream');
        write(response, body);
      });
    });
    const { url: serverUrl, close } = await onLoopback(server);
    onTestFinished(() => close());
    return { platform: { serverUrl, assistantKey: unusedKey }, bodies, gone };
  }

  test('answers from another origin, with sources; the thread continues over pages; ratings arrive', async () => {
    const { opened, problems } = await site(await platform());
    const loaded: string[] = [];
    const sent: { body: Record<string, unknown>; url: string }[] = [];
    opened.on('request', (request) => {
      loaded.push(request.url());
      if (request.method() === 'POST') sent.push({ body: request.postDataJSON(), url: request.url() });
    });
    expect(await opened.locator('script[src*="assistant.js"]').count()).toBe(0);
    await opened.keyboard.press('Control+i');
    await panelOf(opened).waitFor();
    expect(await opened.evaluate('document.activeElement.className')).toBe('assistant-field');
    expect(await ask(opened, 'How do I rotate an API key?')).toContain('The old key works for one more day');
    expect(sent[0]?.body).toMatchObject({ currentPath: '/index', fp: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(await opened.locator('.assistant-log [role=status], [role=log][aria-live=off]').count()).toBe(1);

    await opened.locator('.assistant-sources a').first().click();
    await opened.waitForURL(/guides\/keys\.html#rotate-a-key$/);
    await panelOf(opened).waitFor();
    expect(await opened.locator('.assistant-turn').count()).toBe(1);
    expect(await ask(opened, 'How do I start an export job?')).toContain('POST request');
    const second = sent.findLast(({ url }) => url.endsWith('/message'))?.body;
    expect(second).toMatchObject({ threadId: expect.stringMatching(/^th_/), currentPath: '/guides/keys' });
    expect(second?.['messages']).toHaveLength(1);

    const rated = opened.waitForResponse(/feedback/);
    await lastTurn(opened).locator('[data-rating=up]').click();
    expect((await rated).status()).toBe(200);
    expect(await lastTurn(opened).locator('[data-rating=up]').getAttribute('aria-pressed')).toBe('true');

    await opened.getByRole('button', { name: 'New conversation' }).click();
    expect(await opened.locator('.assistant-turn').count()).toBe(0);
    await opened.keyboard.press('Escape');
    await panelOf(opened).waitFor({ state: 'hidden' });
    expect(problems).toEqual([]);
  });

  test('takes a question from the search, and the selection of a reader', async () => {
    const { platform, bodies } = await scripted((response) => response.end(start + delta('Yes.') + finish));
    const { opened } = await site(platform);
    await opened.keyboard.press('/');
    await opened.locator('.search-input').fill('export');
    await opened.locator('.search-ask').click();
    await lastTurn(opened).locator('.assistant-actions').waitFor();
    expect(bodies.find(({ url }) => String(url).includes('/assistant/'))).toMatchObject({
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'export' }] }],
      key: `Bearer ${unusedKey}`,
    });
    await opened.locator('.mdx-content p').last().selectText();
    await opened.locator('.assistant-about').click();
    await ask(opened, 'What is this?');
    expect(bodies.at(-1)).toMatchObject({
      context: [{ type: 'textSelection', value: 'Open the dashboard.', path: '/index' }],
      threadId: 'th_1',
    });
  });

  test('stops on request of the reader, and the server notices it', async () => {
    const { platform, gone } = await scripted((response) => response.write(start + delta('Half an ')));
    const { opened } = await site(platform);
    await opened.locator('.assistant-entry').click();
    await field(opened).fill('Go on?');
    await opened.keyboard.press('Enter');
    await lastTurn(opened).getByText('Half an').waitFor();
    await opened.getByRole('button', { name: 'Stop' }).click();
    await lastTurn(opened).getByText('You stopped this answer.').waitFor();
    await gone[0];
    await opened.getByRole('button', { name: 'Try again' }).click();
    await lastTurn(opened).getByText('Half an').waitFor();
    expect(await opened.locator('.assistant-turn').count()).toBe(1);
  });

  test.each([
    [400, 'could not process this question'],
    [401, 'the key of this site was rejected'],
    [403, 'the key of this site was rejected'],
    [404, 'does not know this site'],
    [429, 'too many questions'],
    [503, 'is not available right now'],
  ])('explains status %i in a sentence', async (status, sentence) => {
    const { platform } = await scripted((response) => response.writeHead(status).end('{}'));
    const { opened } = await site(platform);
    await opened.locator('.assistant-entry').click();
    expect(await ask(opened, 'Why?')).toContain(sentence);
  });

  test('reports a wrong key, a server that is down, and a reader who is offline', async () => {
    const wrong = await site({ ...(await platform()), assistantKey: unusedKey });
    await wrong.opened.locator('.assistant-entry').click();
    expect(await ask(wrong.opened, 'Why?')).toContain('the key of this site was rejected');
    const { opened, context } = await site({ serverUrl: 'http://127.0.0.1:9', assistantKey: unusedKey });
    await opened.locator('.assistant-entry').click();
    expect(await ask(opened, 'Why?')).toContain('is not available right now');
    await context.setOffline(true);
    expect(await ask(opened, 'And now?')).toContain('You are offline.');
  });

  test('begins a new thread automatically when the old one is gone', async () => {
    const { platform, bodies } = await scripted((response, body) => {
      if (body['threadId'] === 'th_1' && bodies.length === 2) response.writeHead(404).end('{}');
      else response.end(start + delta('Yes.') + finish);
    });
    const { opened } = await site(platform);
    await opened.locator('.assistant-entry').click();
    await ask(opened, 'One?');
    expect(await ask(opened, 'Two?')).toContain('Yes.');
    expect(bodies[2]?.['threadId']).toBeUndefined();
    expect(bodies[2]?.['messages']).toHaveLength(3);
  });

  test('sends no platform the threads of another one, and begins a new thread if the stored one is not its own', async () => {
    const answer = (response: ServerResponse): void => {
      response.setHeader('x-thread-key', 'key_1');
      response.end(start + delta('Yes.') + finish);
    };
    const first = await scripted(answer);
    const second = await scripted(answer);
    const { opened, context, problems } = await site(first.platform);
    await opened.locator('.assistant-entry').click();
    await ask(opened, 'One?');
    await ask(opened, 'Two?');
    expect(first.bodies.map(({ threadKey }) => threadKey)).toEqual([undefined, 'key_1']);
    await context.route('**/_bindery/config.js', async (route) => {
      const text = await (await route.fetch()).text();
      await route.fulfill({ body: text.replace(first.platform.serverUrl, second.platform.serverUrl) });
    });
    const damaged = { threadId: 'th_1', threadKey: '', turns: [{ question: 'x', text: 'y', sources: [{ url: 7 }] }] };
    const place = `bindery-assistant:docs@${second.platform.serverUrl}`;
    for (const kept of [undefined, damaged]) {
      if (kept !== undefined)
        await context.addInitScript(`sessionStorage.setItem('${place}', ${JSON.stringify(JSON.stringify(kept))})`);
      await opened.reload();
      await panelOf(opened).waitFor();
      await ask(opened, 'Three?');
      const asked = second.bodies.at(-1);
      expect([asked?.['threadKey'], asked?.['threadId']]).toEqual([undefined, undefined]);
      expect(asked?.['messages']).toHaveLength(1);
    }
    expect(problems).toEqual([]);
  });

  test('shows scripts as text, makes no javascript links, loads no pictures and skips unknown chunks', async () => {
    const text =
      '<script>window.hacked = 1</script> <img src=x onerror="hacked=1">\n\n[a](javascript:hacked=1) [b](data:text/html,x) [c](//evil.test/) [d](/guides/keys#rotate-a-key) ![p](http://evil.test/p.png)\n\n<javascript:hacked=1>';
    const { platform } = await scripted((response) =>
      response.end(
        `${start}data: {{{\n\nevent: odd\ndata: 7\n\n${event({ type: 'tool-magic', html: '<b>' })}${event({ type: 'source-url', sourceId: '1', url: 'javascript:hacked=1', title: '<b>x</b>' })}${delta(text)}${finish}`,
      ),
    );
    const { opened, problems } = await site(platform);
    const asked: string[] = [];
    opened.on('request', (request) => asked.push(request.url()));
    await opened.locator('.assistant-entry').click();
    expect(await ask(opened, 'Attack?')).toContain('<script>window.hacked = 1</script>');
    const links = await lastTurn(opened)
      .locator('a')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(links).toEqual(['./guides/keys.html#rotate-a-key', 'http://evil.test/p.png']);
    expect(await panelOf(opened).locator('script, img, b, iframe').count()).toBe(0);
    expect(await opened.evaluate('window.hacked')).toBeUndefined();
    expect(asked.filter((url) => url.includes('evil'))).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('ends an answer of ten megabytes, and one with more elements than a page should have', async () => {
    let answer = 0;
    const { platform, gone } = await scripted((response) => {
      answer += 1;
      response.write(start);
      const part = delta(answer === 1 ? 'word '.repeat(200) : '- a\n'.repeat(500));
      const send = (left: number): void => {
        if (left <= 0 || response.destroyed) return;
        if (response.write(part)) setImmediate(() => send(left - 1));
        else response.once('drain', () => send(left - 1));
      };
      send(10_000);
    });
    const { opened } = await site(platform);
    await opened.locator('.assistant-entry').click();
    for (const question of ['Long?', 'Many?']) expect(await ask(opened, question)).toContain('too long and ends here');
    await Promise.all(gone);
    expect(await lastTurn(opened).locator('*').count()).toBeLessThan(5000);
  });

  test('reports that an answer was interrupted, and keeps its beginning', async () => {
    const answering = Promise.withResolvers<ServerResponse>();
    const { platform } = await scripted((response) => {
      response.write(start + delta('**Half** an answ'));
      answering.resolve(response);
    });
    const { opened } = await site(platform);
    await opened.locator('.assistant-entry').click();
    const asked = ask(opened, 'Cut?');
    // When a connection breaks, browsers drop data that the page has not read yet.
    await lastTurn(opened).getByText('Half').waitFor();
    (await answering.promise).destroy();
    const shown = await asked;
    expect(shown).toContain('Half an answ');
    expect(shown).toContain('The answer was interrupted.');
  });

  test('is a sheet on phones: the rest of the page is inert, and a source leads to its page', async () => {
    const { platform } = await scripted((response) =>
      response.end(start + delta('See [keys](/guides/keys).') + finish),
    );
    const { opened } = await site(platform, { viewport: { width: 390, height: 844 } });
    await opened.locator('.assistant-entry').click();
    await ask(opened, 'Where?');
    expect(await panelOf(opened).evaluate((panel) => panel.matches(':modal'))).toBe(true);
    expect((await panelOf(opened).boundingBox())?.width).toBe(390);
    await lastTurn(opened).locator('.assistant-answer a').click();
    await opened.waitForURL(/guides\/keys\.html$/);
    expect(await panelOf(opened).count()).toBe(0);
  });
});

describeWithServers(['chromium'], 'the assistant in an air-gapped site', () => {
  const { open, problems } = siteInBrowser(files, { deployment: 'air-gapped', domain: 'docs' });

  test('does not exist', async () => {
    const opened = await open('index.html');
    await opened.keyboard.press('Control+i');
    await opened.locator('.mdx-content p').last().selectText();
    expect(await opened.locator('.assistant-entry, .assistant-about, .assistant-panel').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});
