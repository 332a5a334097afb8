import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '#shared/runtime/config.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import {
  type EmbeddingAnswer,
  mistralEmbeds,
  mistralFails,
  type MistralServer,
  startMistral,
} from '../../test/support/start-mistral.ts';
import { type Embedder, EmbedderRefused, EmbedderUnavailable, embedEach, inCalls, TextsRefused } from './embedder.ts';
import { embedderSettings, openEmbedder } from './open-embedder.ts';

const key = 'the-key-of-the-embedder';
const text = 'How a zyxomma rotates its key.';
const never = new AbortController().signal;

let mistral: MistralServer;
let embedder: Embedder;
const metrics = serviceMetrics('test');

const opened = (env: Record<string, string>) => openEmbedder(loadConfig(embedderSettings, env));

beforeAll(async () => {
  mistral = await startMistral();
  const env = { BINDERY_MISTRAL_API_KEY: key, BINDERY_MISTRAL_BASE_URL: mistral.baseUrl };
  embedder = (await openEmbedder(loadConfig(embedderSettings, env), metrics)) as Embedder;
});
beforeEach(() => mistral.embeddings.answers(mistralEmbeds(vectorOf)));
afterAll(() => mistral.close());

/** A vector as long as those of `mistral-embed`. */
function vectorOf(of: string): number[] {
  if (of.includes('too long')) throw new Error('too long');
  return Array.from({ length: 1_024 }, (_, at) => Math.sin(at + of.length));
}

const fails = (status: number, headers: Record<string, string> = {}): EmbeddingAnswer => {
  const fail = mistralFails(status, `The provider repeats ${text} and ${key}.`, headers);
  return (response) => void fail(response, undefined as never);
};
const says =
  (body: string): EmbeddingAnswer =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(body);

test('there is one if a key is set, unless it is turned off', async () => {
  expect(await opened({})).toBeUndefined();
  expect(await opened({ BINDERY_MISTRAL_API_KEY: key, BINDERY_EMBEDDING_MODEL: 'none' })).toBeUndefined();
  expect(await opened({ BINDERY_MISTRAL_API_KEY: key })).toMatchObject({ name: 'mistral-embed', dimensions: 1_024 });
  const other = await opened({ BINDERY_MISTRAL_API_KEY: key, BINDERY_EMBEDDING_MODEL: 'codestral-embed' });
  expect(other).toMatchObject({ name: 'codestral-embed', dimensions: undefined });
});

test('texts are sent only to the address of the setting', async () => {
  const other = await startMistral();
  other.embeddings.answers(mistralEmbeds(vectorOf));
  mistral.embeddings.answers((response) => {
    response.writeHead(307, { location: `${other.baseUrl}/embeddings` }).end();
  });
  await expect(embedder.embed([text], never)).rejects.toThrow(EmbedderUnavailable);
  expect(other.embeddings.requests).toEqual([]);
  await other.close();
});

test('texts become vectors of length 1, in their order, by one call', async () => {
  const vectors = await embedder.embed(['a', text], never);
  expect(vectors.map((vector) => vector.length)).toEqual([1_024, 1_024]);
  for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  expect(vectors[0]?.[1]).toBeCloseTo(Math.sin(2) / Math.hypot(...vectorOf('a')), 6);
  expect(mistral.embeddings.requests).toMatchObject([
    { authorization: `Bearer ${key}`, body: { model: 'mistral-embed', input: ['a', text], encoding_format: 'float' } },
  ]);
  expect(await embedder.embed([], never)).toEqual([]);
  expect(mistral.embeddings.requests).toHaveLength(1);
});

test('a text that no model would take whole is cut, and halves of characters are made whole', async () => {
  await embedder.embed(['x'.repeat(1_000_000), 'half \ud800'], never);
  const [long, half] = mistral.embeddings.requests[0]?.body.input ?? [];
  expect([long?.length, half]).toEqual([12_000, 'half \ufffd']);
});

const good = vectorOf('a');
const answerOf = (...embeddings: unknown[]) => JSON.stringify({ data: embeddings.map((embedding) => ({ embedding })) });

