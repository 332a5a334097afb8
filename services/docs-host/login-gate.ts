import { createHash, timingSafeEqual } from 'node:crypto';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { Login } from './login-settings.ts';
import { type Gate, oidcGate } from './oidc-gate.ts';
import { answerSentence } from './sentence-page.ts';

/** What stands before the site, and before what its pages ask of the platform; undefined: nothing does. */
export function loginGate(login: Login, logger: Logger): Gate | undefined {
  if (login.kind === 'none') return undefined;
  return login.kind === 'basic' ? basicGate(login.users) : oidcGate(login, logger);
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** A name and a password with each request (RFC 7617). (`@fastify/basic-auth` guards routes of Fastify, and the pages of a site are none.) */
function basicGate(users: ReadonlyMap<string, string>): Gate {
  const digests = new Map([...users].map(([name, password]) => [name, digest(password)]));
  const nobody = digest('');
  return (request, response, letIn) => {
    const shown = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const text = Buffer.from(shown ?? '', 'base64').toString('utf8');
    const colon = text.indexOf(':');
    const password = digests.get(text.slice(0, Math.max(0, colon)));
    // As much work for a name that there is not.
    const isRight = timingSafeEqual(digest(text.slice(colon + 1)), password ?? nobody);
    if (colon > 0 && isRight && password !== undefined) return letIn();
    response.setHeader('www-authenticate', 'Basic realm="documentation", charset="UTF-8"');
    answerSentence(response, 401, 'A name and a password are needed to read this site.', request);
  };
}
