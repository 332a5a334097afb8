import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as client from 'openid-client';
import { boundedFetch } from '#shared/http/bounded-fetch.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { securityHeaders } from './answer-file.ts';
import type { OidcLogin } from './login-settings.ts';
import { type EndedSessions, newSession, type ReaderSession } from './ended-sessions.ts';
import { mayRead, type Reader, readerOf } from './may-read.ts';
import { cookieIn, sealer } from './sealed-values.ts';
import { answerUnknown, answerUnopened, endSession, type Gate, isOpened, pathOf } from './reader-gate.ts';
import { answerSentence } from './sentence-page.ts';

/** Time limit for the reader's visit to the provider. */
const attemptSeconds = 900;
const providerTimeoutSeconds = 10;
/** Limit of an answer of the provider. The largest one, its keys with certificates, has some tens of kilobytes. */
const mostAnswerBytes = 1_000_000;
const longestReason = 500;
const longestReturn = 1_500;

/** A login in progress. It travels sealed in the `state`, so that any replica of the host can complete it and several tabs can log in at once. */
type Attempt = { verifier: string; nonce: string; browser: string; returnTo: string };

/**
 * Readers log in at an OpenID Connect provider: authorization code flow with PKCE, state and nonce. A sealed cookie is their session; the host stores
 * only sessions that ended early. The provider redirects to `<base>/_bindery/login`; `<base>/_bindery/logout` ends the session.
 */
