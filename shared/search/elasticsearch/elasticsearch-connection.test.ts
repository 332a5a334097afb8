import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { documentShape, versionId } from './elasticsearch-schema.ts';
import { elasticsearchSearchIndex } from './elasticsearch-search-index.ts';
import { SearchUnavailable } from '#shared/search/search-index.ts';

const scope = { organization: 'acme', domain: 'docs', contentVersion: 'cv_1' };
const product = { 'x-elastic-product': 'Elasticsearch' };
const json = { ...product, 'content-type': 'application/json' };
const noIndex = '{"error":{"type":"index_not_found_exception","reason":"no such index"},"status":404}';

/** The results or errors of the index for an unknown content version, and of its removal, when the server gives this answer. */
async function said(status: number, headers: Record<string, string>, body: string | Buffer): Promise<unknown[]> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, headers).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const nodes = [`http://127.0.0.1:${port}`];
  const index = elasticsearchSearchIndex({ product: 'elasticsearch', nodes, prefix: 'x', shards: 1, replicas: 0 });
  const answers = await Promise.allSettled([
    index.search({ ...scope, query: 'word', limit: 1 }),
    index.findPage(scope, 'page', []),
    index.facets(scope),
    index.passageCount(scope),
    index.remove(scope),
  ]);
  await index.close();
  server.closeAllConnections();
  server.close();
  return answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason));
}

test('a cluster without the index has nothing', async () => {
  expect(await said(404, json, noIndex)).toEqual([[], undefined, undefined, undefined, undefined]);
});

test.each([
  ['a page "Not found"', 404, { 'content-type': 'text/html' }, '<html>Not found</html>'],
  ['another server', 404, json, '{"error":"no handler"}'],
  ['an empty answer', 200, json, '{}'],
  ['nothing', 200, json, 'null'],
  ['a redirect', 302, { ...product, location: 'http://127.0.0.1:1/' }, ''],
  ['a page of a proxy that failed', 502, { 'content-type': 'text/html' }, '<html>Bad gateway</html>'],
  ['another product', 200, { 'content-type': 'application/json' }, '{}'],
  ['a word', 200, json, '"yes"'],
  ['a list', 200, json, '[]'],
  ['documents that are none', 200, json, '{"docs":[null,5],"hits":{"hits":[null]},"items":[null]}'],
  ['a word for the documents', 200, json, '{"docs":"x","hits":{"hits":"x"}}'],
  ['an answer of 70 MB', 200, json, `{"docs":[],"x":"${'x'.repeat(70_000_000)}"}`],
  ['a compressed answer', 200, { ...json, 'content-encoding': 'gzip' }, gzipSync('{"docs":[]}')],
  ['a refusal', 401, json, '{"error":{"type":"security_exception","reason":"no"},"status":401}'],
])('%s is no answer of a cluster', async (_, status, headers, body) => {
  const unavailable = expect.any(SearchUnavailable);
  expect(await said(status, headers, body)).toEqual([1, 2, 3, 4, 5].map(() => unavailable));
});

test('documents of another organization are not shown, whatever the engine sends', async () => {
  const server = createServer((request, response) => {
    request.resume();
    const foreign = { organization: 'globex', domain: 'docs', kind: 'searched', shape: documentShape, build: 'b' };
    const docs = [versionId(scope), 'other'].map((_id) => ({ _id, found: true, _source: { ...foreign, facets: {} } }));
    response.writeHead(200, json).end(JSON.stringify({ docs }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const nodes = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`];
  const index = elasticsearchSearchIndex({ product: 'elasticsearch', nodes, prefix: 'x', shards: 1, replicas: 0 });
  expect(await index.facets(scope)).toBeUndefined();
  expect(await index.findPage(scope, 'page', [])).toBeUndefined();
  await index.close();
  server.closeAllConnections();
  server.close();
});
