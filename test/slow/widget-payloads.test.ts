import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { widgetFile } from '#shared/docs/render/site/widget-file.ts';
import { suiteBrowser } from '../support/suite-browser.ts';
import { openWatched, pageWith } from '../browser/widget-pages.ts';
import { hostilePayloads } from '../hostile/payloads.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { sharedFolder } from '../support/docs-projects.ts';
import { newFolder } from '../support/new-folder.ts';
import { onLoopback } from '../support/on-loopback.ts';

/** Elements with a widget each, which ask side by side. They are hidden, because half of the time would be that of layouts. */
const places = Array.from({ length: 6 }, (_, at) => `place${at}`);

const event = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;

/** The lines of the shared hostile pages, where these are. */
async function sharedPayloads(): Promise<string[]> {
  const generator = join(sharedFolder, 'nasty/gen.mjs');
  if (!existsSync(generator)) return [];
  const folder = newFolder();
  await promisify(execFile)(process.execPath, [generator, folder]);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.mdx?$/.test(name));
  const texts = files.map((name) => readFileSync(join(folder, name), 'utf8')).filter(({ length }) => length < 4_000);
  return texts.flatMap((text) => [text, ...text.split('\n')]).filter((text) => text.trim() !== '');
}

/** An answer with the payload in each kind of Markdown that the widget draws, and last as it is. */
function answerWith(payload: string): string {
  const line = payload.replaceAll(/\s*\n\s*/g, ' ');
  return [
    `# ${line}`,
    `[x](${line}) [x](<${line}>) ![x](${line}) [${line}](/guides/x) <${line}> **${line}** \`${line}\``,
    `| ${line} | x |\n|---|---|\n| ${line} | ${line} |`,
    `> ${line}\n\n- ${line}\n  1. ${line}`,
    `~~~ ${line}\n${line}\n~~~`,
    payload,
  ].join('\n\n');
}

describeWithServers(['chromium'], 'the widget with hostile answers', () => {
  const { newContext } = suiteBrowser();

  test('runs nothing, makes only its own elements, and links only to web and mail addresses', async () => {
    const payloads = [...new Set([...hostilePayloads(), ...(await sharedPayloads())])];
    expect(payloads.length).toBeGreaterThan(2_365);
    const { text: script } = await widgetFile();
    async function answerQuestion(body: string, response: ServerResponse): Promise<void> {
      const { messages } = JSON.parse(body) as { messages: { parts: { text: string }[] }[] };
      const payload = payloads[Number.parseInt(messages.at(-1)?.parts[0]?.text ?? '', 10)] ?? '';
      const answer = answerWith(payload);
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-thread-key': 'k' });
      response.write(event({ type: 'start', messageId: payload, messageMetadata: { threadId: payload } }));
      // The halves are drawn while the answer grows, too.
      for (const delta of [answer.slice(0, answer.length / 2), answer.slice(answer.length / 2)]) {
        response.write(event({ type: 'text-delta', id: 'a', delta }));
        await nextTurn();
      }
      response.write(event({ type: 'source-url', sourceId: '1', url: payload, title: payload }));
      response.write(event({ type: 'source-url', sourceId: '2', url: `/x#${payload}`, title: payload }));
      response.write(event({ type: 'data-suggestions', data: [payload, payload] }));
      response.end(`${event({ type: 'finish' })}data: [DONE]\n\n`);
    }
    const server = createServer((request, response) => {
      if (request.url === '/')
        return void response
          .setHeader('content-type', 'text/html; charset=utf-8')
          .end(
            pageWith(
              places.map((place) => `<div id="${place}" hidden></div>`).join(''),
              '<script src="/_bindery/widget.js"></script>',
            ),
          );
      if (request.method === 'GET')
        return void response.setHeader('content-type', 'text/javascript; charset=utf-8').end(script);
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => void answerQuestion(body, response));
    });
    const { url, close } = await onLoopback(server);
    onTestFinished(() => close());
    const { page, problems, loaded } = await openWatched(newContext, url);
    const found = await page.evaluate(`(async () => {
      const payloads = ${JSON.stringify(payloads)};
      const found = new Map();
      const note = (payload, problem) => void (found.has(problem) || found.set(problem, payload));
      for (const name of ['pwned', 'alert', 'confirm', 'prompt', 'print', 'open'])
        window[name] = (what) => note(what, name + ' ran');
      // Each part is drawn when it arrives.
      window.requestAnimationFrame = (run) => void run();
      const elements = new Set('div p span i h3 h4 h5 h6 ul ol li pre code button svg path circle rect a strong em del br blockquote hr table thead tbody tr th td small'.split(' '));
      const attributes = new Set('class dir tabindex type aria-label title href target rel start data-rating aria-pressed style viewBox fill stroke stroke-linecap stroke-linejoin stroke-width aria-hidden d cx cy r x y rx ry width height'.split(' '));
      const look = (payload, shadow) => {
        for (const element of shadow.querySelector('.assistant-log').querySelectorAll('*')) {
          const { localName, href } = element;
          if (!elements.has(localName)) note(payload, 'made ' + localName);
          for (const { name, value } of element.attributes) {
            if (!attributes.has(name)) note(payload, 'set ' + name + ' of ' + localName);
            if (name === 'style' && !/^text-align: (center|end);$/.test(value)) note(payload, 'set the style ' + value);
          }
          if (localName === 'a' && !/^(https?:|mailto:[^?]+$)/.test(href)) note(payload, 'links to ' + href);
          if (localName === 'a' && element.rel !== 'noopener noreferrer') note(payload, 'is linked without rel');
        }
        if (document.scripts.length !== 1 || ({}).polluted) note(payload, 'changed the page');
      };
      let next = 0;
      const places = ${JSON.stringify(places)};
      await Promise.all(places.map(async (place) => {
        const target = document.getElementById(place);
        const widget = BinderyWidget.init({ domain: 'docs', target, name: place, site: 'https://docs.acme.test' });
        const shadow = target.firstChild.shadowRoot;
        let at;
        widget.on('change', () => look('growing ' + payloads[at], shadow));
        for (at = next++; at < payloads.length; at = next++) {
          await widget.ask(at + ' ' + payloads[at]);
          look(payloads[at], shadow);
          if (widget.state().turns.at(-1).text.length < 50) note(payloads[at], 'was not answered');
          widget.reset();
        }
      }));
      return [...found].slice(0, 20);
    })()`);
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
    expect(loaded.filter((address) => !address.startsWith(url))).toEqual([]);
  }, 900_000);
});
