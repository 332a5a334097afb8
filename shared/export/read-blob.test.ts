import { expect, test } from 'vitest';
import { blobKey } from '#shared/contracts/stored-objects.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { DamagedObject } from '#shared/storage/object-store.ts';
import { readBlob } from './read-blob.ts';

const sha256 = sha256Of('# A');
const storeOf = (bytes: Uint8Array | undefined) => ({
  get: async (key: string) => (key === blobKey('acme', sha256) ? bytes : undefined),
});

test('a file is returned with its own bytes only', async () => {
  expect(await readBlob(storeOf(Buffer.from('# A')), 'acme', sha256)).toEqual(Buffer.from('# A'));
  expect(await readBlob(storeOf(undefined), 'acme', sha256)).toBeUndefined();
});

test.each([
  ['other bytes', '# B'],
  ['only its beginning', '#'],
  ['an error as a page', '<html>502 Bad Gateway</html>'],
  ['nothing', ''],
])('a store that answers with %s has sent a damaged object', async (_what, sent) => {
  await expect(readBlob(storeOf(Buffer.from(sent)), 'acme', sha256)).rejects.toThrow(DamagedObject);
});
