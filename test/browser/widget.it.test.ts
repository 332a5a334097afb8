import { createServer, type ServerResponse } from 'node:http';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { widgetAnswer } from '#shared/docs/render/site/widget-answer.ts';
import { type AgentGateway, agentGateway, openTestSite } from '../support/agent-gateway.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { findBarriers } from '../support/find-barriers.ts';
import { onLoopback } from '../support/on-loopback.ts';
import { suiteBrowser } from '../support/suite-browser.ts';
import { keepPicture } from './site-folder.ts';
import { assistantKey, openWatched, pageWith, servePages, strictPolicy } from './widget-pages.ts';

const event = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;
const delta = (text: string): string => event({ type: 'text-delta', id: 'a', delta: text });
const start = event({ type: 'start', messageId: 'msg_1', messageMetadata: { threadId: 'th_1' } });
const finish = `${event({ type: 'finish', threadId: 'th_1' })}data: [DONE]\n\n`;

const launcher = (page: Page) => page.locator('bindery-widget .launcher');
const panel = (page: Page) => page.locator('bindery-widget .assistant-panel');
const field = (page: Page) => page.locator('bindery-widget .assistant-field');
const lastTurn = (page: Page) => page.locator('bindery-widget .assistant-turn').last();
const focused = (page: Page) =>
  page.evaluate<string>('(document.activeElement.shadowRoot?.activeElement ?? document.activeElement).className');
/** Asks a question, and waits until the answer has ended. */
async function ask(page: Page, question: string): Promise<string> {
  await field(page).fill(question);
  await page.keyboard.press('Enter');
  await lastTurn(page).locator('.assistant-actions, .assistant-problem').first().waitFor();
  return (await lastTurn(page).textContent()) ?? '';
}
const styleOf = (page: Page, selector: string, name: string) =>
  page.evaluate<string>(
    `getComputedStyle(document.querySelector('bindery-widget').shadowRoot.querySelector('${selector}')).${name}`,
  );
const scriptOf = (server: string, attributes = '', key = assistantKey): string =>
  `<script src="${server}/_bindery/widget.js" data-domain="docs" data-key="${key}" ${attributes}></script>`;

