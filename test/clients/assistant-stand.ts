import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import pino from 'pino';
import { assistantApp } from '#services/assistant/assistant-app.ts';
import { systemClock } from '#shared/clock/clock.ts';
import type { Caller } from '#shared/internal-http/caller.ts';
import { callerHeader } from '#shared/internal-http/caller.ts';
import { serviceTokenHeader } from '#shared/internal-http/service-token.ts';
import { extractiveModel } from '#shared/language-model/extractive-model.ts';
import { folderObjectStore } from '#shared/object-store/folder-object-store.ts';
import { pageMarkdownKey } from '#shared/search/page-markdown-key.ts';
import type { SearchPage } from '#shared/search/passage.ts';
import { sqliteSearchIndex } from '#shared/search/sqlite-search-index.ts';
import { type MemoryBus, memoryBus } from '../support/memory-bus.ts';

export const contentVersion = `cv_${'0'.repeat(32)}`;
const scope = { organization: 'acme', domain: 'docs', contentVersion };
const serviceToken = 'a service token for tests';

const page = (
  path: string,
  title: string,
  heading: string,
  anchor: string,
  text: string,
  more: Partial<SearchPage> = {},
): SearchPage => ({
  path,
  title,
  keywords: [],
  groups: [],
  boost: 1,
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

export type AssistantStand = {
  url: string;
  bus: MemoryBus;
  /** What the gateway sends along. */
  headers(more?: Record<string, string>, caller?: Partial<Caller>): Record<string, string>;
  close(): Promise<void>;
};

/** The assistant service over HTTP with a small searched site, and everything behind it in this process. */
export async function startAssistantStand(model: LanguageModelV4 = extractiveModel()): Promise<AssistantStand> {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-assistant-'));
  const searchIndex = sqliteSearchIndex(join(folder, 'search'));
  const build = await searchIndex.startBuild(scope);
  await build.add(pages);
  await build.commit();
  const objects = folderObjectStore({
    folder: join(folder, 'objects'),
    publicBaseUrl: 'http://127.0.0.1',
    signingKey: 'a signing key for tests',
    clock: systemClock,
    maxLinkLifetimeSeconds: 60,
  });
  await objects.put(pageMarkdownKey(scope, 'guides/keys'), Buffer.from('# API keys\n'));
  await objects.put(pageMarkdownKey(scope, 'internal/runbook'), Buffer.from('# Runbook\n'));

  const bus = memoryBus();
  const now = new Date().toISOString();
  const { organization, domain } = scope;
  await bus.documents.directoryContents.put(`${organization}.${domain}`, {
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
  const app = assistantApp({
    bus,
    searchIndex,
    objects,
    model,
    logger: pino({ level: 'silent' }),
    clock: systemClock,
    hashKey: 'a hash key for tests',
    answerTimeoutMs: 60_000,
    stopping: new AbortController().signal,
    serviceToken,
    draining: () => false,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    bus,
    headers: (more = {}, caller = {}) => ({
      [serviceTokenHeader]: serviceToken,
      [callerHeader]: JSON.stringify({
        requestId: 'req_1',
        organization,
        organizationPlan: 'enterprise',
        domain,
        groupTrust: 'claimed',
        actor: { kind: 'key', id: 'key_test' },
        address: '127.0.0.1',
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
        ...caller,
      } satisfies Caller),
      ...more,
    }),
    async close() {
      app.server.closeAllConnections();
      await app.close();
      await searchIndex.close();
      await objects.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
