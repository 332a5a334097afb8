import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { agentGate } from './agent-gate.ts';
import {
  answerLate,
  answerNotAllowed,
  answerUnreachable,
  attemptSeconds,
  browserLogin,
  isAt,
  isForPage,
  redirectReader,
} from './browser-login.ts';
import type { OidcLogin } from './login-settings.ts';
import { type EndedSessions, newSession, type ReaderSession } from '#shared/login/ended-sessions.ts';
import { mayRead } from './may-read.ts';
import { type Attempt, oidcProvider } from '#shared/login/oidc-provider.ts';
import { sealer } from '#shared/login/sealed-values.ts';
import { answerUnopened, endSession, type Gate, isOpened, sessionGate } from './reader-gate.ts';
import { answerSentence } from './sentence-page.ts';

/** A login in progress. It travels sealed in the `state`, so that any replica of the host can complete it and several tabs can log in at once. */
type BoundAttempt = Attempt & { browser: string; returnTo: string };

/**
 * Readers log in at an OpenID Connect provider: authorization code flow with PKCE, state and nonce. A sealed cookie is their session; the host stores
 * only sessions that ended early. `answersAgents`: agents ask at the endpoint of the site, with tokens. The provider redirects to `<base>/_bindery/login`; `<base>/_bindery/logout` ends the session.
 */
export function oidcGate(login: OidcLogin, ended: EndedSessions, logger: Logger, answersAgents = false): Gate {
  const { base, origin } = login;
  const browsers = browserLogin({ base, isSecure: origin.startsWith('https:') });
  const { loginPath, logoutPath, sessionCookie } = browsers;
  const redirectUri = origin + loginPath;
  const sessions = sealer<ReaderSession>(login.sessionSecret, `docs-host session of ${placeOf(login)}`);
  const attempts = sealer<BoundAttempt>(login.sessionSecret, `docs-host login ${placeOf(login)}`);
  const provider = oidcProvider(login, logger);

  async function sendToProvider(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const attempt = provider.newAttempt();
    const { digest, cookie } = browsers.newBrowser(request);
    const bound = { ...attempt, browser: digest, returnTo: browsers.returnTo(request) };
    const state = await attempts.seal(bound, attemptSeconds);
    redirectReader(response, await provider.loginAddress(attempt, redirectUri, state), [cookie]);
  }

  /** Handles the reader's return from the provider. */
  async function endLogin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const back = new URL(redirectUri);
    back.search = new URL(request.url ?? '/', origin).search;
    const state = back.searchParams.get('state') ?? '';
    const attempt = await attempts.open(state);
    if (attempt === undefined || !browsers.isBrowser(request, attempt.browser))
      return answerLate(request, response, `${base}/`);
    const reader = await provider.accountAt(back, attempt, state);
    if ('status' in reader) return answerSentence(response, reader.status, reader.sentence, request, attempt.returnTo);
    if (!mayRead(reader, login)) {
      logger.info({ reader: reader.sub }, 'a reader is in no group and no domain that may read');
      return answerNotAllowed(request, response, logoutPath);
    }
    const seconds = login.sessionHours * 3_600;
    const session = await sessions.seal(newSession(reader.sub, seconds), seconds);
    redirectReader(response, attempt.returnTo, [browsers.setSession(session, seconds)]);
  }

  async function logout(session: ReaderSession | undefined, request: IncomingMessage, response: ServerResponse) {
    if (session !== undefined && !(await endSession(session, ended, logger, request, response, logoutPath))) return;
    // The session of this site ends even if the provider is unavailable.
    redirectReader(response, (await provider.logoutAddress()) ?? `${base}/`, [browsers.endSession()]);
  }

  const readers = sessionGate(
    { sessions, cookie: sessionCookie, ended, base, ownPaths: [loginPath, logoutPath] },
    (request, response) =>
      stop(request, response).catch((error: unknown) => {
        provider.onUnreachable(error);
        answerUnreachable(request, response, `${base}/`);
      }),
  );
  const agents = agentGate({ ...login, originAt: () => origin, rules: login, provider, logger }, readers);
  return answersAgents ? agents.gate : readers;

  /** Handles a request without a session: redirects to the login if a person looks at a page, else answers that a login is needed. */
  async function stop(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isAt(request, loginPath)) await endLogin(request, response);
    else if (isAt(request, logoutPath)) {
      if (isOpened(request)) await logout(await sessions.shown(request, sessionCookie), request, response);
      else answerUnopened(request, response, logoutPath);
    } else if (isForPage(request)) await sendToProvider(request, response);
    else if (!answersAgents || !agents.refuses(request, response))
      answerSentence(response, 401, 'Log in to read this site.', request, `${base}/`);
  }
}

/**
 * The site and its access rules as text, to which logins and sessions are bound. Hosts of several sites may share a client and a secret, and a reader
 * of one site may not be allowed to read another.
 */
const placeOf = ({ issuer, clientId, origin, base, groups, groupsClaim, emailDomains }: OidcLogin): string =>
  JSON.stringify([issuer.href, clientId, origin + base, groupsClaim, groups.toSorted(), emailDomains.toSorted()]);
