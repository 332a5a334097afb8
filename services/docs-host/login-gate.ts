import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { type EndedSessions, newSession, type ReaderSession } from './ended-sessions.ts';
import type { Login } from './login-settings.ts';
import { oidcGate } from './oidc-gate.ts';
import { answerUnknown, answerUnopened, endSession, type Gate, isOpened, pathOf } from './reader-gate.ts';
import { cookieIn, sealer } from './sealed-values.ts';
import { answerSentence } from './sentence-page.ts';

/** The login in front of the site and of the platform routes of its pages; undefined if there is none. `ended` may be left out only without a login. */
export function loginGate(login: Login, ended: EndedSessions | undefined, logger: Logger): Gate | undefined {
  if (login.kind === 'none') return undefined;
  if (ended === undefined) throw new Error('a login needs a store of ended sessions');
  return login.kind === 'basic' ? basicGate(login, ended, logger) : oidcGate(login, ended, logger);
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const readerCookie = 'bindery_reader';
const mostKnown = 10_000;
const leastKnown = 100;

type BasicLogin = Extract<Login, { kind: 'basic' }>;

/**
 * Basic authentication with a name and a password (RFC 7617), or with the session that readers got for them: search and assistant of a page send a
 * key in `Authorization`, and browsers then leave out name and password. A session is sealed with the password, so a new password ends it.
 * (`@fastify/basic-auth` guards routes of Fastify, and the pages of a site bypass them.)
 */
function basicGate({ users, base, isSecure, sessionHours }: BasicLogin, ended: EndedSessions, logger: Logger): Gate {
  const logoutPath = `${base}/_bindery/logout`;
  const digests = new Map([...users].map(([name, password]) => [name, digest(password)]));
  const knownOfEach = Math.max(leastKnown, Math.floor(mostKnown / Math.max(1, users.size)));
  const sealers = new Map(
    [...users].map(([name, password]) => [name, sealer<ReaderSession>(password, `reader ${name}`, knownOfEach)]),
  );
  const nobody = digest('');
  const attributes = `Path=${base === '' ? '/' : base}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

  /** The sealed session of a request, and the sealer that opens it. */
  function shownSession(request: IncomingMessage) {
    const cookie = cookieIn(request, readerCookie) ?? '';
    const dot = cookie.indexOf('.');
    const name = Buffer.from(cookie.slice(0, Math.max(0, dot)), 'base64url').toString();
    return { sealed: cookie.slice(dot + 1), of: sealers.get(name) };
  }

  /** The reader whose name and password a request has. */
  function shownReader({ headers }: IncomingMessage): string | undefined {
    const shown = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(headers.authorization ?? '')?.[1];
    const text = Buffer.from(shown ?? '', 'base64').toString('utf8');
    const colon = text.indexOf(':');
    const name = text.slice(0, Math.max(0, colon));
    const password = digests.get(name);
    // Unknown names take the same time to check.
    const isRight = timingSafeEqual(digest(text.slice(colon + 1)), password ?? nobody);
    return colon > 0 && isRight && password !== undefined ? name : undefined;
  }

  async function begin(reader: string, response: ServerResponse): Promise<void> {
    const seconds = sessionHours * 3_600;
    const sealed = await sealers.get(reader)?.seal(newSession(reader, seconds), seconds);
    response.setHeader(
      'set-cookie',
      `${readerCookie}=${Buffer.from(reader).toString('base64url')}.${sealed}; ${attributes}`,
    );
  }

  function refuse(request: IncomingMessage, response: ServerResponse, sentence: string, ...again: string[]): void {
    // This header makes browsers forget the name and the password.
    response.setHeader('www-authenticate', 'Basic realm="documentation", charset="UTF-8"');
    answerSentence(response, 401, sentence, request, ...again);
  }

  async function check(request: IncomingMessage, response: ServerResponse, letIn: () => void): Promise<void> {
    const { sealed, of } = shownSession(request);
    const session = await of?.open(sealed);
    if (pathOf(request) === logoutPath) {
      if (!isOpened(request)) return answerUnopened(request, response, logoutPath);
      if (session !== undefined && !(await endSession(session, ended, logger, request, response, logoutPath))) return;
      response.setHeader('set-cookie', `${readerCookie}=; Max-Age=0; ${attributes}`);
      return refuse(request, response, 'You are logged out.', `${base}/`, 'Log in again');
    }
    const state = session === undefined ? 'ended' : await ended.stateOf(session);
    if (request.socket.destroyed) return;
    const reader = state === 'lasts' ? undefined : shownReader(request);
    if (reader !== undefined) await begin(reader, response);
    if (state === 'lasts' || reader !== undefined) return letIn();
    if (state === 'unknown') return answerUnknown(request, response, base);
    refuse(request, response, 'A name and a password are needed to read this site.');
  }

  return (request, response, letIn) => {
    const { sealed, of } = shownSession(request);
    const known = of?.known(sealed);
    const isIn = known !== undefined && ended.known(known) === 'lasts' && pathOf(request) !== logoutPath;
    if (isIn) letIn();
    else void check(request, response, letIn);
  };
}
