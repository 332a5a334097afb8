import { expect, test } from 'vitest';
import { hashOfPassword, isPassword, passwordHash } from './password-hash.ts';

test('a password has its hash, and no other password has', async () => {
  const [hash, other] = [await hashOfPassword('correct horse battery'), await hashOfPassword('correct horse battery')];
  expect(passwordHash.safeParse(hash).success).toBe(true);
  expect(other).not.toBe(hash);
  expect(hash).not.toContain('correct');
  expect(await isPassword('correct horse battery', hash)).toBe(true);
  for (const wrong of ['', 'correct horse batterY', 'correct horse battery ', hash])
    expect(await isPassword(wrong, hash)).toBe(false);
});

test('a letter that keyboards write in two ways is the same letter', async () => {
  expect(await isPassword('pass\u0065\u0301 by heart', await hashOfPassword('pass\u00e9 by heart'))).toBe(true);
});

test('a hash of other costs is checked with those', async () => {
  // The value is that of Python: hashlib.scrypt(b'password of tests', salt=bytes(16), n=2**14, r=8, p=2, dklen=32, maxmem=2**26).
  const hash = `scrypt:14:8:2:${'A'.repeat(22)}:rG9E6vgsFPnUOyNslOqfy3GEcc-DUkqu3JWoxviByuQ`;
  expect(await isPassword('password of tests', hash)).toBe(true);
});

test.each(['', 'x', 'scrypt:20:8:1:AAAAAAAAAAAAAAAAAAAAAA:', `scrypt:24:8:1:${'A'.repeat(22)}:${'A'.repeat(43)}`])(
  '%j is no hash, so nobody has it',
  async (hash) => {
    await expect(isPassword('password of tests', hash)).rejects.toThrow('must be the hash of a password');
  },
);
