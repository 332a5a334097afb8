import { expect, test } from 'vitest';
import { frameReader } from './frames.ts';

const limits = { jsonBytes: 2 ** 20, bytes: 0, values: 100_000, names: 1_000 };

/** The messages in a frame of this JSON. */
function read(message: string): unknown[] {
  const json = Buffer.from(`[${message},[]]`);
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(json.length);
  const messages: unknown[] = [];
  frameReader(limits, (found) => messages.push(found))(Buffer.concat([prefix, json]));
  return messages;
}

const objects = (count: number, name: (at: number) => string): string =>
  `[${Array.from({ length: count }, (_, at) => `{${JSON.stringify(name(at))}:0}`).join()}]`;

test.each([
  ['the names of its objects', (at: number) => `page-${at}`],
  ['names with escaped characters', (at: number) => `"\\${at}"`],
  ['names that differ in their last character', (at: number) => 'x'.repeat(40) + String.fromCodePoint(0x4e00 + at)],
])('a message with too many different names is refused, counting %s', (_what, name) => {
  expect(() => read(objects(1_200, name))).toThrow('it sent a message with more than 1000 different names');
  expect(read(objects(900, name))).toHaveLength(1);
});

test('names that are repeated, and texts that are no names, may be many', () => {
  expect(read(objects(20_000, () => 'path'))).toHaveLength(1);
  expect(read(JSON.stringify(Array.from({ length: 20_000 }, (_, at) => `text: ${at}`)))).toHaveLength(1);
});
