import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readArchive } from '#shared/export/bundle/read-archive.ts';
import { fileListName } from '#shared/interfaces/http/listed-files.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { onLoopback } from '../../test/support/on-loopback.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { lastPublication } from './last-publication.ts';
import { publishProject } from './publish-project.ts';

type Answer = { status: number; retryAfter?: string };

const ok: Answer = { status: 200 };
const busy: Answer = { status: 503, retryAfter: '0' };

/** Publishes a project of one file to a server that gives these answers, in order. Returns the requests, and the outcome as a text. */
async function published(...answers: Answer[]): Promise<{ requests: string[]; outcome: string }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { status, retryAfter } = answers[requests.length] ?? ok;
    requests.push(`${request.method} ${request.url?.replace('/v1/domains/docs/', '')}`);
    request.resume().on('end', () => {
      response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
      const body = status === 200 ? { missing: [], contentVersion: 'cv_1' } : { error: `It is ${status}.`, code: 'c' };
      response.end(JSON.stringify(body));
    });
  });
  const { port, close } = await onLoopback(server);
  onTestFinished(() => close());
  const folder = newFolder();
  await writeFile(join(folder, 'docs.json'), '{}');
  const client = apiClient(`http://127.0.0.1:${port}`, 'k');
  const outcome = await publishProject(client, { domain: 'docs', folder }).then(
    ({ contentVersion }) => contentVersion,
    (error: unknown) => String(error),
  );
  return { requests, outcome };
}

const asked = 'POST content/missing';

test('a server without a free place is asked again after the pause that it names, at each step', async () => {
  expect(await published(busy, ok, busy, busy, ok)).toEqual({
    requests: [asked, asked, 'PATCH content', 'PATCH content', 'PATCH content'],
    outcome: 'cv_1',
  });
  expect(await published({ status: 404 }, busy, ok)).toEqual({
    requests: [asked, 'PUT content', 'PUT content'],
    outcome: 'cv_1',
  });
});

test('a server that names no pause, or limits the rate of requests, is asked once', async () => {
  for (const refusal of [{ status: 503 }, { status: 429, retryAfter: '0' }])
    expect(await published(ok, refusal)).toMatchObject({ requests: [asked, 'PATCH content'] });
});

test.each([404, 405])('an older server that answers %s gets the whole project', async (status) => {
  expect(await published({ status })).toEqual({ requests: [asked, 'PUT content'], outcome: 'cv_1' });
  expect(await published(ok, { status })).toMatchObject({ requests: [asked, 'PATCH content', 'PUT content'] });
});

test.each([500, 502, 400])('a server that answers %s does not get the whole project', async (status) => {
  expect(await published({ status })).toEqual({ requests: [asked], outcome: `ApiFailure: It is ${status}.` });
  expect(await published(ok, { status })).toMatchObject({ requests: [asked, 'PATCH content'] });
});

describe('after a publication from the same folder', () => {
  let folder: string;
  let cache: string;
  let served: { request: string; names: string[] }[];
  /** Code of the error that the next PATCH gets. */
  let refusal: string | undefined;
  /** Called when a PATCH has arrived. */
  let onReceived: () => Promise<void>;
  let client: ApiClient;

  beforeEach(async () => {
    [folder, cache, served, refusal] = [newFolder(), newFolder(), [], undefined];
    onReceived = async () => {};
    await writeFile(join(folder, 'docs.json'), '{}');
    await writeFile(join(folder, 'a.mdx'), '# A');
    const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const names: string[] = [];
      const budgets = { packedBytes: 1e9, unpackedBytes: 1e9, entries: 1e5, ratio: 1e5 };
      for await (const { path } of readArchive(request, budgets)) if (path !== fileListName) names.push(path);
      served.push({ request: `${request.method} ${request.url?.replace('/v1/domains/docs/', '')}`, names });
      const code = request.method === 'PATCH' ? refusal : undefined;
      if (code !== undefined) refusal = undefined;
      if (request.method === 'PATCH') await onReceived();
      const missing = [sha256Of('# A'), sha256Of('# B')];
      response.writeHead(code === undefined ? 200 : 409);
      response.end(JSON.stringify(code === undefined ? { missing, contentVersion: 'cv_1' } : { error: 'No.', code }));
    };
    const server = createServer((request, response) => void respond(request, response));
    const { port, close } = await onLoopback(server);
    onTestFinished(() => close());
    client = apiClient(`http://127.0.0.1:${port}`, 'k');
  });

  const lastTo = (domain: string) => lastPublication({ folder, baseUrl: client.baseUrl, domain }, { cache });
  const publish = (options: { preview?: boolean } = {}) =>
    publishProject(client, { domain: 'docs', folder, last: lastTo('docs'), ...options });

  test('the changes since then are sent with the list, without a question', async () => {
    await publish();
    await writeFile(join(folder, 'b.mdx'), '# B');
    await publish();
    expect(served).toEqual([
      { request: asked, names: [] },
      { request: 'PATCH content', names: ['a.mdx'] },
      { request: 'PATCH content', names: ['b.mdx'] },
    ]);
    expect(await lastTo('other').hashes()).toBeUndefined();
  });

  test.each([
    ['cut off', (text: string) => text.slice(0, 70)],
    ['empty', () => ''],
    ['of other files', () => `${'0'.repeat(64)}\n${'1'.repeat(64)}`],
    ['binary', () => '\u0000\ufffd'.repeat(1_000)],
  ])('a record that is %s costs bytes, and publishes the same files', async (_name, damaged) => {
    await publish();
    const [record = ''] = await readdir(cache);
    await writeFile(join(cache, record), damaged(await readFile(join(cache, record), 'utf8')));
    await publish();
    await publish();
    const [, , again, last] = served;
    expect(again?.request).toBe('PATCH content');
    expect(again?.names.length).toBeGreaterThan(0);
    expect(last).toEqual({ request: 'PATCH content', names: [] });
  });

  test('a folder that is removed once its files are sent is published', async () => {
    onReceived = () => rm(folder, { recursive: true });
    expect(await publish()).toMatchObject({ contentVersion: 'cv_1' });
  });

  test('a server that lacks more of its files is asked which', async () => {
    await publish();
    await writeFile(join(folder, 'b.mdx'), '# B');
    refusal = 'contents_missing';
    await publish();
    expect(served.slice(2)).toEqual([
      { request: 'PATCH content', names: ['b.mdx'] },
      { request: asked, names: [] },
      { request: 'PATCH content', names: ['a.mdx', 'b.mdx'] },
    ]);
  });

  test('a preview does not count, and many megabytes are not sent without a question', async () => {
    await publish({ preview: true });
    await publish();
    await writeFile(join(folder, 'large.json'), randomBytes(5_000_000));
    await publish();
    const twoSteps = [asked, 'PATCH content'];
    const inPreview = [asked, 'PATCH content?preview=1'];
    expect(served.map(({ request }) => request)).toEqual([...inPreview, ...twoSteps, ...twoSteps]);
    await rm(join(folder, 'large.json'));
    await publish();
    expect(served.slice(6)).toEqual([{ request: 'PATCH content', names: [] }]);
  });
});
