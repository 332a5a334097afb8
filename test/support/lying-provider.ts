import { createServer, type ServerResponse } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { onLoopback } from './on-loopback.ts';

export type ProviderAnswer = (response: ServerResponse) => void;
type Signed = { claims?: JWTPayload; header?: object; key?: CryptoKey | Uint8Array };

const [own, another] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
const publicKey = { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256' };

export const jsonAnswer = (value: unknown): ProviderAnswer => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(text);
};

/** An answer that never ends, until the client disconnects. */
export const endlessAnswer =
  (type = 'application/json'): ProviderAnswer =>
  (response) => {
    const piece = Buffer.alloc(256 * 1024, 'a');
    const go = (): void => {
      while (!response.destroyed && response.write(piece));
      if (!response.destroyed) response.once('drain', go);
    };
    response.writeHead(200, { 'content-type': type }).write('{"a":"');
    go();
  };

export const seconds = (): number => Math.floor(Date.now() / 1_000);

/** An OpenID Connect provider for the client `site`, whose answers a test sets. Readers log in by following the redirect of the host. */
export async function lyingProvider() {
  const usual = () => ({
    /** Answers at paths instead of the usual ones. */
    answers: {} as Record<string, ProviderAnswer>,
    /** Fields of its usual answers. */
    fields: {} as { metadata?: object; token?: object; userInfo?: object },
    idToken: signed(),
  });
  const server = createServer((request, response) => {
    request.resume().once('end', () => void answer(request.url ?? '', response));
  });
  const listening = await onLoopback(server);
  const { url } = listening;
  let nonce = '';

  function signed({ claims = {}, header = {}, key = own.privateKey }: Signed = {}): () => Promise<string> {
    return () => {
      const usualClaims = { sub: 'ada', nonce, iss: url, aud: 'site', iat: seconds(), exp: seconds() + 60 };
      return new SignJWT({ ...usualClaims, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'own', ...header })
        .sign(key);
    };
  }

  async function answer(path: string, response: ServerResponse): Promise<void> {
    const metadata = {
      ...{
        issuer: url,
        authorization_endpoint: `${url}/auth`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/jwks`,
      },
      ...{ userinfo_endpoint: `${url}/me`, id_token_signing_alg_values_supported: ['RS256'] },
      ...provider.state.fields.metadata,
    };
    const answers: Record<string, () => unknown> = {
      '/.well-known/openid-configuration': () => metadata,
      '/jwks': () => ({ keys: [publicKey] }),
      '/me': () => ({ sub: 'ada', ...provider.state.fields.userInfo }),
      '/token': async () => ({
        ...{ access_token: 'a', token_type: 'Bearer', id_token: await provider.state.idToken() },
        ...provider.state.fields.token,
      }),
    };
    (provider.state.answers[path] ?? jsonAnswer(await answers[path]?.()))(response);
  }

  const provider = {
    url,
    anotherKey: another.privateKey,
    state: usual(),
    /** Resets the answers and fields that a test has set. */
    reset(): void {
      provider.state = usual();
    },
    /** Signs a token with these claims, header and key. */
    signed,
    unsigned: async (): Promise<string> => {
      const [, payload] = (await signed()()).split('.');
      return `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    },
    /** Logs in a reader whom the host redirected to `to`. Returns the address to which the provider redirects the reader. */
    logIn(to: string): URL {
      const { searchParams } = new URL(to);
      nonce = searchParams.get('nonce') ?? '';
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({ code: 'c', state: searchParams.get('state') ?? '' }).toString();
      return back;
    },
    close: listening.close,
  };
  return provider;
}
