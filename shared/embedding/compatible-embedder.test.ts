import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '#shared/runtime/config.ts';
import { mistralEmbeds, type MistralServer, startMistral } from '../../test/support/start-mistral.ts';
import { EmbedderUnavailable } from './embedder.ts';
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

test.each([
  ['no numbers', []],
  ['zeros alone', [0, 0, 0, 0]],
  ['infinite numbers', [1.7e308, 1.7e308]],
  ['too many numbers', Array.from({ length: 1_000_000 }, () => 1)],
])('a vector of %s is invalid, and does not say the length of later ones', async (_name, wrong) => {
  const embedder = await opened({});
  server.embeddings.answers(
    mistralEmbeds(() => wrong),
    mistralEmbeds(() => [1, 2, 3]),
  );
  await expect(embedder?.embed(['a'], never)).rejects.toThrow(EmbedderUnavailable);
  expect((await embedder?.embed(['a'], never))?.[0]).toHaveLength(3);
});

test('a call with the most texts may have an answer of 20 MB', async () => {
  const embedder = await opened({ BINDERY_EMBEDDING_BATCH: '512' });
  // As long as 2,000 numbers of twenty digits, and parsed in no time.
  const embedding = `[0.5${'0'.repeat(40_000)}]`;
  server.embeddings.answers((response, { body }) => {
    const data = body.input.map((_, index) => `{"object":"embedding","index":${index},"embedding":${embedding}}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end(`{"data":[${data.join()}],"model":"m"}`);
  });
  expect(await embedder?.embed(Array.from({ length: 512 }, String), never)).toHaveLength(512);
});

test('an address without a model is refused, and "none" turns vectors off', async () => {
  const address = { BINDERY_EMBEDDING_BASE_URL: server.baseUrl };
  await expect(openEmbedder(loadConfig(embedderSettings, address))).rejects.toThrow(/BINDERY_EMBEDDING_MODEL is not/);
  expect(await opened({ BINDERY_EMBEDDING_MODEL: 'none' })).toBeUndefined();
});
