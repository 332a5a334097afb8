import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import pino, { type Logger } from 'pino';
import { answerSignals } from '#services/assistant/answer-signals.ts';
import { assistantApp } from '#services/assistant/assistant-app.ts';
import { extractiveModel } from '#services/assistant/extractive-model.ts';
import { resumableBudget } from '#services/assistant/resumable-budget.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { type Caller, callerHeader, callerText } from '#shared/interfaces/internal/caller.ts';
import { serviceTokenHeader } from '#shared/interfaces/internal/internal-server.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import type { SearchPage } from '#shared/search/search-index.ts';
import { sqliteSearchIndex } from '#shared/search/sqlite/sqlite-search-index.ts';
import { type ServiceParts, serviceToken } from '../support/gateway-harness.ts';
import { type MemoryBus, memoryBus } from '../support/memory-bus.ts';

export const testContent = `cv_${'0'.repeat(32)}`;
const contentVersion = testContent;
const scope = { organization: 'acme', domain: 'docs', contentVersion };

export const page = (
  path: string,
  title: string,
  heading: string,
  anchor: string,
  text: string,
  more: Partial<SearchPage> = {},
): SearchPage => ({
  path,
  title,
  names: [],
  keywords: [],
  groups: [],
  boost: 1,
  key: path,
  links: [],
  markdown: `# ${title}\n`,
  passages: [{ anchor, heading, text }],
  ...more,
});

const pages = [
  page(
    'guides/keys',
    'API keys',
    'Rotate a key',
    'rotate-a-key',
    'To rotate an API key, press "Rotate" on the keys page. The old key works for one more day.',
  ),
  page(
    'guides/export',
    'Static export',
    'Start a job',
    'start-a-job',
    'Start an export job with a POST request. Poll its status until it is completed.',
  ),
  page('v2/limits', 'Limits', '', '', 'The assistant answers ten thousand requests an hour.', { version: 'v2' }),
  page('internal/runbook', 'Runbook', '', '', 'The signing secret is rotated by the staff every quarter.', {
    groups: ['staff'],
  }),
];

export type AssistantHarness = {
  url: string;
  bus: MemoryBus;
  /** The headers that the gateway sends. */
  headers(more?: Record<string, string>, caller?: Partial<Caller>): Record<string, string>;
  close(): Promise<void>;
};

type HarnessOptions = {
  logger?: Logger;
  answerTimeoutMs?: number;
  budgetBytes?: number;
  /** Storage for answers that can be resumed, and the time that they go on without a reader. */
  resumableBytes?: number;
  unreadMs?: number;
  morePages?: SearchPage[];
  replacedPages?: SearchPage[];
};

/** The assistant that a test's gateway calls, as an argument of `gatewayHarness`. */
export const assistantBehind =
  (model?: LanguageModelV4, options?: HarnessOptions) =>
  async ({ bus }: Pick<ServiceParts, 'bus'>) => {
    const assistant = await startAssistantHarness(model, bus, options);
    return { env: { BINDERY_ASSISTANT_URL: assistant.url }, close: () => assistant.close() };
  };

/** The assistant service over HTTP with a small indexed site, and its dependencies in this process. */
export async function startAssistantHarness(
  model: LanguageModelV4 = extractiveModel(),
  bus: MemoryBus = memoryBus(),
  {
    logger = pino({ level: 'silent' }),
    answerTimeoutMs = 60_000,
    budgetBytes = 1_000_000,
    resumableBytes = 1_000_000,
    unreadMs = 60_000,
    morePages = [],
    replacedPages,
  }: HarnessOptions = {},
): Promise<AssistantHarness> {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-assistant-'));
  const searchIndex = sqliteSearchIndex(join(folder, 'search'));
  const build = await searchIndex.startBuild(scope);
  await build.add(replacedPages ?? [...pages, ...morePages]);
  await build.commit();
  const now = new Date().toISOString();
  const { organization, domain } = scope;
  await bus.readModels.directoryContents.put(`${organization}.${domain}`, {
    revision: 1,
    commitId: 'c1',
    updatedAt: now,
    state: {
      organization,
      domain,
      versions: [{ contentVersion, publishedAt: now, pageCount: pages.length, indexed: true }],
      labels: {},
      latest: contentVersion,
      searched: contentVersion,
    },
  });
  const keeping = {
    signals: answerSignals(bus),
    budget: resumableBudget(resumableBytes),
    unreadMs,
    inFlight: new Set<Promise<void>>(),
  };
  const app = assistantApp(
    {
      bus,
      searchIndex,
      model,
      logger,
      clock: systemClock,
      random: randomBase62,
      hashKey: 'a hash key for tests',
      budgetBytes,
      answerTimeoutMs,
      keeping,
      cutAnswers: new AbortController().signal,
    },
    {
      callerTokens: { gateway: serviceToken },
      logger,
      checks: {},
      draining: () => false,
      metrics: serviceMetrics('test'),
    },
  );
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    bus,
    headers: (more = {}, caller = {}) => ({
      [serviceTokenHeader]: serviceToken,
      [callerHeader]: callerText({
        requestId: 'req_1',
        organization,
        organizationPlan: 'enterprise',
        domain,
        groupTrust: 'claimed',
        trustedGroups: 'named',
        actor: { kind: 'key', id: 'key_test' },
        address: '127.0.0.1',
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
        ...caller,
      }),
      ...more,
    }),
    async close() {
      app.server.closeAllConnections();
      await app.close();
      await searchIndex.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Reads a stream of events as a script with curl would: line by line, `data:` lines as JSON. */
export async function readEvents(
  response: Response,
): Promise<{ events: Record<string, unknown>[]; done: boolean; raw: string }> {
  const raw = await response.text();
  const data = raw
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
  const done = data.at(-1) === '[DONE]';
  return {
    raw,
    done,
    events: data.filter((value) => value !== '[DONE]').map((value) => JSON.parse(value) as Record<string, unknown>),
  };
}

export const deltas = (events: readonly Record<string, unknown>[]): string =>
  events.map((event) => (event.type === 'text-delta' ? String(event.delta) : '')).join('');

/** A language model whose stream a test writes. `signal` is the one that the service gave it. */
export function scriptedModel(
  script: (signal: AbortSignal) => AsyncIterable<LanguageModelV4StreamPart>,
): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'scripted',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('this model only streams')),
    doStream: ({ abortSignal }) =>
      Promise.resolve({ stream: ReadableStream.from(script(abortSignal ?? new AbortController().signal)) }),
  };
}

export const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
