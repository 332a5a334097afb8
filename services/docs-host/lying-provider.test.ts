import { createServer, get, type IncomingHttpHeaders } from 'node:http';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endlessAnswer, jsonAnswer, lyingProvider, seconds } from '../../test/support/lying-provider.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { type LoopbackServer, onLoopback } from '../../test/support/on-loopback.ts';
import { endedSessionsInFolder } from '#shared/login/ended-sessions-folder.ts';
import { endedSessions } from '#shared/login/ended-sessions.ts';
import { oidcGate } from './oidc-gate.ts';
import { siteGates } from './site-gates.ts';

const log: string[] = [];
const logger = pino({}, { write: (line: string) => void log.push((JSON.parse(line) as { msg: string }).msg) });
const secret = 'a-secret-of-32-characters-or-more';

let provider: Awaited<ReturnType<typeof lyingProvider>>;
let host: LoopbackServer;
let isOfMany = false;

type Handler = Parameters<typeof createServer>[1];
let answer: Handler;

beforeAll(async () => {
  provider = await lyingProvider();
  host = await onLoopback(createServer((request, response) => answer?.(request, response)));
});
afterAll(async () => {
  await host.close();
  await provider.close();
});

function client() {
  return {
    ...{ issuer: new URL(provider.url), clientId: 'site', clientSecret: 'a-secret', clientAuth: 'basic' as const },
    ...{ scopes: 'openid', groupsClaim: 'groups' },
  };
}

/** The login of a host with one site. */
function ofOneSite(): Handler {
  const rules = { groups: [], emailDomains: [], sessionHours: 1, sessionSecret: secret, origin: host.url, base: '' };
  const gate = oidcGate({ ...client(), ...rules }, ended(), logger);
  return (request, response) => gate(request, response, () => response.end('inside'));
}

/** The login of a site of a platform, whose readers return from the provider at another name. */
function ofManySites(): Handler {
  const login = { kind: 'oidc' as const, groups: [], emailDomains: [] };
  const site = { id: 'acme/docs', siteUrl: `http://docs.localhost:${host.port}`, login };
  const nameOf = (request: { headers: IncomingHttpHeaders }) => request.headers.host?.split(':')[0];
  const base = { protocol: 'http' as const, host: 'localhost', port: String(host.port) };
  const gates = siteGates(
    { provider: { settings: client(), base }, sessionSecret: secret, sessionHours: 1 },
    { nameOf, named: (name) => (name === 'docs.localhost' ? site : undefined) },
    { ended: ended(), logger, addressOf: () => '127.0.0.1' },
  );
  return (request, response) => {
    if (nameOf(request) === 'login.localhost') gates.atLogin(request, response);
    else gates.of(site)?.(request, response, () => response.end('inside'));
  };
}

const ended = () => endedSessions(endedSessionsInFolder(newFolder()), logger);

type Page = { status: number | undefined; headers: IncomingHttpHeaders; text: string };

/** `fetch` would add headers that show that no person looks at a page. */
const ask = (address: string, headers: Record<string, string> = {}): Promise<Page> =>
  new Promise((resolve, reject) => {
    const { host: name, pathname, search } = new URL(address);
    get(`${host.url}${pathname}${search}`, { headers: { accept: 'text/html', host: name, ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    }).on('error', reject);
  });

const cookieOf = ({ headers }: Page): string | undefined => headers['set-cookie']?.[0]?.split(';')[0];

/** Logs in, and returns the page that the reader sees in the end. */
async function login(): Promise<Page> {
  const page = isOfMany ? `http://docs.localhost:${host.port}/x` : `${host.url}/x`;
  const begun = await ask(page);
  if (begun.status !== 302) return begun;
  const cookie = cookieOf(begun) ?? '';
  let shown = await ask(provider.logIn(begun.headers.location ?? '').href, isOfMany ? {} : { cookie });
  if (isOfMany && shown.status === 302) shown = await ask(shown.headers.location ?? '', { cookie });
  const session = cookieOf(shown);
  return session === undefined ? shown : await ask(page, { cookie: session });
}

describe.each([
  ['one site', false],
  ['sites of a platform', true],
])('a host of %s', (_name, isMany) => {
  beforeEach(() => {
    provider.reset();
    log.length = 0;
    isOfMany = isMany;
    answer = isMany ? ofManySites() : ofOneSite();
  });

  test('an honest provider lets readers in', async () => {
    expect(await login()).toMatchObject({ status: 200, text: 'inside' });
  });

  describe('nobody is let in by', () => {
    test.each<[string, () => void, RegExp]>([
      [
        'a token of another issuer',
        () => (provider.state.idToken = provider.signed({ claims: { iss: 'http://x' } })),
        /iss/,
      ],
      [
        'a token for another site',
        () => (provider.state.idToken = provider.signed({ claims: { aud: 'other' } })),
        /aud/,
      ],
      [
        'a token for several sites',
        () => (provider.state.idToken = provider.signed({ claims: { aud: ['site', 'other'] } })),
        /audience/,
      ],
      [
        'a token of another login',
        () => (provider.state.idToken = provider.signed({ claims: { nonce: 'x' } })),
        /nonce/,
      ],
      [
        'a token that has expired',
        () => (provider.state.idToken = provider.signed({ claims: { exp: seconds() - 300 } })),
        /expir/,
      ],
      [
        'a token of the future',
        () => (provider.state.idToken = provider.signed({ claims: { nbf: seconds() + 300 } })),
        /nbf/,
      ],
      ['a token without a signature', () => (provider.state.idToken = provider.unsigned), /alg/],
      [
        'a token without a signature, which its metadata allows',
        () => {
          provider.state.idToken = provider.unsigned;
          provider.state.fields = { metadata: { id_token_signing_alg_values_supported: ['none', 'RS256'] } };
        },
        /alg/,
      ],
      [
        'a token signed with the secret of the client',
        () => {
          provider.state.idToken = provider.signed({
            header: { alg: 'HS256' },
            key: new TextEncoder().encode('a-secret'.repeat(4)),
          });
          provider.state.fields = { metadata: { id_token_signing_alg_values_supported: ['HS256'] } };
        },
        /alg/,
      ],
      [
        'a token signed by another key',
        () => (provider.state.idToken = provider.signed({ key: provider.anotherKey })),
        /signature/,
      ],
      [
        'an unknown key',
        () => (provider.state.idToken = provider.signed({ header: { kid: 'new' } })),
        /no applicable keys/,
      ],
      ['userinfo of another reader', () => (provider.state.fields = { userInfo: { sub: 'bob' } }), /sub/],
      [
        'a token in the prototype',
        () => (provider.state.answers['/token'] = jsonAnswer('{"__proto__":{"id_token":"x"}}')),
        /access_token/,
      ],
      [
        'a subject that no cookie holds',
        () => {
          provider.state.idToken = provider.signed({ claims: { sub: 's'.repeat(3_000) } });
          provider.state.fields = { userInfo: { sub: 's'.repeat(3_000) } };
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
    provider.state.answers = { [path]: endlessAnswer(type) };
    expect((await login()).status).toBe(status);
    expect(log.join('\n')).toContain('The answer has more than 1000000 bytes.');
    provider.state.answers = {};
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
      provider.state.answers = {
        [path]: (response) => void response.writeHead(307, { location: elsewhere.url }).end(),
      };
      expect((await login()).status).toBe(502);
    }
    expect(asked).toBe(0);
    await elsewhere.close();
  });
});
