import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { assistantSettings } from '#services/assistant/config.ts';
import { start as startAssistant } from '#services/assistant/main.ts';
import { indexerSettings } from '#services/indexer/config.ts';
import { start as startIndexer } from '#services/indexer/main.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { blobKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import type { ContentCommit } from '#shared/aggregates/content/content.ts';
import { memoryProject } from '../support/memory-project.ts';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import { callerHeader } from '#shared/interfaces/internal/caller.ts';
import { serviceTokenHeader } from '#shared/interfaces/internal/internal-server.ts';
import type { Running } from '#shared/service/start-service.ts';
import { folderObjectStore } from '#shared/storage/folder-object-store.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { contentCommit } from '../support/make-commit.ts';
import { newFolder } from '../support/new-folder.ts';
import { startTestBus, type TestBus } from '../support/start-bus.ts';
import { mistralChunk, startMistral, startsStream } from '../support/start-mistral.ts';
import { deltas, readEvents } from './assistant-harness.ts';

const contentVersion = `cv_${'5'.repeat(32)}`;
const serviceToken = 'a service token for tests';
const project = memoryProject({
  'docs.json': JSON.stringify({
    theme: 'mint',
    name: 'Acme',
    colors: { primary: '#000000' },
    navigation: { pages: ['index', 'keys'] },
  }),
  'index.mdx': '---\ntitle: Welcome\n---\n\nAcme keeps documentation.\n',
  'keys.mdx':
    '---\ntitle: API keys\n---\n\n## Rotate a key\n\nPress the turquoise button. The old key works for one more day.\n',
});

