import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { makeFolder, openSecrets } from './data-folder.ts';

test('secrets stay the same from start to start, and missing ones are created', async () => {
  const folder = newFolder();
  const { auditKey, ...others } = await openSecrets(folder);
  await writeFile(join(folder, 'secrets.json'), JSON.stringify(others));
  const again = await openSecrets(folder);
  expect(again).toEqual({ ...others, auditKey: expect.any(String) });
  expect(again.auditKey).not.toBe(auditKey);
  expect(await openSecrets(folder)).toEqual(again);
  expect(await readdir(folder)).toEqual(['secrets.json']);
});

test('secrets that only a newer version knows are kept for it', async () => {
  const folder = newFolder();
  const own = await openSecrets(folder);
  const newer = {
    ...own,
    signingKey: 'a key of a later version',
    natsPasswords: { ...own.natsPasswords, painter: 'the password of a later service' },
    callTokens: { ...own.callTokens, BINDERY_TOKEN_GATEWAY_TO_PAINTER: 'the token of a later service' },
  };
  await writeFile(join(folder, 'secrets.json'), JSON.stringify(newer));
  expect(await openSecrets(folder)).toEqual(own);
  expect(JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8'))).toEqual(newer);
});

test('unreadable secrets are not replaced by new ones', async () => {
  const folder = newFolder();
  const file = join(folder, 'secrets.json');
  for (const damaged of ['', '{"hashKey"', '{"hashKey": 7}', 'null']) {
    await writeFile(file, damaged);
    await expect(openSecrets(folder)).rejects.toThrow(file);
    expect(await readFile(file, 'utf8')).toBe(damaged);
  }
  const elsewhere = newFolder();
  // A link to itself is one example of a file that cannot be read.
  await symlink('secrets.json', join(elsewhere, 'secrets.json'));
  await expect(openSecrets(elsewhere)).rejects.toThrow('ELOOP');
  expect(await readdir(elsewhere)).toEqual(['secrets.json']);
});

test('a folder that cannot be made is an error with a sentence', async () => {
  await expect(makeFolder('/proc/bindery/secrets')).rejects.toThrow(
    /^The folder \/proc\/bindery\/secrets cannot be made: E[A-Z]+: .+\. Name another one\.$/,
  );
  const folder = join(newFolder(), 'a', 'b');
  await Promise.all([makeFolder(folder), makeFolder(folder)]);
  expect(await readdir(folder)).toEqual([]);
});
