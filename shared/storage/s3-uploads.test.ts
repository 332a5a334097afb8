import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ObjectStore } from './object-store.ts';
import { s3ObjectStore } from './s3-object-store.ts';

/** Requests of one multipart upload, as "METHOD what", in the order of arrival. */
let requests: string[] = [];
let answers: Record<string, (response: ServerResponse) => void> = {};
let store: ObjectStore;

const server = createServer((request, response) => void serve(request, response));

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '', 'http://store');
  const body = await buffer(request);
  const part = url.searchParams.get('partNumber');
  const what = `${request.method} ${part === null ? (url.searchParams.has('uploads') ? 'begin' : 'upload') : `part ${part}`}`;
  requests.push(what);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  const sent = request.headers['x-amz-checksum-crc32'];
  if (part !== null && sent !== checksum.toString('base64')) response.statusCode = 400;
  if (sent !== undefined) response.setHeader('x-amz-checksum-crc32', sent);
  response.setHeader('etag', '"x"');
  const answer = answers[what];
  if (answer) answer(response);
  else if (what === 'DELETE upload') response.writeHead(204).end();
  else response.end(what === 'POST begin' ? '<R><UploadId>u</UploadId></R>' : '<R/>');
}

const refused = (response: ServerResponse) =>
  response.writeHead(400).end('<Error><Code>InvalidPart</Code><Message>no</Message></Error>');

beforeEach(async () => {
  requests = [];
  answers = {};
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  store = s3ObjectStore({
    bucket: 'bindery',
    region: 'x',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forcePathStyle: true,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxLinkLifetimeSeconds: 60,
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

test('a failure to give up does not hide why', async () => {
  answers['PUT part 1'] = refused;
  answers['DELETE upload'] = (response) => response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
  await expect(store.putStream('a', twentyMegabytes())).rejects.toThrow('InvalidPart');
});