describeWithServers(['nats-server'], 'indexer and assistant over a real bus, each from its own start', () => {
  let folder: string;
  let testBus: TestBus;
  let projector: BusOf<'projector'>;
  let indexer: Running;
  let assistant: Running;
  let env: Record<string, string>;

  beforeAll(async () => {
    folder = newFolder();
    testBus = await startTestBus();
    env = {
      BINDERY_NATS_URL: testBus.server.url,
      BINDERY_NATS_PASSWORD_INDEXER: testBus.passwords.indexer ?? '',
      BINDERY_NATS_PASSWORD_ASSISTANT: testBus.passwords.assistant ?? '',
      BINDERY_DATA: folder,
      BINDERY_OBJECT_FOLDER: join(folder, 'objects'),
      BINDERY_TOKEN_GATEWAY_TO_ASSISTANT: serviceToken,
      BINDERY_HASH_KEY: 'a hash key for tests',
    };
    [indexer, assistant] = await Promise.all([
      startIndexer(loadConfig(indexerSettings, env)),
      startAssistant(loadConfig(assistantSettings, env)),
    ]);
    const objects = folderObjectStore({
      folder: join(folder, 'objects'),
      publicBaseUrl: 'http://x',
    });
    for (const file of project.files)
      await objects.put(blobKey('acme', file.sha256), await project.read(file.path, file.sizeBytes));
    const model = { ...(await readDocsProject(project)), contentVersion };
    await objects.put(
      siteModelKey({ organization: 'acme', domain: 'docs', contentVersion }),
      Buffer.from(JSON.stringify(model)),
    );
    await objects.close();
    projector = await testBus.connect('projector');
  });

  afterAll(async () => {
    await Promise.all([indexer.stop(), assistant.stop()]);
    await testBus.stop();
  });

  test('are ready', async () => {
    for (const { url } of [indexer, assistant]) expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  test('published content is searched, and questions about it are answered in one thread', async () => {
    const publisher = await testBus.connect('publisher');
    await publisher.content.append(
      contentCommit({
        type: 'ContentPublished',
        version: 1,
        data: { organization: 'acme', domain: 'docs', contentVersion, pageCount: 2, fileCount: 3, sizeBytes: 1 },
      }),
      { sequence: 0 },
    );
    const indexed = await nextCommitWith(projector, 'ContentIndexed');
    expect(indexed.data.state.searched).toBe(contentVersion);
    const { revision, id, time, data } = indexed;
    await projector.generations.blue.directoryContents.put('acme.docs', {
      revision,
      commitId: id,
      updatedAt: time,
      state: data.state,
    });

    const first = await ask({ messages: [question('How do I rotate a key?')] });
    const { events } = await readEvents(first);
    expect(deltas(events)).toContain('Press the turquoise button.');
    expect(events).toContainEqual({
      type: 'source-url',
      sourceId: 'source-1',
      url: '/keys#rotate-a-key',
      title: 'API keys › Rotate a key',
    });
    const threadId = first.headers.get('x-thread-id');
    const second = await readEvents(await ask({ threadId, messages: [question('Does the old key still work?')] }));
    expect(deltas(second.events)).toContain('one more day');
    expect(second.events.at(-1)).toMatchObject({ type: 'finish', threadId });
  });

  test('a question survives the kill of the assistant in the middle of its answer', async () => {
    const mistral = await startMistral();
    mistral.answers((response) => {
      startsStream(response);
      response.write(mistralChunk({ content: 'Half an ' }));
    });
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const main = join(import.meta.dirname, '../../services/cli/main.ts');
    const killed = spawn(process.execPath, [main, 'run', 'assistant'], {
      env: {
        ...process.env,
        ...env,
        BINDERY_ASSISTANT_PORT: String(port),
        BINDERY_LANGUAGE_MODEL: 'mistral',
        BINDERY_MISTRAL_API_KEY: 'a key for tests',
        BINDERY_MISTRAL_BASE_URL: mistral.baseUrl,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const exited = once(killed, 'exit');
    await vi.waitUntil(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok, { timeout: 60_000 });
    const response = await ask({ messages: [question('How do I rotate a key?')] }, url);
    const threadId = response.headers.get('x-thread-id');
    await expect(async () => {
      for await (const chunk of response.body ?? [])
        if (Buffer.from(chunk).includes('Half an ')) killed.kill('SIGKILL');
    }).rejects.toThrow('terminated');
    await exited;
    await mistral.close();

    const path = `/internal/threads/${threadId}`;
    const read = async () => (await fetch(`${assistant.url}${path}`, { headers })).json();
    expect(await read()).toMatchObject({
      messages: [{ question: 'How do I rotate a key?', answer: '', status: 'answering' }],
    });
    const next = await readEvents(await ask({ threadId, messages: [question('Does the old key still work?')] }));
    expect(deltas(next.events)).toContain('one more day');
    expect(await read()).toMatchObject({ messages: [{ answer: '' }, { status: 'answered' }] });

    expect((await fetch(`${assistant.url}${path}`, { method: 'DELETE', headers })).status).toBe(200);
    const auditor = await testBus.connect('assistant');
    expect(await auditor.threads.texts(`threads.acme.docs.${threadId}`)).toEqual([]);
  });

  const question = (text: string) => ({ id: 'm1', role: 'user', parts: [{ type: 'text', text }] });

  const headers = {
    [serviceTokenHeader]: serviceToken,
    [callerHeader]: JSON.stringify({
      requestId: 'req_1',
      organization: 'acme',
      organizationPlan: 'enterprise',
      domain: 'docs',
      groupTrust: 'claimed',
      trustedGroups: 'named',
      actor: { kind: 'key', id: 'key_test' },
      address: '127.0.0.1',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    }),
  };

  const ask = (body: object, url = assistant.url) =>
    fetch(`${url}/internal/message`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ fp: 'reader-1', ...body }),
    });
});

async function nextCommitWith(bus: BusOf<'projector'>, type: string): Promise<ContentCommit> {
  const reader = await bus.projectionReaders.content('blue');
  for (;;) {
    const delivery = await reader.next();
    await delivery?.ack();
    if (delivery?.value?.data.events.some((event) => event.type === type)) return delivery.value;
  }
}
