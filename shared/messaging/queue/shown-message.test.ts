import { expect, test } from 'vitest';
import { generateApiKey } from '#shared/http/api-key.ts';
import { hashOfPassword } from '#shared/http/password-hash.ts';
import { shownMessage, withoutSecrets } from './shown-message.ts';

test('JSON is indented, and other text is as it is', () => {
  expect(shownMessage('{"type":"ExportRequested","data":[1]}', 1_000)).toEqual({
    text: '{\n  "type": "ExportRequested",\n  "data": [\n    1\n  ]\n}',
    sizeBytes: 37,
    isCut: false,
  });
  expect(shownMessage('{"type":', 1_000)).toEqual({ text: '{"type":', sizeBytes: 8, isCut: false });
});

test('a long text is cut between characters, and its size is that of all of it', () => {
  expect(shownMessage('ab😀d', 3)).toEqual({ text: 'ab', sizeBytes: 7, isCut: true });
});

test('passwords, their hashes, keys and values that are named after a secret are hidden, also in text that is no JSON', async () => {
  const [hash, key] = [await hashOfPassword('correct horse battery'), generateApiKey('admin')];
  const stored = JSON.stringify({
    login: { users: [{ name: 'ada', hash }] },
    ...{ clientSecret: 'a "quoted" one', Password: 'p', api_token: 't', note: `use ${key}` },
    ...{ sha256: 'a'.repeat(64), tokens: 12 },
  });
  for (const text of [shownMessage(stored, 10_000).text, withoutSecrets(stored.slice(0, -1))]) {
    for (const secret of [hash, key, 'quoted', '"p"', '"t"']) expect(text).not.toContain(secret);
    for (const kept of ['ada', 'a'.repeat(64), '12']) expect(text).toContain(kept);
  }
});