export function oidcGate(login: OidcLogin, ended: EndedSessions, logger: Logger): Gate {
  const { base, origin } = login;
  const loginPath = `${base}/_bindery/login`;
  const logoutPath = `${base}/_bindery/logout`;
  const redirectUri = origin + loginPath;
  const isSecure = origin.startsWith('https:');
  const sessions = sealer<ReaderSession>(login.sessionSecret, `session of ${placeOf(login)}`);
  const attempts = sealer<Attempt>(login.sessionSecret, `login ${placeOf(login)}`);
  const provider = providerOf(login);

  // Browsers send a cookie with this prefix only over TLS to the host that set it.
  const prefix = isSecure ? (base === '' ? '__Host-' : '__Secure-') : '';
  const sessionCookie = `${prefix}bindery-session`;
  const browserCookie = `${prefix}bindery-login`;
  const setCookie = (name: string, value: string, seconds: number): string =>
    `${name}=${value}; Path=${base === '' ? '/' : base}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;

  function redirect(response: ServerResponse, to: string, cookies: string[]): void {
    response
      .writeHead(302, {
        ...securityHeaders,
        location: to,
        'cache-control': 'no-store',
        'content-length': 0,
        ...(cookies.length > 0 && { 'set-cookie': cookies }),
      })
      .end();
  }

  async function sendToProvider(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '/' } = request;
    const configuration = await provider();
    const verifier = client.randomPKCECodeVerifier();
    const nonce = client.randomNonce();
    const known = cookieIn(request, browserCookie);
    const browser = known !== undefined && /^[\w-]{43}$/.test(known) ? known : randomBytes(32).toString('base64url');
    const returnTo = url.length <= longestReturn && /^\/(?![/\\])/.test(url) ? url : `${base}/`;
    const state = await attempts.seal({ verifier, nonce, browser: digest(browser), returnTo }, attemptSeconds);
    const to = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: login.scopes,
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    redirect(response, to.href, [setCookie(browserCookie, browser, attemptSeconds)]);
  }

  /** Handles the reader's return from the provider. */
  async function endLogin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const back = new URL(redirectUri);
    back.search = new URL(request.url ?? '/', origin).search;
    const state = back.searchParams.get('state') ?? '';
    const attempt = await attempts.open(state);
    const browser = cookieIn(request, browserCookie);
    if (attempt === undefined || browser === undefined || digest(browser) !== attempt.browser)
      return answerSentence(
        response,
        400,
        'This login took too long, or began in another browser.',
        request,
        `${base}/`,
      );
    const configuration = await provider();
    let reader: Reader;
    try {
      const tokens = await client.authorizationCodeGrant(configuration, back, {
        pkceCodeVerifier: attempt.verifier,
        expectedState: state,
        expectedNonce: attempt.nonce,
        idTokenExpected: true,
      });
      const idToken = tokens.claims();
      if (idToken === undefined) throw new Error('the provider returned no ID token');
      const hasEndpoint = configuration.serverMetadata().userinfo_endpoint !== undefined;
      const userInfo = hasEndpoint
        ? await client.fetchUserInfo(configuration, tokens.access_token, idToken.sub)
        : undefined;
      reader = readerOf(idToken, userInfo, login.groupsClaim);
    } catch (error) {
      const isRefused = error instanceof client.AuthorizationResponseError;
      logger.warn(`a login did not succeed: ${isRefused ? error.error.slice(0, longestReason) : reasonOf(error)}`);
      const sentence = isRefused ? 'The login was refused or cancelled.' : 'The login did not succeed.';
      return answerSentence(response, isRefused ? 403 : 502, sentence, request, attempt.returnTo);
    }
    if (!mayRead(reader, login)) {
      logger.info({ reader: reader.sub }, 'a reader is in no group and no domain that may read');
      return answerSentence(
        response,
        403,
        'You are logged in, but your account may not read this site.',
        request,
        // Without a logout, the provider would return the same account.
        logoutPath,
        'Log out, to use another account',
      );
    }
    const seconds = login.sessionHours * 3_600;
    const session = await sessions.seal(newSession(reader.sub, seconds), seconds);
    redirect(response, attempt.returnTo, [setCookie(sessionCookie, session, seconds)]);
  }

  async function logout(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = await sessions.open(cookieIn(request, sessionCookie) ?? '');
    if (session !== undefined && !(await endSession(session, ended, logger, request, response, logoutPath))) return;
    // The session of this site ends even if the provider is unavailable.
    const configuration = await provider().catch(() => undefined);
    const hasEnd = configuration?.serverMetadata().end_session_endpoint !== undefined;
    redirect(
      response,
      configuration !== undefined && hasEnd ? client.buildEndSessionUrl(configuration).href : `${base}/`,
      [setCookie(sessionCookie, '', 0)],
    );
  }

  /** Handles a request without a session: redirects to the login if a person looks at a page, else answers that a login is needed. */
  async function stop(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers } = request;
    const path = pathOf(request);
    const mode = headers['sec-fetch-mode'];
    const isReading = method === 'GET' || method === 'HEAD';
    const isPage = mode === 'navigate' || (mode === undefined && /text\/html/.test(headers.accept ?? ''));
    try {
      if (isReading && path === loginPath) await endLogin(request, response);
      else if (isReading && path === logoutPath) {
        if (isOpened(request)) await logout(request, response);
        else answerUnopened(request, response, logoutPath);
      } else if (isReading && isPage) await sendToProvider(request, response);
      else answerSentence(response, 401, 'Log in to read this site.', request, `${base}/`);
    } catch (error) {
      logger.warn(`the login provider ${login.issuer.host} cannot be reached: ${reasonOf(error)}`);
      if (response.headersSent) return void response.destroy();
      response.setHeader('retry-after', '10');
      answerSentence(response, 503, 'The login cannot be reached now. Try again later.', request, `${base}/`);
    }
  }

  return (request, response, letIn) => {
    const path = pathOf(request);
    const isOwn = path === loginPath || path === logoutPath;
    const sealed = isOwn ? undefined : cookieIn(request, sessionCookie);
    const known = sessions.known(sealed);
    if (known !== undefined && ended.known(known) === 'lasts') return letIn();
    const check = async (): Promise<void> => {
      const session = sealed === undefined ? undefined : await sessions.open(sealed);
      const state = session === undefined ? 'ended' : await ended.stateOf(session);
      if (request.socket.destroyed) return;
      if (state === 'lasts') letIn();
      else if (state === 'ended') await stop(request, response);
      else answerUnknown(request, response, base);
    };
    void check();
  };
}

/**
 * The site and its access rules as text, to which logins and sessions are bound. Hosts of several sites may share a client and a secret, and a reader
 * of one site may not be allowed to read another.
 */
const placeOf = ({ issuer, clientId, origin, base, groups, groupsClaim, emailDomains }: OidcLogin): string =>
  JSON.stringify([issuer.href, clientId, origin + base, groupsClaim, groups.toSorted(), emailDomains.toSorted()]);

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** The message of an error with those of its causes. Errors of the protocol have their reasons in `cause`. */
function reasonOf(error: unknown): string {
  const reasons = new Set<string>();
  for (let each = error; each instanceof Error && reasons.size < 4; each = each.cause) reasons.add(messageOf(each));
  const [first = messageOf(error), ...causes] = reasons;
  return `${first}${causes.map((cause) => ` (${cause})`).join('')}`.slice(0, longestReason);
}

/** The provider's endpoints and keys, requested on first use, and again after a failure. */
function providerOf({ issuer, clientId, clientSecret, clientAuth }: OidcLogin): () => Promise<client.Configuration> {
  const authentication =
    clientSecret === undefined
      ? client.None()
      : clientAuth === 'basic'
        ? client.ClientSecretBasic(clientSecret)
        : client.ClientSecretPost(clientSecret);
  const execute = [client.enableNonRepudiationChecks];
  if (issuer.protocol === 'http:') execute.push(client.allowInsecureRequests);
  const ask = boundedFetch(mostAnswerBytes);
  let found: Promise<client.Configuration> | undefined;
  return () => {
    found ??= client
      .discovery(issuer, clientId, undefined, authentication, {
        ...{ execute, timeout: providerTimeoutSeconds },
        [client.customFetch]: (url, options) => ask(url, options as RequestInit),
      })
      .catch((error: unknown) => {
        found = undefined;
        throw error;
      });
    return found;
  };
}
