import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { securityHeaders } from './answer-file.ts';
import { pathOf } from './reader-gate.ts';
import { cookieIn } from '#shared/login/sealed-values.ts';
import { answerSentence } from './sentence-page.ts';

/** Time limit for the reader's visit to the provider. */
export const attemptSeconds = 900;
const longestReturn = 1_500;

/** The cookies and paths of a login at a provider, below `base` of one origin. */
export function browserLogin({ base, isSecure }: { base: string; isSecure: boolean }) {
  // Browsers send a cookie with this prefix only over TLS to the host that set it.
  const prefix = isSecure ? (base === '' ? '__Host-' : '__Secure-') : '';
  const browserCookie = `${prefix}bindery-login`;
  const sessionCookie = `${prefix}bindery-session`;
  const setCookie = (name: string, value: string, seconds: number): string =>
    `${name}=${value}; Path=${base === '' ? '/' : base}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    loginPath: `${base}/_bindery/login`,
    logoutPath: `${base}/_bindery/logout`,
    sessionCookie,
    setSession: (sealed: string, seconds: number): string => setCookie(sessionCookie, sealed, seconds),
    endSession: (): string => setCookie(sessionCookie, '', 0),
    /** The name of this browser, which a login in progress is bound to: the one that it has, or a new one. */
    newBrowser(request: IncomingMessage): { digest: string; cookie: string } {
      const known = cookieIn(request, browserCookie);
      const name = known !== undefined && /^[\w-]{43}$/.test(known) ? known : randomBytes(32).toString('base64url');
      return { digest: digestOf(name), cookie: setCookie(browserCookie, name, attemptSeconds) };
    },
    isBrowser(request: IncomingMessage, digest: string): boolean {
      const name = cookieIn(request, browserCookie);
      return name !== undefined && digestOf(name) === digest;
    },
    /** The path to which a reader returns after the login. It stays on this site. */
    returnTo: ({ url = '/' }: IncomingMessage): string =>
      url.length <= longestReturn && /^\/(?![/\\])/.test(url) ? url : `${base}/`,
  };
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

export function redirectReader(response: ServerResponse, to: string, cookies: readonly string[] = []): void {
  response
    .writeHead(302, {
      ...securityHeaders,
      // The address of a login holds secrets for a short time.
      'referrer-policy': 'no-referrer',
      location: to,
      'cache-control': 'no-store',
      'content-length': 0,
      ...(cookies.length > 0 && { 'set-cookie': [...cookies] }),
    })
    .end();
}

const isReading = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

/** True if a person looks at a page, who may be redirected to a login. */
export function isForPage(request: IncomingMessage): boolean {
  const { 'sec-fetch-mode': mode, accept = '' } = request.headers;
  return isReading(request) && (mode === 'navigate' || (mode === undefined && /text\/html/.test(accept)));
}

export const isAt = (request: IncomingMessage, path: string): boolean => isReading(request) && pathOf(request) === path;

export function answerLate(request: IncomingMessage, response: ServerResponse, again: string): void {
  answerSentence(response, 400, 'This login took too long, or began in another browser.', request, again);
}

export function answerUnreachable(request: IncomingMessage, response: ServerResponse, again: string): void {
  if (response.headersSent) return void response.destroy();
  response.setHeader('retry-after', '10');
  answerSentence(response, 503, 'The login cannot be reached now. Try again later.', request, again);
}

export function answerNotAllowed(request: IncomingMessage, response: ServerResponse, logout: string): void {
  answerSentence(
    response,
    403,
    'You are logged in, but your account may not read this site.',
    request,
    // Without a logout, the provider would return the same account.
    logout,
    'Log out, to use another account',
  );
}
