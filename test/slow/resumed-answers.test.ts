import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { apiClient } from '#services/cli/api-client.ts';
import { createFirstOrganization } from '#services/cli/commands/organizations.ts';
import { publishProject } from '#services/cli/publish-project.ts';
import { deltas, readEvents } from '../clients/assistant-harness.ts';
import { type ChatOnPage, type SdkVersion, serveSdkPages } from '../clients/sdk-pages.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { operatorToken } from '../support/gateway-harness.ts';
import { newFolder } from '../support/new-folder.ts';
import { openBrowser } from '../support/open-browser.ts';
import { environmentOn, type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { startTestBus, type TestBus } from '../support/start-bus.ts';
import { mistralChunk, type MistralServer, startMistral, startsStream } from '../support/start-mistral.ts';

declare global {
  var chat: ChatOnPage;
}

const versions = ['5.0.0', '5.0.277', '6.0.324', '7.0.173'] as const satisfies readonly SdkVersion[];

describeWithServers(['nats-server', 'chromium', 'sdk-versions'], 'answers that survive, over processes', () => {
  let bus: TestBus;
  let mistral: MistralServer;
  let environment: Record<string, string>;
  let others: ServiceProcess[];
  let assistant: ServiceProcess;
  let gateways: ServiceProcess[];
  /** The address of clients, which leads to the first gateway of `gateways`, as a load balancer does. */
  let front: Server;
  let base: string;
  let key: string;
  let organization: string;
  let browser: Browser;
  let pages: Awaited<ReturnType<typeof serveSdkPages>>;

  beforeAll(async () => {
    [bus, mistral, browser, pages] = await Promise.all([
      startTestBus(),
      startMistral(),
      openBrowser(),
      serveSdkPages(),
    ]);
    environment = environmentOn(bus, newFolder());
    const publisher = await startServiceProcess('publisher', environment);
    environment.BINDERY_PUBLISHER_URL = publisher.url;
    [assistant, ...others] = await Promise.all([
      startServiceProcess('assistant', {
        ...environment,
        BINDERY_LANGUAGE_MODEL: 'mistral',
        BINDERY_MISTRAL_API_KEY: 'a key for tests',
        BINDERY_MISTRAL_BASE_URL: mistral.baseUrl,
      }),
      startServiceProcess('projector', environment),
      startServiceProcess('indexer', environment),
    ]);
    others.push(publisher);
    environment.BINDERY_ASSISTANT_URL = assistant.url;
    gateways = await Promise.all([1, 2].map(() => startServiceProcess('gateway', environment)));
    front = createServer((client) => {
      const gateway = connect(Number(new URL(gateways[0]?.url ?? '').port), '127.0.0.1');
      client.pipe(gateway).pipe(client);
      const end = (): void => [client, gateway].forEach((socket) => socket.destroy());
      for (const socket of [client, gateway]) socket.on('error', end).on('close', end);
    }).listen(0, '127.0.0.1');
    await once(front, 'listening');
    base = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
    const first = await createFirstOrganization(base, operatorToken);
    key = first.assistantKey;
    organization = first.organization;
    const project = join(newFolder(), 'project');
    await mkdir(project, { recursive: true });
    const docs = { theme: 'mint', name: 'A', colors: { primary: '#000000' }, navigation: { pages: ['index'] } };
    await writeFile(join(project, 'docs.json'), JSON.stringify(docs));
    await writeFile(join(project, 'index.mdx'), '---\ntitle: Keys\n---\n\nTo rotate a key, press the button.\n');
    const admin = apiClient(base, first.adminKey);
    await publishProject(admin, { domain: first.domain, folder: project, label: undefined });
    await vi.waitUntil(
      async () => {
        const found = await fetch(`${base}/discovery/v1/search/${first.domain}`, post(key, { query: 'rotate a key' }));
        return (await found.text()).includes('"index"');
      },
      { timeout: 60_000 },
    );
    path = `${base}/discovery/v2/assistant/${first.domain}/message`;
  });

  afterAll(async () => {
    await Promise.all([browser?.close(), pages?.close()]);
    await Promise.all([...(gateways ?? []), ...(others ?? []), assistant].map((service) => service?.stop('SIGKILL')));
    front?.close();
    await Promise.all([bus?.stop(), mistral?.close()]);
  });

  let path: string;
  const post = (bearer: string, body: object): RequestInit => ({
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', 'x-resumable': 'true' },
    body: JSON.stringify(body),
  });
  const question = 'How do I rotate a key?';
  let chats = 0;
  const newChat = (): string => `AbCdEfGhIjKlMn${String((chats += 1)).padStart(4, '0')}`;
  const ask = (id: string) =>
    fetch(
      path,
      post(key, { id, fp: 'r', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: question }] }] }),
    );
  const resume = (id: string, headers: Record<string, string> = {}) =>
    fetch(`${path}/${id}/stream`, { headers: { authorization: `Bearer ${key}`, ...headers } });

  /** The model's next answer, whose words the test writes. */
  function nextAnswer(): Promise<ServerResponse> {
    const open = Promise.withResolvers<ServerResponse>();
    mistral.answers((response) => {
      startsStream(response);
      open.resolve(response);
    });
    return open.promise;
  }
  const says = (model: ServerResponse, content: string): unknown => model.write(mistralChunk({ content }));
  const ends = (model: ServerResponse): unknown =>
    model.end(`${mistralChunk({ content: '' }, 'stop')}data: [DONE]\n\n`);

  /** Reads an answer step by step. */
  function readingOf(response: Response) {
    const reader = response.body!.getReader();
    let text = '';
    const more = async (): Promise<boolean> => {
      const { value, done } = await reader.read();
      text += Buffer.from(value ?? []).toString();
      return !done;
    };
    return {
      async until(wanted: string): Promise<void> {
        while (!text.includes(wanted))
          if (!(await more())) throw new Error(`the answer ended without "${wanted}": ${text}`);
      },
      async rest() {
        while (await more());
        return readEvents(new Response(text));
      },
    };
  }

  /** Kills the gateway that clients reach, which leads them to the other one, and starts a third in its place. */
  async function killGateway(): Promise<void> {
    const [killed] = gateways.splice(0, 1);
    await killed?.stop('SIGKILL');
    gateways.push(await startServiceProcess('gateway', environment));
  }

  async function openPage(context: BrowserContext, version: SdkVersion, id: string): Promise<Page> {
    const page = await context.newPage();
    const chatOptions = { api: path, key, fp: 'r', id, resume: true, headers: { 'x-resumable': 'true' } };
    await page.addInitScript((given) => Object.assign(globalThis, { chatOptions: given }), chatOptions);
    await page.goto(`${pages.url}/${version}`);
    await page.waitForFunction(() => 'chat' in globalThis);
    return page;
  }
  const shows = (page: Page, text: string) =>
    page.waitForFunction((wanted) => chat.messages.at(-1)?.text === wanted, text);
  const messages = (page: Page) => page.evaluate(() => chat.messages.map(({ role, text }) => `${role}: ${text}`));

  test.each(versions)(
    'useChat of %s: the answer is whole and once after a reload and the kill of a gateway, in two tabs',
    async (version) => {
      const context = await browser.newContext();
      const id = newChat();
      const page = await openPage(context, version, id);
      const answering = nextAnswer();
      await page.evaluate((text) => chat.send(text), question);
      const model = await answering;
      says(model, 'One ');
      await shows(page, 'One ');

      await page.reload();
      await shows(page, 'One ');
      const tab = await openPage(context, version, id);
      await shows(tab, 'One ');
      says(model, 'two ');
      for (const each of [page, tab]) await shows(each, 'One two ');

      await killGateway();
      says(model, 'three ');
      await page.reload();
      await shows(page, 'One two three ');
      await tab.reload();
      says(model, 'four.');
      ends(model);
      const whole = 'One two three four.';
      for (const each of [page, tab]) {
        await shows(each, whole);
        await each.waitForFunction(() => !chat.busy);
        expect(await messages(each)).toEqual([`user: ${question}`, `assistant: ${whole}`]);
        expect(await each.evaluate(() => chat.error)).toBeUndefined();
      }
      // A page that is opened when all is read does not get it again.
      const asked = page.waitForResponse(/\/stream$/);
      await page.reload();
      expect((await asked).status()).toBe(204);
      await shows(page, whole);
      expect(await messages(page)).toEqual([`user: ${question}`, `assistant: ${whole}`]);
      await context.close();
    },
  );

  test('an answer outlasts a restart of the bus in the middle', async () => {
    const answering = nextAnswer();
    const id = newChat();
    const first = await ask(id);
    const reading = readingOf(first);
    const model = await answering;
    says(model, 'before ');
    await reading.until('before ');
    await bus.server.kill();
    says(model, 'meanwhile ');
    await reading.until('meanwhile ');
    await bus.server.restart();
    const again = async () => {
      const answer = await resume(id).catch(() => undefined);
      if (answer?.status !== 200) await answer?.body?.cancel();
      return answer?.status === 200 ? answer : undefined;
    };
    let answer: Response | undefined;
    await expect.poll(async () => (answer = await again()) !== undefined, { timeout: 60_000 }).toBe(true);
    says(model, 'after.');
    ends(model);
    const { events, done } = await readEvents(answer as Response);
    expect([deltas(events), done]).toEqual(['before meanwhile after.', true]);
    expect(deltas((await reading.rest()).events)).toBe('before meanwhile after.');
    const stored = await (await bus.connect('assistant')).threads.last(
      `threads.${organization}.${new URL(path).pathname.split('/')[4]}.${first.headers.get('x-thread-id')}`,
    );
    expect(stored?.commit.data.events.at(-1)?.data).toMatchObject({
      answer: 'before meanwhile after.',
      aborted: false,
    });
  });

  test('an answer whose assistant was killed ends with an error for all its readers', async () => {
    const answering = nextAnswer();
    const id = newChat();
    const first = readingOf(await ask(id));
    const model = await answering;
    says(model, 'Half an ');
    await first.until('Half an ');
    const tab = await resume(id);
    await assistant.stop('SIGKILL');
    const late = await resume(id, { 'last-event-id': '0' });
    for (const each of [first, readingOf(tab), readingOf(late)]) {
      const { events, done } = await each.rest();
      expect([events.at(-2)?.type, events.at(-1)?.type, done]).toEqual(['error', 'finish', true]);
    }
  });
});
