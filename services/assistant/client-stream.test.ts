import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { clientStream } from './client-stream.ts';

/** A client with a buffer of ten bytes, which it empties when the test says so. */
function slowClient() {
  const written: string[] = [];
  const takes: (() => void)[] = [];
  const response = new Writable({
    highWaterMark: 10,
    decodeStrings: false,
    write(piece: string, _encoding, done) {
      written.push(piece);
      takes.push(done);
    },
  });
  return { response, written, take: () => takes.shift()?.(), stream: clientStream(response as ServerResponse, ':') };
}

test('writes of one tick are sent as one piece, later writes as another', async () => {
  const { written, take, stream } = slowClient();
  expect([stream.write('a'), stream.write('b'), stream.write('')]).toEqual([undefined, undefined, undefined]);
  expect(written).toEqual([]);
  await new Promise(setImmediate);
  take();
  void stream.write('c');
  await new Promise(setImmediate);
  expect(written).toEqual(['ab', 'c']);
});

test('a writer waits while the client is behind, and continues when it has caught up', async () => {
  const { written, take, stream } = slowClient();
  void stream.write('0123456789');
  await new Promise(setImmediate);
  const room = stream.write('more');
  let hasRoom = false;
  void room?.then(() => (hasRoom = true));
  await new Promise(setImmediate);
  expect([written, hasRoom]).toEqual([['0123456789'], false]);
  take();
  await new Promise(setImmediate);
  take();
  await room;
  expect(written.join('')).toBe('0123456789more');
  expect(stream.write('a')).toBeUndefined();
});

test('a large amount that is ready at once is flushed when the write buffer is full', () => {
  const { stream, written } = slowClient();
  expect(stream.write('x'.repeat(15_999))).toBeUndefined();
  expect(stream.write('xx')).toBeInstanceOf(Promise);
  expect(written.join('')).toHaveLength(16_001);
});

test('the end has all that was written', async () => {
  const { response, stream, written, take } = slowClient();
  void stream.write('a');
  stream.end();
  take();
  await once(response, 'finish');
  expect(written).toEqual(['a']);
});

test('nobody waits for a client that is gone, and nothing is written to it', async () => {
  const { response, stream, written } = slowClient();
  void stream.write('0123456789');
  await new Promise(setImmediate);
  const room = stream.write('more');
  response.destroy();
  await room;
  expect([stream.gone.aborted, stream.write('a'), written]).toEqual([true, undefined, ['0123456789']]);
});
