import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { compileScript, parse } from 'vue/compiler-sfc';
import { type AgentGateway, agentGateway } from '../support/agent-gateway.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { suiteBrowser } from '../support/suite-browser.ts';
import { openWatched, pageWith, servePages } from './widget-pages.ts';

const root = join(import.meta.dirname, '../..');

/** Starts of applications, as their frameworks make them for a new project. */
const reactStart = (name: string): string => `
  import { StrictMode } from 'react'; import { createRoot } from 'react-dom/client'; import { ${name} } from './${name}.tsx';
  const app = createRoot(document.getElementById('root')!);
  window.mount = () => app.render(<StrictMode><${name} /></StrictMode>);
  window.unmount = () => app.render(null);
  window.mount();`;
const vueStart = `
  import { createApp } from 'vue/dist/vue.runtime.esm-bundler.js'; import Assistant from './Assistant.vue';
  let app;
  window.mount = () => { app = createApp(Assistant); app.mount('#root'); };
  window.unmount = () => app.unmount();
  window.mount();`;

describeWithServers(['chromium'], 'the examples of the widget', () => {
  const { newContext } = suiteBrowser();
  let gateway: AgentGateway;
  let examples: Map<string, string>;
  beforeAll(async () => {
    gateway = await agentGateway();
    const page = await readFile(join(root, 'infra/docs/interfaces/widget.mdx'), 'utf8');
    // The documentation's values are those of this installation.
    const text = page
      .replaceAll('https://bindery.example.com', gateway.url)
      .replaceAll('svc_dsc_…', gateway.acme.assistantKey);
    examples = new Map(
      [...text.matchAll(/```\w+ (\S+)\n(.*?)\n```/gs)].map(([, name = '', code = '']) => [name, code]),
    );
  });
  afterAll(() => gateway.close());

  const exampleOf = (name: string): string => {
    const code = examples.get(name);
    if (code === undefined) throw new Error(`the page has no example ${name}`);
    return code;
  };

  /** The script of an application with one of the examples. */
  async function built(start: string, sources: Readonly<Record<string, string>>): Promise<string> {
    const files = new Map(
      Object.entries({ ...sources, 'main.tsx': start }).map(([name, code]) => [join(root, 'test', name), code]),
    );
    const bundle = await rolldown({
      input: join(root, 'test/main.tsx'),
      platform: 'browser',
      logLevel: 'silent',
      transform: {
        define: {
          'process.env.NODE_ENV': '"development"',
          ...{ __VUE_OPTIONS_API__: 'false', __VUE_PROD_DEVTOOLS__: 'false' },
          __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
        },
      },
      plugins: [
        {
          name: 'documentation',
          resolveId: (id, importer) => {
            const own = id.startsWith('./') && importer?.endsWith('main.tsx') ? join(root, 'test', id) : id;
            return files.has(own) ? own : undefined;
          },
          load: (id) => {
            const code = files.get(id);
            return code === undefined ? undefined : { code, moduleType: id.endsWith('.vue') ? 'js' : 'tsx' };
          },
        },
      ],
    });
    const { output } = await bundle.generate({ format: 'iife', codeSplitting: false });
    await bundle.close();
    return output[0].code;
  }

  /** Opens a page of another origin than the gateway. `app`: the script of an application. */
  async function opened(script: string, app = '') {
    // A script in a page ends at the first end tag, also within a string.
    const own =
      app === ''
        ? ''
        : `<div id="root"></div><script type="module">${app.replaceAll('</script', '<\\/script')}</script>`;
    const host = await servePages({ '/': { html: pageWith(own, script) } });
    onTestFinished(() => host.close());
    return openWatched(newContext, host.url);
  }
  const loading = () => `<script src="${gateway.url}/_bindery/widget.js" defer></script>`;

  const answerTo = async ({ page }: Awaited<ReturnType<typeof opened>>, question: string): Promise<string> => {
    await page.locator('.assistant-field').fill(question);
    await page.keyboard.press('Enter');
    await page.locator('.assistant-turn .assistant-actions').last().waitFor();
    return (await page.locator('.assistant-answer').last().textContent()) ?? '';
  };
  const question = 'How do I rotate an API key?';

  test('HTML', async () => {
    const site = await opened(exampleOf('page.html'));
    await site.page.getByRole('button', { name: 'Ask AI' }).click();
    expect(await answerTo(site, question)).toContain('press "Rotate"');
    expect(site.problems).toEqual([]);
  });

  test('React, in strict mode: mounted, removed, and mounted again', async () => {
    const code = exampleOf('src/Assistant.tsx');
    const site = await opened(loading(), await built(reactStart('Assistant'), { 'Assistant.tsx': code }));
    expect(await answerTo(site, question)).toContain('press "Rotate"');
    await site.page.evaluate('unmount()');
    await expect.poll(() => site.page.locator('bindery-widget').count()).toBe(0);
    await site.page.evaluate('mount()');
    await site.page.locator('#root bindery-widget .assistant-turn').waitFor();
    expect(await site.page.locator('bindery-widget').count()).toBe(1);
    expect(site.problems).toEqual([]);
  });

  test('React, with an interface of its own', async () => {
    const code = exampleOf('src/OwnAssistant.tsx');
    const site = await opened(loading(), await built(reactStart('OwnAssistant'), { 'OwnAssistant.tsx': code }));
    await site.page.getByRole('button', { name: 'Ask' }).click();
    const link = site.page.locator('article a').first();
    expect(await link.getAttribute('href')).toBe('https://docs.example.com/guides/keys#rotate-a-key');
    expect(await site.page.locator('article p').textContent()).toContain('press "Rotate"');
    expect(await site.page.locator('bindery-widget').count()).toBe(0);
    expect(site.problems).toEqual([]);
  });

  test('Vue: mounted, removed, and mounted again', async () => {
    const { descriptor, errors } = parse(exampleOf('src/Assistant.vue'));
    expect(errors).toEqual([]);
    const { content } = compileScript(descriptor, { id: 'assistant', inlineTemplate: true });
    const site = await opened(loading(), await built(vueStart, { 'Assistant.vue': content }));
    await site.page.getByRole('button', { name: 'How do I rotate a key?' }).click();
    await site.page.locator('.assistant-turn .assistant-actions').waitFor();
    expect(await site.page.locator('.assistant-answer').textContent()).toContain('press "Rotate"');
    await site.page.evaluate('unmount()');
    expect(await site.page.locator('bindery-widget').count()).toBe(0);
    await site.page.evaluate('mount()');
    await site.page.getByRole('button', { name: 'Ask AI' }).click();
    expect(await site.page.locator('.assistant-turn').count()).toBe(1);
    expect(site.problems).toEqual([]);
  });
});
