import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NotCopied, type ObjectPart, type ObjectStore, ObjectStoreUnavailable } from './object-store.ts';
import { s3ObjectStore } from './s3-object-store.ts';

/** Requests of one multipart upload, as "METHOD what", in the order of arrival. */
let requests: string[] = [];
let answers: Record<string, (response: ServerResponse) => void> = {};
/** Parts that were copied and sent, with their ranges and sizes. */
let copies: string[] = [];
let sizes: string[] = [];
let store: ObjectStore;

function rangeBytes(range: string): number {
  const [start = 0, end = 0] = range.slice('bytes='.length).split('-').map(Number);
  return end - start + 1;
}

const server = createServer((request, response) => void serve(request, response));

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '', 'http://store');
  const body = await buffer(request);
  const part = url.searchParams.get('partNumber');
  const copied = request.headers['x-amz-copy-source-range'];
  const what = `${request.method} ${part === null ? (url.searchParams.has('uploads') ? 'begin' : 'upload') : `part ${part}`}`;
  requests.push(what);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  const sent = request.headers['x-amz-checksum-crc32'];
  const md5 = request.headers['content-md5'];
  if (copied !== undefined) copies.push(`${what}: ${String(request.headers['x-amz-copy-source'])} ${String(copied)}`);
  else if (md5 !== undefined) {
    sizes.push(`${what}: ${body.length}`);
    if (md5 !== hash('md5', body, 'base64')) response.statusCode = 400;
  } else if (part !== null && sent !== checksum.toString('base64')) response.statusCode = 400;
  if (sent !== undefined) response.setHeader('x-amz-checksum-crc32', sent);
  response.setHeader('etag', '"x"');
  const answer = answers[what];
  if (answer) answer(response);
  else if (what === 'DELETE upload') response.writeHead(204).end();
  else if (copied !== undefined) response.end('<CopyPartResult><ETag>"x"</ETag></CopyPartResult>');
  else if (request.method === 'GET') response.end(Buffer.alloc(rangeBytes(String(request.headers['range']))));
  else response.end(what === 'POST begin' ? '<R><UploadId>u</UploadId></R>' : '<R/>');
}

const refused = (response: ServerResponse) =>
  response.writeHead(400).end('<Error><Code>InvalidPart</Code><Message>no</Message></Error>');

beforeEach(async () => {
  requests = [];
  copies = [];
  sizes = [];
  answers = {};
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  store = s3ObjectStore({
    bucket: 'bindery',
    region: 'x',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forcePathStyle: true,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
});
afterEach(async () => {
  await store.close();
  await new Promise((resolve) => server.close(resolve));
});

const twentyMegabytes = () => Readable.from(Array.from({ length: 20 }, () => Buffer.alloc(1_000_000)));

test('each part is sent with its checksum, then the upload is finished', async () => {
  await store.putStream('a', twentyMegabytes());
  expect(requests.toSorted()).toEqual(['POST begin', 'POST upload', 'PUT part 1', 'PUT part 2', 'PUT part 3']);
});

test('an upload that cannot be finished is given up', async () => {
  answers['POST upload'] = refused;
  await expect(store.putStream('a', twentyMegabytes())).rejects.toThrow('InvalidPart');
  expect(requests.at(-1)).toBe('DELETE upload');
});

test('when a part fails, the upload is given up after the other parts, and none follows', async () => {
  const other = Promise.withResolvers<ServerResponse>();
  answers['PUT part 1'] = other.resolve;
  answers['PUT part 2'] = (response) => {
    refused(response);
    // The first part ends only after the failure of the second is known.
    void other.promise.then((first) => response.once('close', () => first.end()));
  };
  const endless = Readable.from(
    (async function* () {
      for (;;) yield Buffer.alloc(1_000_000);
    })(),
  );
  await expect(store.putStream('a', endless)).rejects.toThrow('InvalidPart');
  expect(endless.destroyed).toBe(true);
  expect(requests.slice(0, 1)).toEqual(['POST begin']);
  expect(requests.slice(1, -1).toSorted()).toEqual(['PUT part 1', 'PUT part 2']);
  expect(requests.at(-1)).toBe('DELETE upload');
});

test('an upload that cannot be aborted still reports why it failed', async () => {
  answers['PUT part 1'] = refused;
  answers['DELETE upload'] = (response) => response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
  await expect(store.putStream('a', twentyMegabytes())).rejects.toThrow('InvalidPart');
});

const MiB = 1024 * 1024;

/** An object of 300 MB that is the same as another one except for 11 bytes in its middle. */
function changedInTheMiddle(): Promise<void> {
  const fresh: ObjectPart = {
    async *read() {
      yield Buffer.from('the changes');
    },
  };
  const same = (at: number, sizeBytes: number): ObjectPart => ({
    read: () => {
      throw new Error('this part is copied');
    },
    same: { at, sizeBytes },
  });
  return store.putParts('a', [same(0, 200 * MiB), same(200 * MiB, 10 * MiB), fresh, same(210 * MiB, 90 * MiB)], {
    metadata: async () => ({}),
    other: { key: 'b c', version: '"v"' },
  });
}

test('bytes that another object has are copied in pieces, and a change is sent with as many bytes as a part needs', async () => {
  await changedInTheMiddle();
  const sent = 5 * MiB;
  expect(copies.toSorted()).toEqual([
    `PUT part 1: bindery/b%20c bytes=0-${105 * MiB - 1}`,
    `PUT part 2: bindery/b%20c bytes=${105 * MiB}-${210 * MiB - 1}`,
    `PUT part 4: bindery/b%20c bytes=${210 * MiB + sent - 11}-${300 * MiB - 1}`,
  ]);
  expect(sizes).toEqual([`PUT part 3: ${sent}`]);
  expect(requests.at(-1)).toBe('POST upload');
});

test.each([
  ['PUT part 1', 412, NotCopied],
  ['PUT part 1', 404, NotCopied],
  ['PUT part 2', 501, NotCopied],
  ['PUT part 2', 503, ObjectStoreUnavailable],
  ['GET upload', 412, NotCopied],
  ['GET upload', 404, NotCopied],
  ['GET upload', 503, ObjectStoreUnavailable],
  ['POST upload', 400, NotCopied],
  ['POST upload', 503, ObjectStoreUnavailable],
])('a store that answers %s with %i has stored nothing', async (what, status, error) => {
  answers[what] = (response) => response.writeHead(status).end('<Error><Code>Refused</Code></Error>');
  await expect(changedInTheMiddle()).rejects.toThrow(error);
  expect(requests.at(-1)).toBe('DELETE upload');
});

test('a source that ends too early is not copied, also by a store that ignores the version', async () => {
  answers['GET upload'] = (response) => response.end(Buffer.alloc(9));
  await expect(changedInTheMiddle()).rejects.toThrow(NotCopied);
  expect(requests.at(-1)).toBe('DELETE upload');
});
