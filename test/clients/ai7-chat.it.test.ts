import { AbstractChat, type ChatState, type ChatStatus, DefaultChatTransport, type UIMessage } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AssistantHarness, startAssistantHarness } from './assistant-harness.ts';

type Metadata = { threadId?: string; finishReason?: string };
type Message = UIMessage<Metadata>;

/** The state that a framework's `useChat` keeps, without a framework. */
class PlainState implements ChatState<Message> {
  status: ChatStatus = 'ready';
  error: Error | undefined = undefined;
  messages: Message[] = [];
  pushMessage = (message: Message): void => {
    this.messages = [...this.messages, message];
  };
  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: Message): void => {
    this.messages = this.messages.with(index, structuredClone(message));
  };
  snapshot = <T>(thing: T): T => structuredClone(thing);
}

class PlainChat extends AbstractChat<Message> {}

let harness: AssistantHarness;
beforeAll(async () => {
  harness = await startAssistantHarness();
});
afterAll(() => harness.close());

test('the stock transport of ai 7 has two turns in one thread, with sources', async () => {
  const sent: { threadId?: string }[] = [];
  const errors: Error[] = [];
  let threadId: string | undefined;
  const chat: PlainChat = new PlainChat({
    state: new PlainState(),
    onError: (error) => errors.push(error),
    transport: new DefaultChatTransport<Message>({
      api: `${harness.url}/internal/message`,
      headers: harness.headers({ 'x-bindery-client': 'ui' }),
      body: () => ({ fp: 'anonymous', ...(threadId === undefined ? {} : { threadId }) }),
      fetch: async (input, init) => {
        sent.push(JSON.parse(init?.body as string) as { threadId?: string });
        return fetch(input, init);
      },
    }),
  });

  await chat.sendMessage({ text: 'How do I rotate an API key?' });
  expect(errors).toEqual([]);
  expect(chat.status).toBe('ready');
  const first = chat.lastMessage;
  expect(textOf(first)).toContain('press "Rotate" on the keys page');
  expect(sourcesOf(first)).toEqual([{ url: '/guides/keys#rotate-a-key', title: 'API keys › Rotate a key' }]);
  expect(first?.metadata).toEqual({ threadId: expect.stringMatching(/^th_[0-9A-Za-z]{22}$/), finishReason: 'stop' });
  threadId = first?.metadata?.threadId;

  await chat.sendMessage({ text: 'How do I start an export job?' });
  expect(errors).toEqual([]);
  expect(sent[1]?.threadId).toBe(threadId);
  const second = chat.lastMessage;
  expect(second?.id).not.toBe(first?.id);
  expect(textOf(second)).toContain('Poll its status');
  expect(second?.metadata?.threadId).toBe(threadId);
  expect(second?.parts.map((part) => part.type)).toEqual(expect.arrayContaining(['step-start', 'text', 'source-url']));

  const stored = await harness.bus.threads.last(`threads.acme.docs.${threadId}`);
  expect(stored?.commit.revision).toBe(4);
  expect(stored?.commit.data.state.turnCount).toBe(2);
});

test('a question that the documentation does not answer gets a refusal without sources', async () => {
  const chat = new PlainChat({
    state: new PlainState(),
    transport: new DefaultChatTransport<Message>({
      api: `${harness.url}/internal/message`,
      headers: harness.headers({ 'x-bindery-client': 'ui' }),
      body: { fp: 'anonymous' },
    }),
  });
  await chat.sendMessage({ text: 'What is the capital of France?' });
  expect(textOf(chat.lastMessage)).toBe('This is not in the documentation.');
  expect(sourcesOf(chat.lastMessage)).toEqual([]);
});

function textOf(message: Message | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function sourcesOf(message: Message | undefined): { url: string; title: string | undefined }[] {
  return (message?.parts ?? []).flatMap((part) =>
    part.type === 'source-url' ? [{ url: part.url, title: part.title }] : [],
  );
}
