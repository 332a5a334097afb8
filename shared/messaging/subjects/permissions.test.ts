import { expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { natsConfig, rightsVersion, serverUsers } from './permissions.ts';

test('a change of rights needs a new version, so that servers with the old ones are found', () => {
  const passwords = Object.fromEntries(serverUsers.map((user) => [user, 'a password']));
  // Raise "rightsVersion" with each change of this hash.
  expect({ rightsVersion, rights: sha256Of(natsConfig({ passwords })).slice(0, 16) }).toEqual({
    rightsVersion: 3,
    rights: '915ca420103e0247',
  });
});