test.each<[what: string, answer: EmbeddingAnswer, error: new (...all: never[]) => Error, said: RegExp]>([
  ['a wrong key', fails(401), EmbedderRefused, /401: it refuses BINDERY_MISTRAL_API_KEY/],
  ['a key without the right', fails(403), EmbedderRefused, /403/],
  ['no budget', fails(402), EmbedderRefused, /402: the account .* has no budget left/],
  [
    'no embeddings at that address',
    fails(404),
    EmbedderRefused,
    /404: there is no such model.*BINDERY_EMBEDDING_MODEL/,
  ],
  ['texts that are too long', fails(400), TextsRefused, /400/],
  ['an input that is not valid', fails(422), TextsRefused, /422/],
  ['a limit', fails(429), EmbedderUnavailable, /429/],
  ['an error of the server', fails(500), EmbedderUnavailable, /500/],
  ['a gateway without its server', fails(503), EmbedderUnavailable, /503/],
  ['a page instead of JSON', says('<html>'), EmbedderUnavailable, /unreadable answer/],
  ['fewer vectors than texts', says(answerOf(good)), EmbedderUnavailable, /unreadable answer/],
  ['vectors of another length', says(answerOf(good, [1, 0])), EmbedderRefused, /2 numbers instead of 1024/],
  ['values that are not numbers', says(answerOf(good, good).replace(/0\.\d+/, 'NaN')), EmbedderUnavailable, /./],
  [
    'an infinite number',
    says(answerOf(good, good).replace(/0\.\d+/, '1e999')),
    EmbedderUnavailable,
    /invalid vector|read/,
  ],
  [
    'nothing but zeros',
    says(
      answerOf(
        good,
        good.map(() => 0),
      ),
    ),
    EmbedderUnavailable,
    /invalid vector/,
  ],
  ['a connection that ends', (response) => void response.destroy(), EmbedderUnavailable, /cannot be reached|read/],
])('says what is wrong, without the texts and the key: %s', async (_what, answer, error, said) => {
  mistral.embeddings.answers(answer);
  const failure: unknown = await embedder.embed([text, 'b'], never).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(failure).toBeInstanceOf(error);
  expect((failure as Error).message).toMatch(said);
  expect(mistral.embeddings.requests).toHaveLength(1);
  const everything = JSON.stringify(failure, Object.getOwnPropertyNames(failure)) + (failure as Error).stack;
  for (const secret of [key, 'zyxomma']) expect(everything).not.toContain(secret);
});

test('a model that the provider does not know is refused as a whole', async () => {
  const other = await startMistral();
  const env = { BINDERY_MISTRAL_API_KEY: key, BINDERY_MISTRAL_BASE_URL: other.baseUrl };
  const unknown = await opened({ ...env, BINDERY_EMBEDDING_MODEL: 'mistral-embad' });
  await expect(unknown?.embed(['a'], never)).rejects.toThrow(EmbedderRefused);
  await other.close();
});

test('passes on the delay that the provider asks for', async () => {
  mistral.embeddings.answers(fails(429, { 'retry-after': '7' }));
  await expect(embedder.embed([text], never)).rejects.toMatchObject({ retryAfterMs: 7_000 });
  mistral.embeddings.answers(fails(429, { 'retry-after': 'soon' }));
  await expect(embedder.embed([text], never)).rejects.toMatchObject({ retryAfterMs: undefined });
  mistral.embeddings.answers(fails(503, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() }));
  await expect(embedder.embed([text], never)).rejects.toMatchObject({ retryAfterMs: expect.any(Number) });
});

test('a call that does not end is given up with the reason of its signal, and its connection is closed', async () => {
  mistral.embeddings.answers(() => {});
  const late = new AbortController();
  const call = embedder.embed([text], late.signal);
  await expect.poll(() => mistral.embeddings.requests.length).toBe(1);
  late.abort(new Error('given up'));
  await expect(call).rejects.toThrow('given up');
  await mistral.embeddings.requests[0]?.closed;
});

test('when some texts of a call are refused, the others get their vectors', async () => {
  const texts = ['a', 'this is too long', 'c', 'd', 'too long as well'];
  const vectors = await embedEach(embedder, texts, never);
  expect(vectors.map((vector) => vector?.length)).toEqual([1_024, undefined, 1_024, 1_024, undefined]);
});

test('calls contain at most the allowed texts and characters', () => {
  const limits = { texts: 3, characters: 10 };
  const calls = inCalls(
    ['four', 'four', 'four', 'x'.repeat(50), 'a', 'b', 'c', 'd'].map((each) => ({ text: each })),
    { limits },
  );
  expect(calls.map((call) => call.map((each) => each.text.length))).toEqual([[4, 4], [4], [50], [1, 1, 1], [1]]);
});

test('counts calls by how they ended', async () => {
  const said = await metrics.text();
  expect(said).toMatch(/bindery_embedder_calls_total\{outcome="done",service="test"\} [1-9]/);
  expect(said).toMatch(/bindery_embedder_calls_total\{outcome="refused",service="test"\} [1-9]/);
  expect(said).toMatch(/bindery_embedder_call_seconds_count\{service="test"\} [1-9]/);
});
