import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireServer } from '#infra/setup/find-server.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import {
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../support/gateway-harness.ts';
import { onLoopback } from '../support/on-loopback.ts';
import { suiteBrowser } from '../support/suite-browser.ts';
import { assistantBehind, scriptedModel, usage } from './assistant-harness.ts';
import { sdkVersions } from './sdk-pages.ts';

describeWithServers(['chromium', 'sdk-versions'], 'the chat page of the documentation', () => {
  let gateway: GatewayHarness;
  let acme: TestOrganization;
  const { newContext } = suiteBrowser();
  beforeAll(async () => {
    gateway = await gatewayHarness({}, assistantBehind());
    acme = await createOrganization(gateway);
  });
  afterAll(async () => {
    await gateway.close();
  });

  /** The script of the page with the newest `useChat`; the documentation's values are those of this installation. */
  async function bundled(base: string, key: string): Promise<string> {
    const page = await readFile(join(import.meta.dirname, '../../infra/docs/interfaces/assistant-api.mdx'), 'utf8');
    const [, written = ''] = /```tsx src\/App\.tsx\n(.*?)\n```/s.exec(page) ?? [];
    const newest = `chat-${sdkVersions.at(-1)}`;
    const app = written
      .replace("'@ai-sdk/react'", `'${newest}'`)
      .replace("'http://localhost:8080'", JSON.stringify(base))
      .replace("'demo'", "'docs'")
      .replace("'svc_dsc_…'", JSON.stringify(key));
    const file = (name: string): string => join(requireServer('sdk-versions'), 'node_modules', newest, name);
    const files = new Map([
      [file('App.tsx'), app],
      [
        file('main.tsx'),
        `import { createRoot } from 'react-dom/client'; import App from './App.tsx';
         createRoot(document.getElementById('root')!).render(<App />);`,
      ],
    ]);
    const built = await rolldown({
      input: file('main.tsx'),
      platform: 'browser',
      logLevel: 'silent',
      transform: { define: { 'process.env.NODE_ENV': '"production"', 'process.env': '{}' } },
      plugins: [
        {
          name: 'documentation',
          resolveId: (id, importer) => {
            const own = id.startsWith('./') && importer?.endsWith('main.tsx') ? file(id.slice(2)) : id;
            return files.has(own) ? own : undefined;
          },
          load: (id) => files.get(id),
        },
      ],
    });
    const { output } = await built.generate({ format: 'iife', codeSplitting: false });
    await built.close();
    return output[0].code;
  }

  /** Serves each script as a page of an origin. */
  async function serve(scripts: ReadonlyMap<string, string>) {
    const server = createServer(({ url = '' }, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(`<!doctype html><div id="root"></div><script type="module">${scripts.get(url) ?? ''}</script>`);
    });
    return await onLoopback(server);
  }

  test('asks from another origin, continues the thread, links the sources and shows errors as sentences', async () => {
    const base = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
    const scripts = new Map([
      ['/good', await bundled(base, acme.assistantKey)],
      ['/bad', await bundled(base, 'svc_dsc_wrong')],
    ]);
    const server = await serve(scripts);
    const origin = server.url;
    try {
      const page = await (await newContext()).newPage();
      await page.goto(`${origin}/good`);
      for (const [at, question] of ['How do I rotate an API key?', 'How long does it still work?'].entries()) {
        await page.getByLabel('Question').fill(question);
        await page.getByRole('button', { name: 'Ask' }).click();
        await page
          .locator('article')
          .nth(at * 2 + 1)
          .getByRole('link')
          .first()
          .waitFor();
      }
      const answers = page.locator('article').filter({ hasText: 'press "Rotate" on the keys page' });
      expect(await answers.count()).toBe(2);
      expect(await answers.first().getByRole('link').getAttribute('href')).toBe(
        'https://docs.example.com/guides/keys#rotate-a-key',
      );
      const [thread] = await gateway.bus.threads.subjects('threads.acme.docs.*');
      expect((await gateway.bus.threads.last(thread ?? ''))?.commit.data.state.turnCount).toBe(2);

      await page.goto(`${origin}/bad`);
      await page.getByLabel('Question').fill('Why?');
      await page.getByRole('button', { name: 'Ask' }).click();
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').textContent()).toMatch(/^The API key is not valid/);
    } finally {
      await server.close();
    }
  });

  test('has a whole answer once, after a lost connection and a reload in the middle', async () => {
    const rest = Promise.withResolvers<void>();
    const model = scriptedModel(async function* (): AsyncGenerator<LanguageModelV4StreamPart> {
      yield { type: 'text-start', id: '1' };
      yield { type: 'text-delta', id: '1', delta: 'Half of it, ' };
      await rest.promise;
      yield { type: 'text-delta', id: '1', delta: 'and the rest.' };
      yield { type: 'text-end', id: '1' };
      yield { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage };
    });
    const slow = await gatewayHarness({}, assistantBehind(model));
    const { assistantKey } = await createOrganization(slow);
    const base = await slow.app.listen({ host: '127.0.0.1', port: 0 });
    const server = await serve(new Map([['/', await bundled(base, assistantKey)]]));
    const page = await (await newContext()).newPage();
    try {
      await page.goto(server.url);
      const ask = async (): Promise<void> => {
        await page.getByLabel('Question').fill('How do I rotate an API key?');
        await page.getByRole('button', { name: 'Ask' }).click();
      };
      const answers = page.locator('article p').filter({ hasText: 'Half of it' });
      await ask();
      await answers.waitFor();
      const resumed = page.waitForResponse(
        (response) => response.url().endsWith('/stream') && response.status() === 200,
      );
      slow.app.server.closeAllConnections();
      await resumed;
      await answers.waitFor();
      await page.reload();
      await answers.waitFor();
      rest.resolve();
      await expect.poll(() => answers.allTextContents()).toEqual(['Half of it, and the rest.']);
      await page.getByRole('button', { name: 'Ask' }).waitFor();
      await page.reload();
      await expect.poll(() => answers.allTextContents()).toEqual(['Half of it, and the rest.']);
    } finally {
      await page.close();
      await server.close();
      await slow.close();
    }
  });
});
