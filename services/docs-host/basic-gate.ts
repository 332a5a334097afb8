import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerJson, mcpPath } from './agent-answers.ts';
import { isForPage } from './browser-login.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { type EndedSessions, newSession, type ReaderSession } from '#shared/login/ended-sessions.ts';
import { answerUnknown, answerUnopened, endSession, type Gate, isOpened, pathOf } from './reader-gate.ts';
import { cookieIn, type Sealer } from '#shared/login/sealed-values.ts';
import { answerSentence } from './sentence-page.ts';

/**
 * The outcome of a check of a name and a password. `limited`: the address sent too many wrong ones, and waits for `seconds`. `busy`: too many are being
 * checked.
 */
export type Proof = { kind: 'right' } | { kind: 'wrong' } | { kind: 'busy' } | { kind: 'limited'; seconds: number };

/** The readers of a site, by name. */
export type BasicReaders = {
  /** The sealer of a reader's sessions, which follows from the password, so that a new password ends them; undefined for an unknown name. */
  sealerOf: (name: string) => Sealer<ReaderSession> | undefined;
  /** Checks a password. It takes the same time for unknown names. */
  prove: (name: string, password: string, request: IncomingMessage) => Proof | Promise<Proof>;
};

/**
 * Basic authentication with a name and a password (RFC 7617), or with the session that readers got for them: search and assistant of a page send a
 * key in `Authorization`, and browsers then leave out name and password.
 * (`@fastify/basic-auth` guards routes of Fastify, and the pages of a site bypass them.)
 */
export function basicGate(
  { sealerOf, prove }: BasicReaders,
  {
    cookie: cookieName,
    base,
    isSecure,
    sessionHours,
    group,
  }: {
    cookie: string;
    base: string;
    isSecure: boolean;
    sessionHours: number;
    /** Group of the sessions: the organization of the site, on a host of many sites. */
    group?: string;
  },
  ended: EndedSessions,
  logger: Logger,
): Gate {
  const logoutPath = `${base}/_bindery/logout`;
  const attributes = `Path=${base === '' ? '/' : base}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

  /** The sealed session of a request, and the sealer that opens it. */
  function shownSession(request: IncomingMessage) {
    const cookie = cookieIn(request, cookieName) ?? '';
    const dot = cookie.indexOf('.');
    const name = Buffer.from(cookie.slice(0, Math.max(0, dot)), 'base64url').toString();
    return { sealed: cookie.slice(dot + 1), of: sealerOf(name) };
  }

  async function begin(reader: string, response: ServerResponse): Promise<void> {
    const seconds = sessionHours * 3_600;
    const sealed = await sealerOf(reader)?.seal(newSession(reader, seconds, Date.now(), group), seconds);
    response.setHeader(
      'set-cookie',
      `${cookieName}=${Buffer.from(reader).toString('base64url')}.${sealed}; ${attributes}`,
    );
  }

  function refuse(request: IncomingMessage, response: ServerResponse, sentence: string, ...again: string[]): void {
    // This header makes browsers forget the name and the password.
    response.setHeader('www-authenticate', challenge);
    answerSentence(response, 401, sentence, request, ...again);
  }

  const isOfAgents = (request: IncomingMessage): boolean =>
    pathOf(request) === base + mcpPath || /^\/\.well-known\/(oauth-|openid-)/.test(pathOf(request));

  /** Tells an agent what opens this site. It looks for a provider of tokens next, and is told that there is none. */
  function refuseAgent(request: IncomingMessage, response: ServerResponse): void {
    const isEndpoint = pathOf(request) === base + mcpPath;
    const error = isEndpoint
      ? 'This site opens with a name and a password. Send them as Basic authentication, or ask the gateway with an assistant key.'
      : 'This site has no provider of tokens: it opens with a name and a password.';
    const headers: Record<string, string> = isEndpoint ? { 'www-authenticate': challenge } : {};
    answerJson(
      request,
      response,
      isEndpoint ? 401 : 404,
      { error, code: isEndpoint ? 'missing_password' : 'not_found' },
      headers,
    );
  }

  async function logout(session: ReaderSession | undefined, request: IncomingMessage, response: ServerResponse) {
    if (!isOpened(request)) return answerUnopened(request, response, logoutPath);
    if (session !== undefined && !(await endSession(session, ended, logger, request, response, logoutPath))) return;
    response.setHeader('set-cookie', `${cookieName}=; Max-Age=0; ${attributes}`);
    refuse(request, response, 'You are logged out.', `${base}/`, 'Log in again');
  }

  async function check(request: IncomingMessage, response: ServerResponse, letIn: () => void): Promise<void> {
    const { sealed, of } = shownSession(request);
    const session = await of?.open(sealed);
    if (pathOf(request) === logoutPath) return await logout(session, request, response);
    const state = session === undefined ? 'ended' : await ended.stateOf(session);
    if (request.socket.destroyed) return;
    if (state === 'lasts') return letIn();
    const shown = shownReader(request);
    const proof = shown === undefined ? undefined : await prove(shown.name, shown.password, request);
    if (request.socket.destroyed) return;
    if (shown !== undefined && proof?.kind === 'right') {
      await begin(shown.name, response);
      return letIn();
    }
    if (proof?.kind === 'limited' || proof?.kind === 'busy') return answerLimited(proof, request, response, base);
    if (state === 'unknown') return answerUnknown(request, response, base);
    if (isOfAgents(request) && !isForPage(request)) return refuseAgent(request, response);
    refuse(request, response, 'A name and a password are needed to read this site.', `${base}/`, 'Log in');
  }

  return (request, response, letIn) => {
    const { sealed, of } = shownSession(request);
    const known = of?.known(sealed);
    const isIn = known !== undefined && ended.known(known) === 'lasts' && pathOf(request) !== logoutPath;
    if (isIn) letIn();
    else
      check(request, response, letIn).catch((error: unknown) => {
        logger.error({ err: error }, 'a login could not be checked');
        if (response.headersSent) response.destroy();
        else answerUnknown(request, response, base);
      });
  };
}

const challenge = 'Basic realm="documentation", charset="UTF-8"';

/** The name and the password in a request. */
function shownReader({ headers }: IncomingMessage): { name: string; password: string } | undefined {
  const shown = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(headers.authorization ?? '')?.[1];
  const text = Buffer.from(shown ?? '', 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon > 0 ? { name: text.slice(0, colon), password: text.slice(colon + 1) } : undefined;
}

function answerLimited(
  proof: Extract<Proof, { kind: 'limited' | 'busy' }>,
  request: IncomingMessage,
  response: ServerResponse,
  base: string,
): void {
  const isBusy = proof.kind === 'busy';
  const seconds = proof.kind === 'busy' ? 2 : proof.seconds;
  const sentence = isBusy
    ? 'Too many passwords are being checked now. Try again in a moment.'
    : `Too many wrong passwords came from your address. Try again in ${Math.ceil(seconds / 60)} minutes.`;
  response.setHeader('retry-after', String(seconds));
  answerSentence(response, isBusy ? 503 : 429, sentence, request, `${base}/`);
}
