import { expect, test } from 'vitest';
import { z } from 'zod';
import { DamagedObject } from './object-store.ts';
import { BrokenObject, getJson } from './stored-json.ts';

const schema = z.object({ name: z.string() });
const storeOf = (text: string | undefined) => ({
  get: async () => (text === undefined ? undefined : Buffer.from(text)),
});

test('reads objects of the schema', async () => {
  expect(await getJson(storeOf('{"name":"größe","more":1}'), 'a.json', schema)).toEqual({ name: 'größe' });
  expect(await getJson(storeOf(undefined), 'a.json', schema)).toBeUndefined();
});

test.each(['', '{', '{"name":1}', 'null'])('%j is broken, and the error names the key', async (text) => {
  const reading = getJson(storeOf(text), 'a.json', schema);
  await expect(reading).rejects.toThrow(BrokenObject);
  await expect(reading).rejects.toThrow('a.json');
});

test('an object that the store finds damaged is broken, too; other errors of the store pass', async () => {
  const failing = (error: Error) => {
    const get = async () => {
      throw error;
    };
    return getJson({ get }, 'a.json', schema);
  };
  await expect(failing(new DamagedObject('it was cut'))).rejects.toThrow(
    'The object a.json cannot be read: it was cut',
  );
  await expect(failing(new Error('away'))).rejects.toThrow(new Error('away'));
});
