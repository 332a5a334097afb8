import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { loginBody, type LoginOptions, passwordSource } from './site-login.ts';

const none = async (names: readonly string[]) => names.map(() => undefined);

test.each<[LoginOptions, unknown]>([
  [{}, undefined],
  [{ login: 'none' }, { kind: 'none' }],
  [{ login: 'oidc' }, { kind: 'oidc', groups: [], emailDomains: [] }],
  [
    { login: 'oidc', group: ['docs'], emailDomain: ['acme.com'], protect: 'previews' },
    { kind: 'oidc', groups: ['docs'], emailDomains: ['acme.com'], protects: 'previews' },
  ],
  [
    { login: 'password', user: ['anna'] },
    { kind: 'password', users: [{ name: 'anna' }] },
  ],
])('%j is the login %j', async (options, body) => {
  expect(await loginBody(options, none)).toEqual(body);
});

test.each<[LoginOptions, string]>([
  [{ user: ['anna'] }, '--user needs --login password.'],
  [{ login: 'oidc', user: ['anna'] }, '--user needs --login password.'],
  [{ passwordsStdin: true }, '--passwords-stdin needs --login password.'],
  [{ login: 'password', group: ['docs'] }, '--group needs --login oidc.'],
  [{ emailDomain: ['acme.com'] }, '--email-domain needs --login oidc.'],
  [{ protect: 'previews' }, '--protect needs --login.'],
  [{ login: 'none', protect: 'all' }, '--protect needs --login.'],
  [{ login: 'password' }, '--login password needs --user'],
])('%j is refused', async (options, complaint) => {
  await expect(loginBody(options, none)).rejects.toThrow(complaint);
});

describe('passwords', () => {
  const source = (fromInput: boolean, input: Readable | PassThrough, environment: Record<string, string> = {}) => {
    const written: string[] = [];
    const output = { write: (text: string) => written.push(text) };
    return { of: passwordSource(fromInput, { environment, input, output }), written };
  };

  test('come from the lines of the input, in the order of the names; an empty line keeps the stored one', async () => {
    const { of } = source(true, Readable.from(['first password\n', '\n']));
    expect(await of(['anna', 'bert'])).toEqual(['first password', undefined]);
    const short = source(true, Readable.from(['first password\n']));
    await expect(short.of(['anna', 'bert'])).rejects.toThrow(
      'The input has 1 lines, but there are 2 names of readers.',
    );
  });

  test('come from the environment for one reader', async () => {
    const environment = { BINDERY_SITE_PASSWORD: 'of the environment' };
    expect(await source(false, Readable.from([]), environment).of(['anna'])).toEqual(['of the environment']);
    await expect(source(false, Readable.from([]), environment).of(['anna', 'bert'])).rejects.toThrow('for one reader');
  });

  test('are asked for on a terminal, which does not show them, and nowhere else', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const { of, written } = source(false, input);
    const found = of(['anna']);
    input.write('correct horse battery\r');
    expect(await found).toEqual(['correct horse battery']);
    expect(written.join('')).toContain('Password of anna');
    expect(written.join('')).not.toContain('horse');
    expect(await source(false, new PassThrough()).of(['anna'])).toEqual([undefined]);
  });
});
