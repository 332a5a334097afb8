import { createServer, get, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { type LoopbackServer, onLoopback } from '../../test/support/on-loopback.ts';
import { endedSessionsInFolder } from './ended-sessions-folder.ts';
import { endedSessions } from './ended-sessions.ts';
import { oidcGate } from './oidc-gate.ts';
import type { Gate } from './reader-gate.ts';

type Answer = (response: ServerResponse) => void;
type Signed = { claims?: JWTPayload; header?: object; key?: CryptoKey | Uint8Array };

const [own, another] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
const publicKey = { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256' };
const log: string[] = [];
const logger = pino({}, { write: (line: string) => void log.push((JSON.parse(line) as { msg: string }).msg) });

let provider: LoopbackServer;
let host: LoopbackServer;
let gate: Gate;
/** Answers of the provider at its paths in a test, fields of its usual answers, and its token. */
let answers: Record<string, Answer> = {};
let fields: { metadata?: object; token?: object; userInfo?: object } = {};
let idToken: () => Promise<string>;
let nonce = '';

const json = (value: unknown): Answer => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(text);
};
/** An answer that goes on until the client leaves. */
const endless =
  (type = 'application/json'): Answer =>
  (response) => {
    const piece = Buffer.alloc(256 * 1024, 'a');
    const go = (): void => {
      while (!response.destroyed && response.write(piece));
      if (!response.destroyed) response.once('drain', go);
    };
    response.writeHead(200, { 'content-type': type }).write('{"a":"');
    go();
  };

const now = () => Math.floor(Date.now() / 1_000);
function signed({ claims = {}, header = {}, key = own.privateKey }: Signed = {}): () => Promise<string> {
  return () =>
    new SignJWT({ sub: 'ada', nonce, iss: provider.url, aud: 'site', iat: now(), exp: now() + 60, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'own', ...header })
      .sign(key);
}
async function unsigned(): Promise<string> {
  const [, payload] = (await signed()()).split('.');
  return `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
}

async function answer(path: string, response: ServerResponse): Promise<void> {
  const { url } = provider;
  const metadata = {
    ...{ issuer: url, authorization_endpoint: `${url}/auth`, token_endpoint: `${url}/token`, jwks_uri: `${url}/jwks` },
    ...{ userinfo_endpoint: `${url}/me`, id_token_signing_alg_values_supported: ['RS256'] },
    ...fields.metadata,
  };
  const usual: Record<string, () => unknown> = {
    '/.well-known/openid-configuration': () => metadata,
    '/jwks': () => ({ keys: [publicKey] }),
    '/me': () => ({ sub: 'ada', ...fields.userInfo }),
    '/token': async () => ({ access_token: 'a', token_type: 'Bearer', id_token: await idToken(), ...fields.token }),
  };
  (answers[path] ?? json(await usual[path]?.()))(response);
}

beforeAll(async () => {
  provider = await onLoopback(
    createServer((request, response) => {
      request.resume().once('end', () => void answer(request.url ?? '', response));
    }),
  );
  host = await onLoopback(createServer((request, response) => gate(request, response, () => response.end('inside'))));
});
afterAll(async () => {
  await host.close();
  await provider.close();
});
beforeEach(() => {
  [answers, fields, idToken] = [{}, {}, signed()];
  log.length = 0;
  gate = oidcGate(
    {
      ...{ issuer: new URL(provider.url), clientId: 'site', clientSecret: 'a-secret', clientAuth: 'basic' },
      ...{ scopes: 'openid', groupsClaim: 'groups', groups: [], emailDomains: [], sessionHours: 1 },
      ...{ sessionSecret: 'a-secret-of-32-characters-or-more', origin: host.url, base: '' },
    },
    endedSessions(endedSessionsInFolder(newFolder()), logger),
    logger,
  );
});

type Page = { status: number | undefined; headers: IncomingHttpHeaders; text: string };

/** `fetch` would add headers that show that no person looks at a page. */
const ask = (url: string, headers: Record<string, string> = {}): Promise<Page> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { accept: 'text/html', ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    }).on('error', reject);
  });

/** Logs in, and returns the page that the reader sees in the end. */
async function login(): Promise<Page> {
  const begun = await ask(`${host.url}/x`);
  if (begun.status !== 302) return begun;
  const to = new URL(begun.headers.location ?? '');
  nonce = to.searchParams.get('nonce') ?? '';
  const query = new URLSearchParams({ code: 'c', state: to.searchParams.get('state') ?? '' });
  const [cookie = ''] = begun.headers['set-cookie']?.[0]?.split(';') ?? [];
  const ended = await ask(`${host.url}/_bindery/login?${query.toString()}`, { cookie });
  const session = ended.headers['set-cookie']?.[0]?.split(';')[0];
  return session === undefined ? ended : await ask(`${host.url}/x`, { cookie: session });
}

test('an honest provider lets readers in', async () => {
  expect(await login()).toMatchObject({ status: 200, text: 'inside' });
});

describe('nobody is let in by', () => {
  test.each<[string, () => void, RegExp]>([
    ['a token of another issuer', () => (idToken = signed({ claims: { iss: 'http://x' } })), /iss/],
    ['a token for another site', () => (idToken = signed({ claims: { aud: 'other' } })), /aud/],
    ['a token for several sites', () => (idToken = signed({ claims: { aud: ['site', 'other'] } })), /audience/],
    ['a token of another login', () => (idToken = signed({ claims: { nonce: 'x' } })), /nonce/],
    ['a token that has expired', () => (idToken = signed({ claims: { exp: now() - 300 } })), /expir/],
    ['a token of the future', () => (idToken = signed({ claims: { nbf: now() + 300 } })), /nbf/],
    ['a token without a signature', () => (idToken = unsigned), /alg/],
    [
      'a token without a signature, which its metadata allows',
      () => {
        idToken = unsigned;
        fields = { metadata: { id_token_signing_alg_values_supported: ['none', 'RS256'] } };
      },
      /alg/,
    ],
    [
      'a token signed with the secret of the client',
      () => {
        idToken = signed({ header: { alg: 'HS256' }, key: new TextEncoder().encode('a-secret'.repeat(4)) });
        fields = { metadata: { id_token_signing_alg_values_supported: ['HS256'] } };
      },
      /alg/,
    ],
    ['a token signed by another key', () => (idToken = signed({ key: another.privateKey })), /signature/],
    ['an unknown key', () => (idToken = signed({ header: { kid: 'new' } })), /no applicable keys/],
    ['userinfo of another reader', () => (fields = { userInfo: { sub: 'bob' } }), /sub/],
    ['a token in the prototype', () => (answers['/token'] = json('{"__proto__":{"id_token":"x"}}')), /access_token/],
    [
      'a subject that no cookie holds',
      () => {
        idToken = signed({ claims: { sub: 's'.repeat(3_000) } });
        fields = { userInfo: { sub: 's'.repeat(3_000) } };
      },
      /more than 255 characters \(sub\)/,
    ],
  ])('%s', async (_, lies, reason) => {
    lies();
    expect(await login()).toMatchObject({ status: 502, text: expect.stringContaining('The login did not succeed.') });
    expect(log.join('\n')).toMatch(reason);
  });
});

test.each([
  ['/.well-known/openid-configuration', 503, undefined],
  ['/token', 502, undefined],
  ['/jwks', 502, undefined],
  ['/me', 502, undefined],
  ['/me', 502, 'application/jwt'],
])('an answer without an end at %s is cut, and the next login succeeds', async (path, status, type) => {
  answers = { [path]: endless(type) };
  expect((await login()).status).toBe(status);
  expect(log.join('\n')).toContain('The answer has more than 1000000 bytes.');
  answers = {};
  expect(await login()).toMatchObject({ status: 200, text: 'inside' });
});

test('secrets are not sent where the provider redirects to', async () => {
  let asked = 0;
  const elsewhere = await onLoopback(
    createServer((_request, response) => {
      asked += 1;
      response.end();
    }),
  );
  // The keys come first, because the host keeps them once it has them.
  for (const path of ['/jwks', '/token', '/me']) {
    answers = { [path]: (response) => void response.writeHead(307, { location: elsewhere.url }).end() };
    expect((await login()).status).toBe(502);
  }
  expect(asked).toBe(0);
  await elsewhere.close();
});
