import { expect, test } from 'vitest';
import { z } from 'zod';
import { BrokenObject, getJson } from './stored-json.ts';

const schema = z.object({ name: z.string() });
const storeOf = (text: string | undefined) => ({
  get: async () => (text === undefined ? undefined : Buffer.from(text)),
});

test('reads what the schema knows', async () => {
  expect(await getJson(storeOf('{"name":"größe","more":1}'), 'a.json', schema)).toEqual({ name: 'größe' });
  expect(await getJson(storeOf(undefined), 'a.json', schema)).toBeUndefined();
});

test.each(['', '{', '{"name":1}', 'null'])('%j is broken, and the error names the key', async (text) => {
  const reading = getJson(storeOf(text), 'a.json', schema);
  await expect(reading).rejects.toThrow(BrokenObject);
  await expect(reading).rejects.toThrow('a.json');
});
