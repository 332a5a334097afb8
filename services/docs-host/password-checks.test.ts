import { expect, test } from 'vitest';
import { memoryRateLimiter } from '#shared/http/rate-limit-memory.ts';
import { type Credentials, passwordChecks } from './password-checks.ts';

const right: Credentials = {
  ...{ site: 'acme/docs', address: '192.0.2.1', name: 'anna' },
  ...{ password: 'correct horse battery', hash: 'hash of anna' },
};

/** Checks whose hashes take as long as a test wants. */
function tested(atOnce = 1) {
  const ends: (() => void)[] = [];
  let checked = 0;
  let isHeld = false;
  const checks = passwordChecks(
    async (password) => {
      checked += 1;
      if (isHeld) await new Promise<void>((resolve) => ends.push(resolve));
      return password === right.password;
    },
    memoryRateLimiter(),
    atOnce,
  );
  return {
    prove: async (changes: Partial<Credentials> = {}) => (await checks.prove({ ...right, ...changes })).kind,
    checked: () => checked,
    hold: () => (isHeld = true),
    /** Lets the check that runs end, and the next one begin. */
    releaseOne: async (): Promise<void> => {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
    /** Lets all checks end, also those that begin later. */
    release: (): void => {
      isHeld = false;
      for (const end of ends.splice(0)) end();
    },
  };
}

test('a right password is checked once, and another password, name, hash or site is checked on its own', async () => {
  const { prove, checked } = tested();
  for (let round = 0; round < 3; round += 1) expect(await prove()).toBe('right');
  expect(checked()).toBe(1);
  expect(await prove({ password: 'incorrect horse' })).toBe('wrong');
  for (const change of [{ hash: 'new hash' }, { site: 'acme/other' }, { name: 'bert' }])
    expect(await prove(change)).toBe('right');
  expect(checked()).toBe(5);
});

test('an unknown name is checked as long as a known one, and is never right', async () => {
  const { prove, checked } = tested();
  expect(await prove({ hash: undefined })).toBe('wrong');
  expect(checked()).toBe(1);
});

test('the same credentials of many requests at once are checked once', async () => {
  const { prove, checked } = tested();
  expect(new Set(await Promise.all(Array.from({ length: 50 }, () => prove())))).toEqual(new Set(['right']));
  expect(checked()).toBe(1);
});

test('an address with too many wrong passwords waits at that site alone, and readers there who were right are let in', async () => {
  const { prove, checked } = tested();
  await prove();
  for (let guess = 0; guess < 20; guess += 1) expect(await prove({ password: `guess ${guess}` })).toBe('wrong');
  const before = checked();
  expect(await prove({ password: 'one guess more' })).toBe('limited');
  expect(await prove({ name: 'bert' })).toBe('limited');
  expect(await prove()).toBe('right');
  expect(checked()).toBe(before);
  expect(await prove({ address: '192.0.2.2', password: 'wrong' })).toBe('wrong');
  expect(await prove({ site: 'acme/other', password: 'wrong' })).toBe('wrong');
});

test('guesses of one address, and of many at one site, leave readers of other sites their turn', async () => {
  const { prove, checked, hold, release } = tested();
  hold();
  const guesses = Array.from({ length: 1_000 }, (_, at) => prove({ password: `guess ${at}` }));
  const ofOne = await Promise.all(guesses.slice(2));
  expect(new Set(ofOne)).toEqual(new Set(['busy']));
  const ofMany = Array.from({ length: 1_000 }, (_, at) => prove({ address: `a${at}`, password: 'guess' }));
  expect(new Set(await Promise.all(ofMany.slice(14)))).toEqual(new Set(['busy']));
  const other = prove({ site: 'globex/docs', address: '192.0.2.9' });
  // One check runs, and the others wait for it.
  expect(checked()).toBe(1);
  release();
  expect(await other).toBe('right');
  expect(await Promise.all([...guesses.slice(0, 2), ...ofMany.slice(0, 14)])).toEqual(Array(16).fill('wrong'));
  expect(checked()).toBe(17);
});

test('guesses at many sites leave a reader of another site the next turn but few', async () => {
  const { prove, checked, hold, release, releaseOne } = tested();
  hold();
  const guesses = Array.from({ length: 20 * 16 }, (_, at) =>
    prove({ site: `many/${at % 20}`, address: `a${at}`, password: 'guess' }),
  );
  const other = prove({ site: 'globex/docs', address: '192.0.2.9' });
  const entered: string[] = [];
  void other.then((kind) => entered.push(kind));
  await expect.poll(checked).toBe(1);
  // One check of a site runs, and each site of the guesses has one turn before the reader.
  for (let turn = 1; turn <= 22; turn += 1) await releaseOne();
  expect(entered).toEqual(['right']);
  release();
  expect(new Set(await Promise.all([...guesses, other]))).toEqual(new Set(['wrong', 'right']));
});

test('a check that fails gives its place back', async () => {
  let fails = true;
  const checks = passwordChecks(async () => {
    if (fails) throw new Error('the hash cannot be read');
    return true;
  });
  for (let round = 0; round < 5; round += 1) await expect(checks.prove(right)).rejects.toThrow('cannot be read');
  fails = false;
  expect(await checks.prove(right)).toEqual({ kind: 'right' });
});
