import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { Login } from './login-settings.ts';
import { type Gate, oidcGate } from './oidc-gate.ts';
import { cookieIn } from './sealed-values.ts';
import { answerSentence } from './sentence-page.ts';

/** What stands before the site, and before what its pages ask of the platform; undefined: nothing does. */
export function loginGate(login: Login, logger: Logger): Gate | undefined {
  if (login.kind === 'none') return undefined;
  return login.kind === 'basic' ? basicGate(login) : oidcGate(login, logger);
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const readerCookie = 'bindery_reader';

/** What only the password of a name makes, the same in all copies of the host, so that the cookie is not the password. */
const proofOf = (name: string, password: string): Buffer =>
  createHmac('sha256', password).update(`reader:${name}`).digest();

/**
 * A name and a password (RFC 7617), or the cookie that readers got for them: search and assistant of a page send a key in `Authorization`, and
 * browsers then leave out name and password. (`@fastify/basic-auth` guards routes of Fastify, and the pages of a site are none.)
 */
function basicGate({ users, base, isSecure }: Extract<Login, { kind: 'basic' }>): Gate {
  const digests = new Map([...users].map(([name, password]) => [name, digest(password)]));
  const proofs = new Map([...users].map(([name, password]) => [name, proofOf(name, password)]));
  const nobody = digest('');
  const attributes = `Path=${base === '' ? '/' : base}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

  function hasCookie(request: IncomingMessage): boolean {
    const [name = '', proof = ''] = (cookieIn(request, readerCookie) ?? '').split('.');
    const wanted = proofs.get(Buffer.from(name, 'base64url').toString());
    return timingSafeEqual(digest(proof), digest((wanted ?? nobody).toString('base64url'))) && wanted !== undefined;
  }

  return (request, response, letIn) => {
    const shown = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const text = Buffer.from(shown ?? '', 'base64').toString('utf8');
    const colon = text.indexOf(':');
    const password = digests.get(text.slice(0, Math.max(0, colon)));
    // As much work for a name that there is not.
    const isRight = timingSafeEqual(digest(text.slice(colon + 1)), password ?? nobody);
    if (colon > 0 && isRight && password !== undefined) {
      const name = text.slice(0, colon);
      const proof = proofs.get(name)?.toString('base64url');
      response.setHeader(
        'set-cookie',
        `${readerCookie}=${Buffer.from(name).toString('base64url')}.${proof}; ${attributes}`,
      );
      return letIn();
    }
    if (hasCookie(request)) return letIn();
    response.setHeader('www-authenticate', 'Basic realm="documentation", charset="UTF-8"');
    answerSentence(response, 401, 'A name and a password are needed to read this site.', request);
  };
}
