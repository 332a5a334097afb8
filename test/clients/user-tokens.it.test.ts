import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, createOrganization, gatewayHarness, operatorToken } from '../support/gateway-harness.ts';
import { assistantBehind } from './assistant-harness.ts';

/** A gateway that calls an assistant. Its site has a page that only the group `staff` may read. */
async function startSite(domain: object) {
  const gateway = await gatewayHarness({}, assistantBehind());
  const acme = await createOrganization(gateway, 'Acme', 'enterprise', domain);
  const page = async (key: string, headers: Record<string, string> = {}, groups?: readonly string[]) => {
    const answer = await gateway.app.inject({
      method: 'POST',
      url: '/discovery/v1/page/docs',
      headers: { ...bearer(key), ...headers },
      payload: { path: 'internal/runbook', groups },
    });
    return { status: answer.statusCode, body: answer.json() };
  };
  return { ...acme, gateway, page };
}

type Site = Awaited<ReturnType<typeof startSite>>;
const pairs: Record<'EdDSA' | 'ES256' | 'RS256', CryptoKey> = {} as never;
let claimed: Site;
let signed: Site;
let nowSeconds: number;

beforeAll(async () => {
  const userTokenKeys = [];
  for (const alg of ['EdDSA', 'ES256', 'RS256'] as const) {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    // There are two keys of each kind, because the token does not name the key that signed it.
    if (alg !== 'RS256') userTokenKeys.push(await exportJWK((await generateKeyPair(alg)).publicKey));
    userTokenKeys.push(await exportJWK(publicKey));
    pairs[alg] = privateKey;
  }
  claimed = await startSite({ groups: 'claimed' });
  signed = await startSite({ groups: 'signed', userTokenKeys });
  nowSeconds = signed.gateway.clock.time.getTime() / 1000;
});
afterAll(() => Promise.all([claimed.gateway.close(), signed.gateway.close()]));

const claims = (more: JWTPayload = {}): JWTPayload => ({
  aud: 'docs',
  exp: nowSeconds + 3600,
  groups: ['staff'],
  ...more,
});
const sign = (payload: JWTPayload, alg: keyof typeof pairs = 'EdDSA', key = pairs[alg]) =>
  new SignJWT(payload).setProtectedHeader({ alg }).sign(key);
const withToken = async (token: string | Promise<string>, groups?: readonly string[]) =>
  await signed.page(signed.assistantKey, { 'x-user-token': await token }, groups);

test('in a claimed domain, the groups of the request count, and a token has no effect', async () => {
  expect((await claimed.page(claimed.assistantKey)).status).toBe(404);
  expect((await claimed.page(claimed.assistantKey, {}, ['staff'])).status).toBe(200);
  expect((await claimed.page(claimed.assistantKey, { 'x-user-token': 'nonsense' })).status).toBe(404);
});

test('in a signed domain, naming a group has no effect', async () => {
  expect((await signed.page(signed.assistantKey, {}, ['staff'])).status).toBe(404);
});

test.each(['EdDSA', 'ES256', 'RS256'] as const)(
  'a token that is signed with %s puts its reader into groups',
  async (alg) => {
    expect((await withToken(sign(claims(), alg))).status).toBe(200);
    expect((await withToken(sign(claims({ groups: ['other'] }), alg))).status).toBe(404);
  },
);

test('groups that a request names narrow those of its token, and add none', async () => {
  const token = await sign(claims({ groups: ['staff', 'größe'] }));
  expect((await withToken(token, ['staff'])).status).toBe(200);
  expect((await withToken(token, ['größe'])).status).toBe(404);
  expect((await withToken(sign(claims({ groups: ['größe'] })), ['staff'])).status).toBe(404);
});

test('a reader may be in 100 groups', async () => {
  const groups = Array.from({ length: 99 }, (_, count) => `${count}-${'g'.repeat(80)}`);
  expect((await withToken(sign(claims({ groups: [...groups, 'staff'] })))).status).toBe(200);
  expect((await withToken(sign(claims({ groups: [...Array.from({ length: 100 }, String), 'staff'] })))).status).toBe(
    400,
  );
});

test('an admin key may name groups; with a token it has the groups of the token', async () => {
  expect((await signed.page(signed.adminKey, {}, ['staff'])).status).toBe(200);
  const token = await sign(claims({ groups: ['other'] }));
  expect((await signed.page(signed.adminKey, { 'x-user-token': token }, ['staff'])).status).toBe(404);
});

test.each<[string, () => string | Promise<string>, string]>([
  ['has expired', () => sign(claims({ exp: nowSeconds - 1 })), 'has expired'],
  ['never expires', () => sign({ aud: 'docs', groups: ['staff'] }), '"exp"'],
  ['expires in 25 hours', () => sign(claims({ exp: nowSeconds + 25 * 3600 })), '24 hours'],
  ['is not valid yet', () => sign(claims({ nbf: nowSeconds + 60 })), '"nbf"'],
  ['is for another domain', () => sign(claims({ aud: 'blog' })), '"aud" must be "docs"'],
  ['is for no domain', () => sign({ exp: nowSeconds + 60, groups: ['staff'] }), '"aud" must be "docs"'],
  ['has no groups', () => sign({ aud: 'docs', exp: nowSeconds + 60 }), '"groups"'],
  ['has groups that are no list', () => sign(claims({ groups: 'staff' })), '"groups"'],
  ['is not signed', () => new UnsecuredJWT(claims()).encode(), 'is not a JWT'],
  [
    'was signed by a stranger',
    async () => sign(claims(), 'EdDSA', (await generateKeyPair('EdDSA')).privateKey),
    'is not a JWT',
  ],
  [
    'was signed with a shared secret',
    () => new SignJWT(claims()).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from('x'.repeat(32))),
    'is not a JWT',
  ],
  [
    'was changed',
    async () => (await sign(claims())).replace(/\.[^.]+\./, `.${Buffer.from('{}').toString('base64url')}.`),
    'is not a JWT',
  ],
  ['is nonsense', () => 'nonsense', 'is not a JWT'],
])('a token that %s is refused by the name of its header', async (_name, token, named) => {
  const { status, body } = await withToken(token());
  expect([status, body.code, body.fields?.[0].path]).toEqual([400, 'invalid_request', 'X-User-Token']);
  expect(body.error).toContain(named);
});

test.each<[string, () => Promise<object>]>([
  ['a private key', async () => ({ groups: 'signed', userTokenKeys: [await exportJWK(pairs.EdDSA)] })],
  ['a secret', async () => ({ groups: 'signed', userTokenKeys: [{ kty: 'oct', k: 'c2VjcmV0' }] })],
  [
    'a point off its curve',
    async () => ({
      groups: 'signed',
      userTokenKeys: [{ kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) }],
    }),
  ],
  [
    'six keys',
    async () => ({
      groups: 'signed',
      userTokenKeys: Array.from({ length: 6 }, () => ({ kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) })),
    }),
  ],
  ['keys of a claimed domain', async () => ({ userTokenKeys: [{ kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) }] })],
])('%s cannot be registered', async (_name, domain) => {
  const answer = await signed.gateway.app.inject({
    method: 'POST',
    url: `/v1/organizations/${signed.id}/domains`,
    headers: bearer(operatorToken),
    payload: { domain: 'other', ...(await domain()) },
  });
  expect([answer.statusCode, answer.json().code]).toEqual([400, 'invalid_request']);
  expect(answer.json().error).toContain('userTokenKeys');
});
