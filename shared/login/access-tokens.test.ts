import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { endlessAnswer, jsonAnswer, lyingProvider, seconds } from '../../test/support/lying-provider.ts';
import { accessTokens } from './access-tokens.ts';

const resource = 'https://docs.acme.test/mcp';
let provider: Awaited<ReturnType<typeof lyingProvider>>;
beforeAll(async () => {
  provider = await lyingProvider();
});
afterAll(() => provider.close());
beforeEach(() => provider.reset());
afterEach(() => void vi.useRealTimers());

const opened = (timeoutMs?: number) =>
  accessTokens(async () => ({ issuer: provider.url, jwks_uri: `${provider.url}/jwks` }), 'groups', timeoutMs);
const signed = (claims: object = {}, header: object = {}) =>
  provider.signed({ claims: { aud: resource, ...claims }, header: { typ: 'at+jwt', ...header } })();

test('a token of the provider names its account and groups', async () => {
  const account = opened();
  expect(
    await account(await signed({ groups: ['docs'], email: 'ada@acme.test', email_verified: true }), resource),
  ).toEqual({ sub: 'ada', verifiedEmail: 'ada@acme.test', groups: ['docs'] });
  for (const typ of ['JWT', 'application/at+jwt', undefined])
    expect(await account(await signed({ aud: ['userinfo', resource] }, { typ }), resource)).toMatchObject({
      sub: 'ada',
    });
});

test('no other token opens anything', async () => {
  const account = opened();
  const secret = { header: { alg: 'HS256', typ: 'at+jwt' }, key: new TextEncoder().encode('a-secret'.repeat(4)) };
  const tokens: [string, string][] = [
    ['was issued for another resource', await signed({ aud: 'site' })],
    ['was issued for another resource', await signed({ aud: 'https://docs.acme.test/mcp/' })],
    ['was issued for another resource', await signed({ aud: 'https://other.acme.test/mcp' })],
    ['was issued for another resource', await signed({ aud: undefined })],
    ['is of another issuer', await signed({ iss: 'http://evil.test' })],
    ['is of another issuer', await signed({ iss: `${provider.url}/` })],
    ['has expired', await signed({ exp: seconds() - 300 })],
    ['lacks a valid claim "exp"', await signed({ exp: undefined })],
    ['lacks a valid claim "sub"', await signed({ sub: undefined })],
    ['is not valid yet', await signed({ nbf: seconds() + 300 })],
    ['is bound to a key of its client, which is not supported', await signed({ cnf: { jkt: 'x' } })],
    ['was signed by an unknown key', await signed({}, { kid: 'new' })],
    ...[
      await provider.unsigned(),
      await provider.signed({ claims: { aud: resource }, key: provider.anotherKey })(),
      await provider.signed({ claims: { aud: resource }, ...secret })(),
      await signed({}, { typ: 'logout+jwt' }),
      '',
      'a.b.c',
      'null',
      'x'.repeat(10_000),
      `${await signed()}x`,
    ].map((token): [string, string] => ['is not an access token that the provider signed', token]),
  ];
  for (const [refused, token] of tokens)
    expect([token.slice(0, 30), await account(token, resource)]).toEqual([token.slice(0, 30), { refused }]);
});

test('new keys of the provider are fetched, and keys that it withdrew open nothing', async () => {
  const account = opened();
  const before = await signed();
  expect(await account(before, resource)).toMatchObject({ sub: 'ada' });
  const next = await generateKeyPair('ES256');
  const key = { ...(await exportJWK(next.publicKey)), kid: 'next', alg: 'ES256' };
  provider.state.answers['/jwks'] = jsonAnswer({ keys: [key] });
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(Date.now() + 40_000);
  const token = await new SignJWT({ sub: 'ada', iss: provider.url, aud: resource, exp: seconds() + 60 })
    .setProtectedHeader({ alg: 'ES256', kid: 'next' })
    .sign(next.privateKey);
  expect(await account(token, resource)).toMatchObject({ sub: 'ada' });
  expect(await account(before, resource)).toEqual({ refused: 'was signed by an unknown key' });
});

test('a token without the name of its key is tried with each', async () => {
  const [one, two] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')];
  const keys = await Promise.all([one, two].map(async ({ publicKey }) => ({ ...(await exportJWK(publicKey)) })));
  provider.state.answers['/jwks'] = jsonAnswer({ keys });
  const token = (key: typeof one.privateKey) =>
    new SignJWT({ sub: 'ada', iss: provider.url, aud: resource, exp: seconds() + 60 })
      .setProtectedHeader({ alg: 'RS256' })
      .sign(key);
  expect(await opened()(await token(two.privateKey), resource)).toMatchObject({ sub: 'ada' });
  const refused = 'is not an access token that the provider signed';
  expect(await opened()(await token(provider.anotherKey), resource)).toEqual({ refused });
});

test('a provider that cannot be asked refuses no token: the call rejects, and the next one asks again', async () => {
  const account = opened(200);
  const token = await signed();
  type Answer = ReturnType<typeof jsonAnswer>;
  const answers: [Answer, string][] = [
    [() => {}, 'request timed out'],
    [endlessAnswer(), 'JSON'],
    [jsonAnswer('nonsense'), 'JSON'],
    [jsonAnswer({ keys: 'none' }), 'JSON Web Key Set'],
    [(response) => void response.writeHead(500).end(), '200 OK'],
    [(response) => void response.writeHead(307, { location: `${provider.url}/jwks` }).end(), '200 OK'],
  ];
  for (const [answer, reason] of answers) {
    provider.state.answers['/jwks'] = answer;
    await expect(account(token, resource)).rejects.toThrow(reason);
  }
  provider.reset();
  await expect(accessTokens(async () => ({ issuer: provider.url }), 'groups')(token, resource)).rejects.toThrow(
    'no keys',
  );
  expect(await account(token, resource)).toMatchObject({ sub: 'ada' });
});
