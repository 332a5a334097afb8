import { createServer } from 'node:http';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { requireServer } from '#infra/setup/find-server.ts';
import { type LoopbackServer, onLoopback } from '../support/on-loopback.ts';

/** The versions of the AI SDK in `test/clients/sdk-versions/package.json`. */
export const sdkVersions = [
  ...['4.0.41', '4.1.15', '4.1.32', '4.1.66', '4.2.11', '4.3.0', '4.3.19'],
  ...['5.0.0', '5.0.100', '5.0.277', '6.0.0', '6.0.148', '6.0.324', '7.0.0', '7.0.77', '7.0.173'],
] as const;
export type SdkVersion = (typeof sdkVersions)[number];

export const isVersion4 = (version: SdkVersion): boolean => version.startsWith('4.');

/** Input of the page of a version. */
export type ChatOptions = {
  api: string;
  key: string;
  fp: string | undefined;
  headers?: Record<string, string>;
  resume?: boolean;
  /** Id of the chat; its finished messages are kept under it in the browser, as the documentation tells readers to do. */
  id?: string;
};

/** Type of `window.chat` in a page. */
export type ChatOnPage = {
  /** `sources`: addresses that the version shows; `searched`: those in results of the tool `search`. */
  messages: { role: string; text: string; sources: string[]; searched: string[]; threadId: string | undefined }[];
  busy: boolean;
  error: string | undefined;
  send(text: string, body?: object): void;
  stop(): void;
};

const common = `
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
const options = window.chatOptions;
// What the documentation tells readers to do, so that an error is a sentence.
const sayErrors = async (input, init) => {
  const response = await fetch(input, init);
  if (response.ok) return response;
  throw new Error((await response.json()).error);
};
const headers = { Authorization: 'Bearer ' + options.key, ...options.headers };
const body = options.fp === undefined ? {} : { fp: options.fp };
function Page() { window.chat = useChatHere(); return createElement('pre', null, JSON.stringify(window.chat.messages)); }
createRoot(document.getElementById('root')).render(createElement(Page));
`;

const version4 = `
import { useChat } from '@ai-sdk/react';
const urlsIn = (result) => (Array.isArray(result) ? result.map(({ url }) => url) : []);
function useChatHere() {
  const chat = useChat({ api: options.api, headers, body, fetch: sayErrors, streamProtocol: 'data' });
  return {
    messages: chat.messages.map((message) => ({
      role: message.role,
      text: message.content,
      sources: (message.parts ?? []).filter((part) => part.type === 'source').map((part) => part.source.url),
      searched: (message.parts?.some((part) => part.type === 'tool-invocation')
        ? message.parts.filter((part) => part.type === 'tool-invocation').map((part) => part.toolInvocation)
        : (message.toolInvocations ?? [])).filter((call) => call.toolName === 'search').flatMap((call) => urlsIn(call.result)),
      threadId: message.annotations?.find((annotation) => annotation.type === 'finish')?.threadId,
    })),
    busy: chat.isLoading,
    error: chat.error?.message,
    send: (text, body) => void chat.append({ role: 'user', content: text }, { body }),
    stop: chat.stop,
  };
}
`;

const version5 = (version: SdkVersion) => `
import { useChat } from 'chat-${version}';
import { DefaultChatTransport } from 'ai';
import { useEffect } from 'react';
const saved = options.id === undefined ? [] : JSON.parse(localStorage.getItem(options.id) ?? '[]');
const transport = new DefaultChatTransport({ api: options.api, headers, body, fetch: sayErrors });
function useChatHere() {
  const chat = useChat({
    transport,
    resume: options.resume,
    ...(options.id === undefined ? {} : { id: options.id, messages: saved }),
  });
  useEffect(() => {
    const finished = chat.messages.filter((message) => message.role === 'user' || message.metadata?.finishReason);
    if (options.id !== undefined) localStorage.setItem(options.id, JSON.stringify(finished));
  }, [chat.messages]);
  return {
    messages: chat.messages.map((message) => ({
      role: message.role,
      text: message.parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
      sources: message.parts.filter((part) => part.type === 'source-url').map((part) => part.url),
      searched: [],
      threadId: message.metadata?.threadId,
    })),
    busy: chat.status === 'submitted' || chat.status === 'streaming',
    error: chat.error?.message,
    send: (text, body) => void chat.sendMessage({ text }, { body }),
    stop: chat.stop,
  };
}
`;

/** A page with the real `useChat` of one released version, in one script. */
async function bundle(version: SdkVersion): Promise<string> {
  const entry = join(requireServer('sdk-versions'), 'node_modules', `chat-${version}`, 'page-of-the-test.js');
  const built = await rolldown({
    input: entry,
    platform: 'browser',
    logLevel: 'silent',
    transform: { define: { 'process.env.NODE_ENV': '"production"', 'process.env': '{}' } },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? common + (isVersion4(version) ? version4 : version5(version)) : undefined),
      },
    ],
  });
  const { output } = await built.generate({ format: 'iife', codeSplitting: false });
  await built.close();
  return output[0].code;
}

/** Serves the pages of the versions on a separate origin: `<url>/<version>`. */
export function serveSdkPages(): Promise<LoopbackServer> {
  const bundles = new Map<string, Promise<string>>();
  const server = createServer((request, response) => {
    const version = sdkVersions.find((known) => request.url?.startsWith(`/${known}`));
    if (version === undefined) {
      response.writeHead(404).end();
      return;
    }
    if (!request.url?.endsWith('.js')) {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(`<!doctype html><title>Chat</title><div id="root"></div><script src="/${version}.js"></script>`);
      return;
    }
    const built = bundles.get(version) ?? bundle(version);
    bundles.set(version, built);
    built.then(
      (code) => response.setHeader('content-type', 'text/javascript').end(code),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  return onLoopback(server);
}