describeWithServers(['chromium'], 'the widget on a page of another site', () => {
  vi.setConfig({ testTimeout: 60_000 });
  const { newContext } = suiteBrowser();
  let gateway: AgentGateway;
  beforeAll(async () => {
    gateway = await agentGateway({ BINDERY_SITES_BASE: 'http://sites.test' });
    await openTestSite(gateway, gateway.acme, { hosts: ['docs.acme.test'] });
  });
  afterAll(() => gateway.close());

  /** A server with the script that answers each question as the test says. `ofChat` answers requests about an answer that can be resumed. */
  async function scripted(
    write: (response: ServerResponse, body: Record<string, unknown>) => void,
    ofChat?: (response: ServerResponse, method: string) => void,
  ) {
    const bodies: Record<string, unknown>[] = [];
    const gone: Promise<void>[] = [];
    const server = createServer((request, response) => {
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('access-control-allow-methods', 'GET, POST, DELETE');
      response.setHeader('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '');
      response.setHeader('access-control-expose-headers', 'x-chat-id');
      if (request.method === 'OPTIONS') return void response.end();
      if (request.url === '/_bindery/widget.js')
        return void widgetAnswer({}, undefined).then((answer) =>
          response.writeHead(200, answer?.headers ?? {}).end(answer?.body),
        );
      if (ofChat !== undefined && request.url === '/discovery/v2/assistant/docs/message/chat_1/stream')
        return ofChat(response, [request.method, request.headers['last-event-id']].join(' ').trim());
      if (request.method === 'GET') return void response.writeHead(404).end('{}');
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => (text += part));
      request.on('end', () => {
        const body = JSON.parse(text) as Record<string, unknown>;
        bodies.push({ ...body, token: request.headers['x-user-token'] });
        gone.push(new Promise((resolve) => response.on('close', resolve)));
        response.setHeader('content-type', 'text/event-stream');
        write(response, body);
      });
    });
    const { url, close } = await onLoopback(server);
    onTestFinished(() => close());
    return { url, bodies, gone };
  }
  const usual = () => scripted((response) => response.end(start + delta('Press [Rotate](/guides/keys).') + finish));

  async function open(html: string, { policy, ...options }: BrowserContextOptions & { policy?: string } = {}) {
    const host = await servePages({ '/': { html, ...(policy === undefined ? {} : { policy }) } });
    onTestFinished(() => host.close());
    return { ...(await openWatched(newContext, host.url, options)), origin: host.url };
  }

  test('answers under a strict policy, in the colours of the site, with sources that link to it', async () => {
    const { url, acme } = gateway;
    const { page, problems, loaded } = await open(pageWith('', scriptOf(url, 'defer', acme.assistantKey)), {
      policy: strictPolicy(url),
    });
    await launcher(page).click();
    expect([await focused(page), await panel(page).getAttribute('aria-label')]).toEqual([
      'assistant-field',
      'Assistant',
    ]);
    expect(await styleOf(page, '.launcher', 'backgroundColor')).toBe('rgb(13, 147, 115)');
    expect(await ask(page, 'How do I rotate an API key?')).toContain('press "Rotate"');
    const source = lastTurn(page).locator('.assistant-sources a').first();
    const attributes = ['href', 'target', 'rel'].map((name) => source.getAttribute(name));
    expect(await Promise.all(attributes)).toEqual([
      expect.stringMatching(/^https?:\/\/docs\.acme\.test(:\d+)?\/guides\/keys#rotate-a-key$/),
      '_blank',
      'noopener noreferrer',
    ]);
    const rated = page.waitForResponse(/feedback/);
    await lastTurn(page).locator('[data-rating=up]').click();
    expect((await rated).status()).toBe(200);
    expect(await findBarriers(page)).toEqual([]);
    expect(problems).toEqual([]);
    expect(loaded.filter((address) => !address.startsWith(url) && !address.endsWith('/'))).toEqual([]);
    expect(await page.evaluate('Object.keys(window).filter((name) => /bindery/i.test(name))')).toEqual([
      'BinderyWidget',
    ]);

    await page.reload();
    await launcher(page).click();
    expect(await panel(page).locator('.assistant-turn').count()).toBe(1);
    await page.getByRole('button', { name: 'New conversation' }).click();
    expect(await panel(page).locator('.assistant-turn').count()).toBe(0);
  });

  test('works with a nonce and an integrity value, and in a Chromium without a known language in English', async () => {
    const { url } = await usual();
    const answer = await fetch(`${url}/_bindery/widget.js`);
    const integrity = `nonce="n" crossorigin="anonymous" integrity="${answer.headers.get('x-widget-integrity')}"`;
    const page = pageWith('', scriptOf(url, integrity).replace('lang="en"', ''));
    const opened = await open(page, {
      policy: strictPolicy(url, "'nonce-n'").replace(`script-src ${url}`, 'script-src'),
    });
    await launcher(opened.page).click();
    expect(await ask(opened.page, 'How?')).toContain('Press Rotate.');
    expect(opened.problems.filter((problem) => !problem.includes('404'))).toEqual([]);
  });

  test('is a dialog for the keyboard and for screen readers', async () => {
    const { url } = await scripted((response) => {
      response.write(start + delta('One '));
      setImmediate(() => response.end(delta('two.') + finish));
    });
    const { page } = await open(
      pageWith('<button id="help">Help</button>', scriptOf(url, 'defer data-site="https://docs.acme.test"')),
    );
    await page.locator('#help').focus();
    await page.evaluate('BinderyWidget.open()');
    expect(await launcher(page).getAttribute('aria-expanded')).toBe('true');
    // The log is not announced while it grows; the status has the whole answer once.
    await page.evaluate(`{
      const shadow = document.querySelector('bindery-widget').shadowRoot;
      window.said = [];
      new MutationObserver(() => said.push(shadow.querySelector('[role=status]').textContent)).observe(
        shadow.querySelector('[role=status]'), { childList: true });
    }`);
    await ask(page, 'Count?');
    expect(await page.evaluate('said')).toEqual(['Looking for an answer…', 'One two.']);
    expect(await panel(page).locator('[role=log]').getAttribute('aria-live')).toBe('off');
    await page.keyboard.press('Escape');
    await panel(page).waitFor({ state: 'hidden' });
    expect(await page.evaluate('document.activeElement.id')).toBe('help');
    // Keys that a reader types do not reach the shortcuts of the page.
    await page.evaluate("window.keys = []; document.addEventListener('keydown', ({ key }) => keys.push(key))");
    await launcher(page).press('Enter');
    await field(page).pressSequentially('/k');
    expect(await page.evaluate('keys.includes("/")')).toBe(false);
  });

  test('stops, reports what went wrong, and offers the next questions', async () => {
    let asked = 0;
    const { url, gone, bodies } = await scripted((response) => {
      asked += 1;
      if (asked === 1) response.write(start + delta('Half an '));
      else if (asked === 2) response.writeHead(429).end('{}');
      else response.end(start + delta('Whole.') + event({ type: 'data-suggestions', data: ['And then?'] }) + finish);
    });
    const { page } = await open(
      pageWith('', scriptOf(url, 'data-questions="How? | Why?" data-site="https://docs.acme.test" data-color="#ff0"')),
    );
    await page.evaluate(
      "window.events = []; const { on } = BinderyWidget.init({ domain: 'docs' }); ['open', 'ask', 'answer'].forEach((type) => on(type, (detail) => events.push([type, detail && (detail.problem?.kind ?? detail.text ?? detail.question)])))",
    );
    await launcher(page).click();
    await page.getByRole('button', { name: 'Why?' }).click();
    await lastTurn(page).getByText('Half an').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await lastTurn(page).getByText('You stopped this answer.').waitFor();
    await gone[0];
    expect(await ask(page, 'Again?')).toContain('There have been too many questions.');
    await page.getByRole('button', { name: 'Try again' }).last().click();
    await lastTurn(page).getByText('Whole.').waitFor();
    await page.getByRole('button', { name: 'And then?' }).click();
    await expect.poll(() => page.locator('bindery-widget .assistant-turn').count()).toBe(3);
    expect(bodies.at(-1)).toMatchObject({ threadId: 'th_1', messages: [{ parts: [{ text: 'And then?' }] }] });
    await lastTurn(page).getByText('Whole.').waitFor();
    expect(await page.evaluate('events.slice(0, 7)')).toEqual([
      ['open', undefined],
      ['ask', 'Why?'],
      ['answer', 'stopped'],
      ['ask', 'Again?'],
      ['answer', 'busy'],
      ['ask', 'Again?'],
      ['answer', 'Whole.'],
    ]);
  });

  test('two widgets have their own conversations, a second init adds none, and the end leaves nothing', async () => {
    const { url, gone } = await scripted((response) => response.write(start + delta('Half an ')));
    const { page } = await open(
      pageWith('<div id="place"></div>', `<script src="${url}/_bindery/widget.js"></script>`),
    );
    const before = await page.evaluate('document.documentElement.outerHTML');
    const result = await page.evaluate(`(() => {
      const options = { server: '${url}', domain: 'docs', site: 'https://docs.acme.test', color: '#123' };
      const listeners = new Set();
      for (const target of [window, MediaQueryList.prototype]) {
        const add = target.addEventListener;
        target.addEventListener = function (type, run, more) {
          const known = { type };
          listeners.add(known);
          more?.signal?.addEventListener('abort', () => listeners.delete(known));
          return add.call(this, type, run, more);
        };
      }
      window.listeners = listeners;
      const floating = BinderyWidget.init(options);
      const inline = BinderyWidget.init({ ...options, target: '#place', questions: ['How?'] });
      window.both = [floating, inline];
      return [BinderyWidget.init({ ...options }) === floating, BinderyWidget.init({ ...options, target: document.querySelector('#place') }) === inline, floating === inline, listeners.size > 0];
    })()`);
    expect(result).toEqual([true, true, false, true]);
    expect(await page.locator('bindery-widget').count()).toBe(2);
    await page.evaluate('void both[1].ask("One?")');
    await page.locator('#place .assistant-answer').getByText('Half an').waitFor();
    expect(await page.evaluate('both.map((widget) => widget.state().turns.length)')).toEqual([0, 1]);
    await page.evaluate('both[0].open()');
    await page.evaluate('BinderyWidget.destroy()');
    await gone[0];
    expect(await page.evaluate('document.documentElement.outerHTML')).toBe(before);
    expect(await page.evaluate('[...listeners].map(({ type }) => type)')).toEqual([]);
    // After the element of a widget was replaced, the next init makes a new one there.
    await page.evaluate(`{
      const options = { server: '${url}', domain: 'docs', color: '#123', site: '${url}' };
      BinderyWidget.init({ ...options, target: '#place' });
      document.body.innerHTML = '<div id="place"></div>';
      BinderyWidget.init({ ...options, target: '#place' });
    }`);
    expect(await page.locator('bindery-widget').count()).toBe(1);
  });

  test('links to no address of the settings that would run something, and lists have the direction of their text', async () => {
    const { url } = await scripted((response) => response.end(start + delta('1. See [keys](/guides/keys).') + finish));
    const { page, problems } = await open(pageWith('', scriptOf(url, 'data-language="he"')));
    const settings = { site: 'javascript:pwned()//', colors: { light: { accent: '#123456' }, dark: {} } };
    await page.route('**/discovery/v1/widget/docs', (route) =>
      route.fulfill({ json: settings, headers: { 'access-control-allow-origin': '*' } }),
    );
    await page.reload();
    await launcher(page).click();
    await ask(page, 'How?');
    expect(await styleOf(page, '.launcher', 'backgroundColor')).toBe('rgb(18, 52, 86)');
    expect(await lastTurn(page).locator('a').count()).toBe(0);
    expect(await lastTurn(page).locator('ol').getAttribute('dir')).toBe('ltr');
    // The first time, the server has no settings.
    expect(problems.filter((problem) => !problem.includes('404'))).toEqual([]);
  });

  test('stays when a framework replaces the body and runs the script again', async () => {
    const { url } = await usual();
    const { page } = await open(pageWith('', scriptOf(url)));
    await launcher(page).click();
    await ask(page, 'How?');
    await page.evaluate(`{
      const body = document.createElement('body');
      const script = document.createElement('script');
      for (const { name, value } of document.scripts[0].attributes) script.setAttribute(name, value);
      body.append('Another page', script);
      document.documentElement.replaceChild(body, document.body);
      window.ran = new Promise((resolve) => (script.onload = resolve));
    }`);
    await page.evaluate('ran');
    expect(await page.locator('bindery-widget').count()).toBe(1);
    expect(await panel(page).isVisible()).toBe(true);
    expect(await lastTurn(page).textContent()).toContain('Press Rotate.');
  });

  /** A server whose answer stops in the middle, and is whole for a reader who comes back. `asked`: the requests about the answer. */
  async function resumable(begin: (response: ServerResponse) => void) {
    const asked: string[] = [];
    const server = await scripted(
      (response) => {
        response.setHeader('x-chat-id', 'chat_1');
        response.write(start + delta('Half an '));
        begin(response);
      },
      (response, method) => {
        asked.push(method);
        if (method === 'DELETE') return void response.writeHead(204).end();
        response.setHeader('content-type', 'text/event-stream');
        response.end(start + delta('Half an ') + delta('answer.') + finish);
      },
    );
    return { ...server, asked };
  }
  const answerText = (page: Page) => lastTurn(page).locator('.assistant-answer').textContent();

  test('comes back to an answer after a reload, and after the end of its widget, without doubled parts', async () => {
    const { url, asked, bodies, gone } = await resumable(() => {});
    const { page } = await open(pageWith('', scriptOf(url)));
    for (const leave of ['location.reload()', "BinderyWidget.destroy(); BinderyWidget.init({ domain: 'docs' })"]) {
      await page.evaluate(`void BinderyWidget.open('How?')`);
      await lastTurn(page).getByText('Half an').waitFor();
      asked.length = 0;
      await page.evaluate(leave);
      await gone.at(-1);
      await launcher(page).click();
      await lastTurn(page).locator('.assistant-actions').waitFor();
      expect(await answerText(page)).toBe('Half an answer.');
      expect(await lastTurn(page).locator('.assistant-problem').count()).toBe(0);
      expect(asked).toEqual(['GET 0']);
    }
    expect(bodies).toHaveLength(2);
    // An answer that was read to its end is not asked for again.
    await page.reload();
    await launcher(page).click();
    expect([await answerText(page), asked]).toEqual(['Half an answer.', ['GET 0']]);
  });

  test('comes back to an answer whose connection was lost, and tells the server when the reader stops one', async () => {
    const { url, asked } = await resumable((response) => {
      if (asked.length === 0) setImmediate(() => response.destroy());
    });
    const { page } = await open(pageWith('', scriptOf(url)));
    await launcher(page).click();
    expect(await ask(page, 'How?')).toBe('How?Half an answer.');
    await field(page).fill('Again?');
    await page.keyboard.press('Enter');
    await lastTurn(page).getByText('Half an').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await lastTurn(page).getByText('You stopped this answer.').waitFor();
    await expect.poll(() => asked).toEqual(['GET 0', 'DELETE']);
  });

  test('answers on a page whose listeners throw, and that has replaced built-in functions', async () => {
    const { url, bodies } = await usual();
    const { page } = await open(
      pageWith(
        '',
        `<script>Array.from = (items) => [].slice.call(items); Object.prototype.odd = Array.prototype.odd = 'odd';</script>${scriptOf(url)}`,
      ),
    );
    await page.evaluate(
      "for (const type of ['open', 'change', 'ask', 'answer']) BinderyWidget.init({ domain: 'docs' }).on(type, () => { throw new Error(type) })",
    );
    await launcher(page).click();
    expect(await ask(page, 'How?')).toContain('Press Rotate.');
    expect(await ask(page, 'Again?')).toContain('Press Rotate.');
    expect(bodies.map(({ fp }) => fp)).toEqual([bodies[0]?.fp, bodies[0]?.fp]);
    expect(bodies[0]?.fp).toMatch(/^[0-9a-f]{32}$/);
  });

  test('stops also while the page still fetches the token of the reader', async () => {
    const { url, bodies } = await usual();
    const { page } = await open(pageWith('', `<script src="${url}/_bindery/widget.js"></script>`));
    await page.evaluate(
      `void BinderyWidget.init({ domain: 'docs', userToken: () => new Promise((resolve) => (window.giveToken = resolve)) }).open('How?')`,
    );
    await page.getByRole('button', { name: 'Stop' }).click();
    await lastTurn(page).getByText('You stopped this answer.').waitFor();
    expect(bodies).toEqual([]);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.evaluate("giveToken('')");
    await lastTurn(page).getByText('Press Rotate.').waitFor();
    expect(bodies).toMatchObject([{ token: undefined }]);
  });

  test('of a second gateway asks that one', async () => {
    const [one, other] = [await usual(), await usual()];
    const { page } = await open(pageWith('', scriptOf(one.url) + scriptOf(other.url, 'data-position="start"')));
    expect(await launcher(page).count()).toBe(2);
    await page.evaluate("BinderyWidget.open('How?')");
    await lastTurn(page).getByText('Press Rotate.').waitFor();
    expect([one.bodies.length, other.bodies.length]).toEqual([0, 1]);
  });

  test('the style sheet of a hostile page changes neither its look nor its place', async () => {
    const { url } = await usual();
    const attributes = 'data-site="https://docs.acme.test" data-color="#0f766e"';
    const shapes = async (head: string): Promise<unknown> => {
      // Without motion, because a panel that is still opening is a fraction of a pixel above its place.
      const { page } = await open(pageWith('<p>Text</p>', head + scriptOf(url, attributes)), {
        reducedMotion: 'reduce',
      });
      await launcher(page).click();
      await ask(page, 'How?');
      return page.evaluate(`[...document.querySelector('bindery-widget').shadowRoot.querySelectorAll('*')].map((element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        const { color, backgroundColor, fontFamily, fontSize, opacity, visibility } = getComputedStyle(element);
        return [element.localName, x, y, width, height, color, backgroundColor, fontFamily, fontSize, opacity, visibility];
      })`);
    };
    const hostile = `<style>
      * { display: none !important; visibility: hidden !important; position: static !important; color: red !important; font: 40px Papyrus !important; opacity: .1 !important; transform: rotate(20deg) !important; filter: blur(9px) !important; --text: red; --accent: lime; --raised: black; letter-spacing: 1em !important; direction: rtl !important }
      html, body, main { display: block !important; transform: none !important; filter: none !important; opacity: 1 !important }
      button, dialog, textarea, a, li::before { all: unset !important; content: "x" !important }
      bindery-widget { width: 0 !important; height: 0 !important; overflow: hidden !important; clip-path: inset(50%) !important; pointer-events: none !important }
    </style>`;
    expect(await shapes(hostile)).toEqual(await shapes(''));
  });

  test('is a sheet on phones, in Arabic from right to left, and dark when the reader or the page wants it', async () => {
    const { url } = await usual();
    const html = pageWith('', scriptOf(url, 'data-site="https://docs.acme.test" data-color="#0f766e"'));
    const phone = await open(html.replace('lang="en"', 'lang="ar-EG"'), {
      viewport: { width: 390, height: 844 },
      colorScheme: 'dark',
    });
    await launcher(phone.page).click();
    expect(await panel(phone.page).evaluate((element) => element.matches(':modal'))).toBe(true);
    expect((await panel(phone.page).boundingBox())?.width).toBe(390);
    await ask(phone.page, 'كيف؟');
    expect(await phone.page.locator('bindery-widget .widget').getAttribute('dir')).toBe('rtl');
    expect(await panel(phone.page).getAttribute('aria-label')).toBe('المساعد');
    const ground = () => styleOf(phone.page, '.assistant-panel', 'colorScheme');
    expect(await ground()).toBe('dark');
    expect(await findBarriers(phone.page)).toEqual([]);
    await keepPicture(phone.page, 'widget-phone');
    await phone.page.evaluate("BinderyWidget.init({ domain: 'docs' }).setTheme('light')");
    expect(await ground()).toBe('light');
    expect(await findBarriers(phone.page)).toEqual([]);
    expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await phone.page.keyboard.press('Escape');
    expect(await focused(phone.page)).toBe('launcher');
  });

  test('has the conversation for programs, without elements', async () => {
    const { url, bodies } = await usual();
    const { page } = await open(pageWith('', `<script src="${url}/_bindery/widget.js"></script>`));
    const seen = await page.evaluate(`(async () => {
      const chat = BinderyWidget.chat({ server: '${url}', domain: 'docs', site: 'https://docs.acme.test', userToken: async () => 'a.b.c', filter: { version: 'v2' } });
      const states = new Set();
      const end = chat.subscribe(() => states.add(chat.state()));
      const same = chat.state() === chat.state();
      await chat.ask('How?');
      end();
      const { turns, threadId, isAsking } = chat.state();
      return { same, several: states.size > 1, first: [...states][0].isAsking, turns, threadId, isAsking, elements: document.querySelectorAll('bindery-widget').length };
    })()`);
    expect(seen).toMatchObject({
      ...{ same: true, several: true, first: true, isAsking: false, threadId: 'th_1', elements: 0 },
      turns: [{ question: 'How?', text: 'Press [Rotate](/guides/keys).', messageId: 'msg_1', suggestions: [] }],
    });
    expect(bodies[0]).toMatchObject({ token: 'a.b.c', filter: { version: 'v2' } });
  });

  test.each([
    ["{ domain: 'docs', key: 'svc_adm_secret' }", 'key must be an assistant key'],
    ['{}', 'domain must be the name'],
    ["{ domain: 'docs', site: 'javascript:alert(1)' }", 'site must be an address'],
    ["{ domain: 'docs', target: '#nowhere' }", 'target must be an element'],
  ])('init with %s says what is wrong', async (options, sentence) => {
    const { url } = await usual();
    const { page } = await open(pageWith('', `<script src="${url}/_bindery/widget.js"></script>`));
    const said = page.evaluate(`BinderyWidget.init(${options})`);
    await expect(said).rejects.toThrow(sentence);
    expect(await page.locator('bindery-widget').count()).toBe(0);
  });
});
