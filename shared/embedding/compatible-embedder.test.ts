import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '#shared/runtime/config.ts';
import { mistralEmbeds, type MistralServer, startMistral } from '../../test/support/start-mistral.ts';
import { embedderSettings, openEmbedder } from './open-embedder.ts';

const never = new AbortController().signal;
let server: MistralServer;
beforeAll(async () => {
  server = await startMistral();
});
afterAll(() => server.close());

const opened = (env: Record<string, string>) =>
  openEmbedder(
    loadConfig(embedderSettings, {
      BINDERY_EMBEDDING_BASE_URL: server.baseUrl,
      BINDERY_EMBEDDING_MODEL: 'minilm',
      ...env,
    }),
  );

test('vectors come from the address of the settings, with or without a key, in the order of the texts', async () => {
  server.embeddings.answers((response, { body }) => {
    // Text Embeddings Inference and vLLM may answer in any order, and have no usage.
    const data = body.input.map((text, index) => ({ object: 'embedding', index, embedding: [text.length, 0, 0] }));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data, model: 'minilm' }));
  });
  const embedder = await opened({ BINDERY_EMBEDDING_BATCH: '4' });
  expect(embedder).toMatchObject({ name: 'minilm', limits: { texts: 4 }, dimensions: undefined });
  expect(await embedder?.embed(['a', 'bb'], never)).toEqual([Float32Array.of(1, 0, 0), Float32Array.of(1, 0, 0)]);
  expect(embedder?.dimensions).toBe(3);
  expect(server.embeddings.requests[0]).toMatchObject({
    authorization: undefined,
    body: { model: 'minilm', input: ['a', 'bb'] },
  });
  const withKey = await opened({ BINDERY_EMBEDDING_API_KEY: 'k-1234' });
  await withKey?.embed(['a'], never);
  expect(server.embeddings.requests.at(-1)?.authorization).toBe('Bearer k-1234');
});

test('vectors of another length than before are refused with the settings that name the model', async () => {
  const embedder = await opened({});
  server.embeddings.answers(
    mistralEmbeds(() => [1, 2]),
    mistralEmbeds(() => [1, 2, 3]),
  );
  await embedder?.embed(['a'], never);
  await expect(embedder?.embed(['a'], never)).rejects.toThrow(/3 numbers instead of 2.*BINDERY_EMBEDDING_BASE_URL/);
  server.embeddings.answers((response) => void response.writeHead(401).end('{}'));
  await expect(embedder?.embed(['a'], never)).rejects.toThrow(/refuses BINDERY_EMBEDDING_API_KEY/);
});

test('an address without a model is refused, and "none" turns vectors off', async () => {
  const address = { BINDERY_EMBEDDING_BASE_URL: server.baseUrl };
  await expect(openEmbedder(loadConfig(embedderSettings, address))).rejects.toThrow(/BINDERY_EMBEDDING_MODEL is not/);
  expect(await opened({ BINDERY_EMBEDDING_MODEL: 'none' })).toBeUndefined();
});
