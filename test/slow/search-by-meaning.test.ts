import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiClient, apiClient } from '#services/cli/api-client.ts';
import { whenSearched } from '#services/cli/publish-project.ts';
import type { SearchAnswer } from '#shared/interfaces/http/assistant.ts';
import { conceptVector } from '#shared/search/vectors/search-vectors.contract.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { newFolder } from '../support/new-folder.ts';
import { mistralEmbeds, type MistralServer, startMistral } from '../support/start-mistral.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';

const minuteMs = 60_000;
const key = 'the-key-of-the-embedder';
const pages = {
  'index.mdx': '---\ntitle: Welcome\n---\n\nHello.\n',
  'driving.mdx': '---\ntitle: Driving\n---\n\nWhere cars are parked.\n',
  'vault.mdx': '---\ntitle: Vault\ngroups: ["staff"]\n---\n\nWhere secrets are kept.\n',
};

/** All services, with two indexers and a server with Mistral's protocol. */
describeWithServers(['nats-server'], 'an installation with a key of Mistral', () => {
  let mistral: MistralServer;
  let harness: TestInstallation;
  let reader: ApiClient;
  let project: string;

  beforeAll(async () => {
    project = newFolder();
    const navigation = { pages: Object.keys(pages).map((file) => file.replace('.mdx', '')) };
    const settings = { theme: 'mint', name: 'Acme', colors: { primary: '#000000' }, navigation };
    await writeFile(join(project, 'docs.json'), JSON.stringify(settings));
    for (const [file, text] of Object.entries(pages)) await writeFile(join(project, file), text);
    mistral = await startMistral();
    mistral.embeddings.answers(mistralEmbeds(conceptVector));
    const copies = { indexer: 2, 'page-renderer': 0, bundler: 0, orchestrator: 0, housekeeper: 0 };
    const environment = {
      BINDERY_MISTRAL_API_KEY: key,
      BINDERY_MISTRAL_BASE_URL: mistral.baseUrl,
      BINDERY_EMBEDDING_MODEL: 'concepts',
      BINDERY_EMBEDDING_WITHIN_MS: '5000',
      BINDERY_LOG_LEVEL: 'silent',
    };
    harness = await startInstallation({ copies, environment });
    reader = apiClient(harness.installation.baseUrl, harness.assistantKey);
  }, 3 * minuteMs);
  afterAll(async () => {
    await harness?.stop();
    await mistral?.close();
  }, minuteMs);

  const found = async (query: string): Promise<string[]> => {
    const answer = await reader.json<SearchAnswer>(`/discovery/v1/search/${harness.domain}`, {
      method: 'POST',
      json: { query, filter: { groups: ['staff'] } },
    });
    return answer.map(({ path }) => path);
  };
  const publish = async (): Promise<void> => {
    const { contentVersion } = await harness.publish(project);
    await whenSearched(harness.admin, harness.domain, contentVersion);
  };
  const sent = (): string[] => mistral.embeddings.requests.flatMap(({ body }) => body.input);

  test(
    'finds pages by their meaning soon after they are published, sends each text once, and none of pages with groups',
    async () => {
      await publish();
      await expect.poll(() => found('automobile'), { timeout: minuteMs, interval: 250 }).toEqual(['driving']);
      expect(await found('credential')).toEqual([]);
      expect(await found('secrets')).toEqual(['vault']);
      const texts = sent().filter((text) => !['automobile', 'credential', 'secrets'].includes(text));
      expect(texts.toSorted()).toEqual(['Driving\nWhere cars are parked.', 'Welcome\nHello.']);
      expect(new Set(mistral.embeddings.requests.map(({ authorization }) => authorization))).toEqual(
        new Set([`Bearer ${key}`]),
      );
    },
    2 * minuteMs,
  );

  test(
    'searches by words while the model fails, also content that is published then',
    async () => {
      mistral.embeddings.answers((response) => void response.writeHead(500).end());
      await writeFile(join(project, 'index.mdx'), '---\ntitle: Welcome\n---\n\nHello turquoise dogs.\n');
      await publish();
      expect(await found('turquoise')).toEqual(['index']);
      expect(await found('canine')).toEqual([]);
      mistral.embeddings.answers(mistralEmbeds(conceptVector));
      await expect.poll(() => found('canine'), { timeout: minuteMs, interval: 250 }).toEqual(['index']);
      expect(sent()).not.toContain('Driving\nWhere cars are parked.');
    },
    2 * minuteMs,
  );
});
