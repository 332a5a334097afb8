/**
 * One process of the benchmark, forked by `run.ts`: `model` (a server with Mistral's protocol), `bare` (the pipeline of the AI SDK and nothing else)
 * `assistant` (the service) or `resumable` (the service, whose answers can be resumed). All but the first get the address of the first. The process reports its address, and answers `measure` with its processor
 * time and memory.
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeUIMessageStreamToResponse, streamText, toUIMessageStream } from 'ai';
import { createMistral } from '@ai-sdk/mistral';
import { languageModelSettings, openLanguageModel } from '#services/assistant/language-model.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { startAssistantHarness } from '../../clients/assistant-harness.ts';
import { memoryBus } from '../../support/memory-bus.ts';
import { startTestBus } from '../../support/start-bus.ts';
import { mistralChunk, startMistral, startsStream } from '../../support/start-mistral.ts';
import type { Ready, Used } from './run.ts';

const tokens = 200;
/** Pause after a token of a model that is asked to answer slowly. */
const pacedMs = 20;
const token = mistralChunk({ content: 'word ' });

async function serveModel(): Promise<string> {
  const model = await startMistral();
  model.answers(async (response, { body }) => {
    startsStream(response);
    response.write(token);
    // A question with this word stays open, so that memory can be measured.
    if (JSON.stringify(body.messages.at(-1)).includes('forever')) return;
    const isPaced = JSON.stringify(body.messages.at(-1)).includes('slowly');
    for (let sent = 1; sent < tokens; sent += 1) {
      if (!response.write(token)) await once(response, 'drain');
      if (isPaced) await delay(pacedMs);
    }
    response.end(`${mistralChunk({ content: '' }, 'stop')}data: [DONE]\n\n`);
  });
  return model.baseUrl;
}

async function serveBare(baseURL: string): Promise<string> {
  const model = createMistral({ apiKey: 'k', baseURL })('m');
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += String(part);
    const { messages } = JSON.parse(text) as { messages: { parts: { text: string }[] }[] };
    const result = streamText({ model, prompt: messages.at(-1)?.parts[0]?.text ?? '', onError: () => {} });
    void pipeUIMessageStreamToResponse({ response, stream: toUIMessageStream({ stream: result.stream }) });
  }
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** `keeps`: answers can be resumed, and their parts go to a real nats-server. */
async function serveAssistant(baseURL: string, keeps: boolean): Promise<Ready> {
  // The options are those of the service.
  const model = await openLanguageModel(
    loadConfig(languageModelSettings, {
      BINDERY_LANGUAGE_MODEL: 'mistral',
      BINDERY_MISTRAL_API_KEY: 'k',
      BINDERY_MISTRAL_BASE_URL: baseURL,
      BINDERY_MISTRAL_MODEL: 'm',
    }),
  );
  const bus = memoryBus();
  if (keeps) {
    const stand = await startTestBus();
    process.on('exit', () => void stand.server.kill());
    bus.writtenAnswers = (await stand.connect('assistant')).writtenAnswers;
  }
  const most = Number.MAX_SAFE_INTEGER;
  const harness = await startAssistantHarness(model, bus, { budgetBytes: most, resumableBytes: most });
  const headers = keeps ? { 'x-bindery-chat': '0'.repeat(32) } : {};
  return { url: `${harness.url}/internal/message`, headers: harness.headers(headers) };
}

const [kind, modelUrl = ''] = process.argv.slice(2);
process.on('message', () => {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({ cpuMs: (user + system) / 1_000, rss, heap: heapUsed + external } satisfies Used);
});
process.on('disconnect', () => process.exit());
const ready: Ready =
  kind === 'assistant' || kind === 'resumable'
    ? await serveAssistant(modelUrl, kind === 'resumable')
    : { url: kind === 'model' ? await serveModel() : await serveBare(modelUrl), headers: {} };
process.send?.(ready);
