import { once } from 'node:events';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import {
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../support/gateway-harness.ts';
import { suiteBrowser } from '../support/suite-browser.ts';
import { assistantBehind, usage } from './assistant-harness.ts';
import { type ChatOnPage, type ChatOptions, isVersion4, type SdkVersion, serveSdkPages } from './sdk-pages.ts';

declare global {
  var chat: ChatOnPage;
}

const keysPage = '/guides/keys#rotate-a-key';

/**
 * A model that states the number of its messages and links the first passage. A question with "slowly" gets only a first word, until the client stops
 * it.
 */
function answeringModel(onStopped: () => void): LanguageModelV4 {
  async function* parts(
    prompt: string,
    messages: number,
    signal: AbortSignal,
  ): AsyncGenerator<LanguageModelV4StreamPart> {
    yield { type: 'stream-start', warnings: [] };
    yield { type: 'text-start', id: '1' };
    yield { type: 'text-delta', id: '1', delta: 'First words. ' };
    if (prompt.includes('slowly')) {
      await once(signal, 'abort');
      onStopped();
      throw signal.reason;
    }
    const [, url = ''] = /<passage url="([^"]*)"/.exec(prompt) ?? [];
    for (const delta of [`Message ${messages}: `, `see [the page](${url}).`])
      yield { type: 'text-delta', id: '1', delta };
    yield { type: 'text-end', id: '1' };
    yield { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage };
  }
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'answering',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('this model only streams')),
    async doStream({ prompt, abortSignal = new AbortController().signal }) {
      const said = prompt.filter(({ role }) => role !== 'system');
      return {
        stream: ReadableStream.from(
          parts(JSON.stringify(prompt.at(-1)).replaceAll('\\"', '"'), said.length, abortSignal),
        ),
      };
    },
  };
}

/** Tests of each version, with the real `useChat` in Chromium, on a page of another origin than the gateway. */
export function describeChats(versions: readonly SdkVersion[]): void {
  describeWithServers(['chromium', 'sdk-versions'], 'released chats', () => {
    let gateway: GatewayHarness;
    let acme: TestOrganization;
    let limited: TestOrganization;
    let url: string;
    const { newContext } = suiteBrowser();
    let pages: Awaited<ReturnType<typeof serveSdkPages>>;
    let stopped = Promise.withResolvers<void>();

    beforeAll(async () => {
      const model = answeringModel(() => stopped.resolve());
      gateway = await gatewayHarness({ BINDERY_LIMIT_ASSISTANT_PER_HOUR: '300' }, assistantBehind(model));
      acme = await createOrganization(gateway);
      limited = await createOrganization(gateway, 'Limited');
      url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
      pages = await serveSdkPages();
      // The hourly limit of one organization is used up.
      const full = () =>
        gateway.app.inject({
          method: 'POST',
          url: '/discovery/v1/search/docs',
          headers: { authorization: `Bearer ${limited.assistantKey}` },
          payload: { query: 'x' },
        });
      for (let status = 0; status !== 429; ) ({ statusCode: status } = await full());
    });
    afterAll(async () => {
      await pages.close();
      await gateway.close();
    });

    async function open(version: SdkVersion, options: Partial<ChatOptions> = {}): Promise<Page> {
      const page = await (await newContext()).newPage();
      const api = `${url}/discovery/v${isVersion4(version) ? 1 : 2}/assistant/docs/message`;
      const chatOptions = { api, key: acme.assistantKey, fp: 'reader-1', ...options };
      await page.addInitScript((given) => Object.assign(globalThis, { chatOptions: given }), chatOptions);
      const resumed = options.resume && !isVersion4(version) ? page.waitForResponse(/\/stream$/) : undefined;
      await page.goto(`${pages.url}/${version}`);
      expect((await resumed)?.status() ?? 204).toBe(204);
      await page.waitForFunction(() => 'chat' in globalThis);
      return page;
    }

    /** Asks, and waits until the chat has an answer or an error. */
    async function ask(page: Page, text: string, body: object = {}) {
      const before = await page.evaluate(
        ([question, more]) => {
          const { length } = chat.messages;
          chat.send(question, more);
          return length;
        },
        [text, body] as const,
      );
      await page.waitForFunction(
        (count) => !chat.busy && (chat.error !== undefined || chat.messages.length >= count + 2),
        before,
      );
      return page.evaluate(() => ({ error: chat.error, messages: chat.messages, last: chat.messages.at(-1)! }));
    }

    test.each(versions)('%s has two turns in one thread, with sources', async (version) => {
      const early = ['4.0.41', '4.1.15', '4.1.32'].includes(version);
      const headers: Record<string, string> = isVersion4(version) && !early ? { 'x-stream-sources': 'always' } : {};
      const page = await open(version, { headers });
      const first = await ask(page, 'How do I rotate an API key?');
      expect(first.error).toBeUndefined();
      expect(first.last.text).toBe(`First words. Message 1: see [the page](${keysPage}).`);
      expect(first.last.sources).toEqual(early ? [] : [keysPage]);
      expect(first.last.searched).toEqual(isVersion4(version) ? expect.arrayContaining([keysPage]) : []);
      const { threadId } = first.last;
      expect(threadId).toMatch(/^th_/);

      // Only the first question names the subject of this one.
      const second = await ask(page, 'How long does the old one still work?', { threadId });
      expect(second.error).toBeUndefined();
      expect(second.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
      expect(second.last.text).toBe(`First words. Message 3: see [the page](${keysPage}).`);
      expect(second.last.threadId).toBe(threadId);
      const stored = await gateway.bus.threads.last(`threads.acme.docs.${threadId}`);
      expect(stored?.commit.data.state.turnCount).toBe(2);
      // Without the thread, the client's own copy of the conversation counts.
      const third = await ask(page, 'How long does it work?');
      expect(third.error).toBeUndefined();
      expect(third.last.text).toContain('Message 5');
      expect(third.last.threadId).not.toBe(threadId);
      await page.close();
    });

    test.each(versions)('%s shows errors as sentences, and stops the model', async (version) => {
      const asked = 'How do I rotate an API key?';
      for (const [options, body, sentence] of [
        [{ key: 'nonsense' }, {}, /^The API key is not valid/],
        [{ fp: undefined }, {}, /"fp"/],
        [{}, { threadId: `th_${'0'.repeat(22)}` }, /^There is no such thread/],
        [{ key: limited.assistantKey }, {}, /^[A-Z].*(hour|limit|many)/],
      ] as const) {
        const page = await open(version, options);
        const { error } = await ask(page, asked, body);
        expect(error).toMatch(sentence);
        expect(error).not.toMatch(/[{}]/);
        await page.close();
      }
      stopped = Promise.withResolvers();
      const page = await open(version, { resume: true });
      expect(await page.evaluate(() => [chat.error, chat.messages])).toEqual([undefined, []]);
      await page.evaluate(() => chat.send('Tell me slowly about an API key.'));
      await page.waitForFunction(() => chat.messages.at(-1)?.text.startsWith('First words.'));
      await page.evaluate(() => chat.stop());
      await stopped.promise;
      const next = await ask(page, asked);
      expect(next.error).toBeUndefined();
      expect(next.last.text).toContain(keysPage);
      await page.close();
    });
  });
}
