import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LoopbackServer, onLoopback } from '../../test/support/on-loopback.ts';
import { type ObjectStore, ObjectStoreUnavailable } from './object-store.ts';
import { s3ObjectStore } from './s3-object-store.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

let server: LoopbackServer;
let store: ObjectStore;
let answer: Answer;
let requests = 0;

beforeAll(async () => {
  server = await onLoopback(
    createServer((request, response) => {
      requests += 1;
      request.resume().once('end', () => answer(response, request));
    }),
  );
  store = s3ObjectStore({
    ...{ bucket: 'bindery', region: 'x', endpoint: server.url, forcePathStyle: true },
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    // A busy machine takes longer than the usual deadline to send more bytes than the memory has.
    timeoutMs: 60_000,
  });
});
afterAll(async () => {
  await store.close();
  await server.close();
});

const sends =
  (body: string, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(200, headers).end(body);
const page = (keys: readonly string[], more: string) =>
  `<ListBucketResult><Name>bindery</Name>${more}${keys
    .map(
      (key) =>
        `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>5</Size></Contents>`,
    )
    .join('')}</ListBucketResult>`;
const goesOn = (token: string) =>
  `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`;
const ends = '<IsTruncated>false</IsTruncated>';
const signIn = sends('<html><body>Sign in</body></html>', { 'content-type': 'text/html' });
/** An answer that continues until the client closes the connection. */
const endless =
  (status = 200): Answer =>
  (response) => {
    const piece = Buffer.alloc(1024 * 1024, 'a');
    const go = (): void => {
      while (!response.destroyed && response.write(piece));
      if (!response.destroyed) response.once('drain', go);
    };
    response.writeHead(status, { 'content-type': 'application/xml' });
    go();
  };

async function keys(prefix = 'blobs/acme/'): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of store.list(prefix)) found.push(key);
  return found;
}

/** Expects that the call fails as one that may be repeated, with this sentence. */
async function unavailable(call: Promise<unknown>, sentence: RegExp): Promise<void> {
  const error = await call.then(
    (result) => expect.unreachable(`resolved with ${JSON.stringify(result)}`),
    (reason: unknown) => reason as Error,
  );
  expect(error.message).toMatch(sentence);
  expect(error.message.length).toBeLessThan(1_000);
  expect(error).toBeInstanceOf(ObjectStoreUnavailable);
}

describe('a list', () => {
  test('is read to its end', async () => {
    answer = (response, { url = '' }) =>
      sends(
        url.includes('continuation-token')
          ? page(['blobs/acme/c'], ends)
          : page(['blobs/acme/a', 'blobs/acme/b'], goesOn('t')),
      )(response, {} as IncomingMessage);
    expect(await keys()).toEqual(['blobs/acme/a', 'blobs/acme/b', 'blobs/acme/c']);
    answer = sends(page([], ends));
    expect(await keys()).toEqual([]);
  });

  test.each<[string, Answer, RegExp]>([
    [
      'a page of a proxy',
      signIn,
      /did not list blobs\/acme\/: (its answer is not a list|its answer .* cannot be read)/,
    ],
    ['an empty answer', sends(''), /its answer is not a list/],
    [
      'a part without the place where it goes on',
      sends(page(['blobs/acme/a'], '<IsTruncated>true</IsTruncated>')),
      /where the list continues/,
    ],
    ['the same page again and again', sends(page(['blobs/acme/a'], goesOn('t'))), /a page of the list again/],
    [
      'the same page under new names',
      (response, request) => sends(page(['blobs/acme/a'], goesOn(`t${requests}`)))(response, request),
      /a page of the list again/,
    ],
    [
      'empty pages without an end',
      (response, request) => sends(page([], goesOn(`t${requests}`)))(response, request),
      /empty pages/,
    ],
    ["another organization's objects", sends(page(['blobs/globex/a'], ends)), /it listed "blobs\/globex\/a"/],
    [
      'a time that is none',
      sends('<ListBucketResult><Contents><LastModified>soon</LastModified></Contents></ListBucketResult>'),
      /cannot be read/,
    ],
    ['an answer without an end', endless(), /cannot list blobs\/acme\/ now: .*more than|more than \d+ bytes/],
  ])('that is %s is no list', async (_, says, sentence) => {
    answer = says;
    await unavailable(keys(), sentence);
  });

  test('of unfinished uploads that never ends is given up', async () => {
    const upload = '<Upload><Key>x</Key><UploadId>1</UploadId><Initiated>2020-01-01T00:00:00Z</Initiated></Upload>';
    const list = `<R><IsTruncated>true</IsTruncated><NextKeyMarker>x</NextKeyMarker>${upload}</R>`;
    answer = (response, { method }) => void (method === 'DELETE' ? response.writeHead(204).end() : response.end(list));
    await unavailable(
      store.sweepUnfinishedUploads(new Date()),
      /did not list unfinished uploads: it sent a page of the list again/,
    );
  });
});

describe('an object', () => {
  test('is not a part of one', async () => {
    answer = (response) => void response.writeHead(206, { 'content-range': 'bytes 0-2/500' }).end('abc');
    await unavailable(store.get('a'), /it sent only the part bytes 0-2\/500/);
    expect((await store.getStream('a', { range: { start: 0, end: 2 } }))?.readable).toBe(true);
  });

  test('has a size', async () => {
    answer = (response) => void response.writeHead(200, { 'transfer-encoding': 'chunked' }).end();
    await unavailable(store.head('a'), /did not describe a: its answer has no size/);
  });

  test('is not larger than the memory', async () => {
    answer = endless();
    await unavailable(store.get('a'), /did not send a: it sent more than 268435456 bytes/);
  });

  test('is stored only if the store names what it stored', async () => {
    answer = signIn;
    await unavailable(store.put('a', Buffer.from('x')), /did not store a: its answer does not confirm it/);
    await unavailable(store.putIfAbsent('a', Buffer.from('x')), /does not confirm it/);
    await unavailable(store.putStream('a', Readable.from([Buffer.from('x')])), /does not confirm it/);
  });
});

describe('a refusal', () => {
  test('without an end, or of megabytes, is cut', async () => {
    answer = endless(400);
    await unavailable(store.get('a'), /cannot send a now|did not send a|more than \d+ bytes/);
    answer = (response) =>
      void response.writeHead(400).end(`<Error><Code>Odd</Code><Message>${'m'.repeat(1e6)}</Message></Error>`);
    const error = await store.get('a').catch((reason: unknown) => reason as Error);
    expect(String(error).length).toBeLessThan(1_000);
  });

  test('that is a page of a proxy says nothing about the object', async () => {
    answer = (response) => void response.writeHead(404, { 'content-type': 'text/html' }).end('<p>Not here');
    await unavailable(store.get('a'), /did not send a: its answer \(status 404\) cannot be read/);
  });
});

test('the time is told by the store itself, not by where it redirects to', async () => {
  requests = 0;
  answer = (response) => void response.writeHead(307, { location: `${server.url}/elsewhere` }).end();
  await store.clockSkewMs();
  expect(requests).toBe(1);
});
