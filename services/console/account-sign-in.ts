import { createHash, randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { longestPersonName } from '#shared/interfaces/http/person-token.ts';
import type { Account } from '#shared/login/account.ts';
import { type Attempt, oidcProvider } from '#shared/login/oidc-provider.ts';
import type { ProviderSettings } from '#shared/login/provider-settings.ts';
import { cookieIn, sealer } from '#shared/login/sealed-values.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { ConsoleConfig, Grant } from './config.ts';
import { groupDigest, type SignIn } from './sessions.ts';

/** Time limit for the visit to the provider. */
const attemptSeconds = 900;
const callbackPath = '/sign-in/account/return';
/** Page after the sign-out of an account. */
export const signedOutPath = '/sign-out/account';

type BoundAttempt = Attempt & { browser: string; to: string };

type Parts = {
  provider: ProviderSettings;
  grants: readonly Grant[];
  origin: string;
  config: ConsoleConfig;
  isSecure: boolean;
  logger: Logger;
  signedIn: (reply: FastifyReply, signIn: SignIn, to: string) => Promise<FastifyReply>;
  sendSentence: (reply: FastifyReply, status: number, title: string, sentence: SafeHtml | string) => FastifyReply;
};

/** Signs in with an account at an OpenID Connect provider: authorization code flow with PKCE, state and nonce, bound to the browser. */
export function accountSignIn(app: FastifyInstance, parts: Parts): void {
  const { grants, origin, config, isSecure, logger, signedIn, sendSentence } = parts;
  const provider = oidcProvider(parts.provider, logger);
  const attempts = sealer<BoundAttempt>(config.sessionSecret, 'console login');
  const cookie = `${isSecure ? '__Host-' : ''}bindery-console-login`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${attemptSeconds}${isSecure ? '; Secure' : ''}`;
  const redirectUri = origin + callbackPath;
  const unreachable = (reply: FastifyReply, error: unknown) => {
    provider.onUnreachable(error);
    return sendSentence(reply, 503, 'The login cannot be reached now', 'Try again later.');
  };

  app.get('/sign-in/account', async (request, reply) => {
    const { to = '/' } = request.query as { to?: unknown };
    const browser = randomBytes(32).toString('base64url');
    const attempt = provider.newAttempt();
    const state = await attempts.seal({ ...attempt, browser: digestOf(browser), to: String(to) }, attemptSeconds);
    try {
      const address = await provider.loginAddress(attempt, redirectUri, state);
      return await reply.header('set-cookie', `${cookie}=${browser}; ${attributes}`).redirect(address, 303);
    } catch (error) {
      return unreachable(reply, error);
    }
  });

  // A form may not lead to the provider (`form-action 'self'`), so its answer leads here, and a link leads on.
  app.get(signedOutPath, async (_request, reply) => {
    const address = await provider.logoutAddress();
    const { host } = parts.provider.issuer;
    return sendSentence(
      reply,
      200,
      'You are signed out',
      address === undefined
        ? `Your account is still signed in at ${host}.`
        : html`Your account is still signed in at ${host}, and signs in here again without a password. <a href="${address}" class="button">Sign out there, too</a>`,
    );
  });

  app.get(callbackPath, async (request, reply) => {
    const back = new URL(request.url, origin);
    const state = back.searchParams.get('state') ?? '';
    const attempt = await attempts.open(state);
    if (attempt === undefined || digestOf(cookieIn(request.raw, cookie) ?? '') !== attempt.browser)
      return sendSentence(reply, 400, 'This login took too long', 'Or it began in another browser. Sign in again.');
    let account: Account | { status: number; sentence: string };
    try {
      account = await provider.accountAt(back, attempt, state);
    } catch (error) {
      return unreachable(reply, error);
    }
    if ('status' in account) return sendSentence(reply, account.status, account.sentence, 'Sign in again.');
    const signIn = signInOf(account, grants);
    if (signIn === undefined) {
      logger.info({ account: account.sub }, 'an account is in no group that may use the console');
      return sendSentence(
        reply,
        403,
        'Your account may not use this console',
        'Ask the people who run it for access: they give it to groups of accounts.',
      );
    }
    return await signedIn(reply, signIn, attempt.to);
  });
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** The sign-in of an account with those of its groups that have rights; undefined if none has. Pure. */
function signInOf(account: Account, grants: readonly Grant[]): SignIn | undefined {
  const groups = new Set(grants.map(({ group }) => group).filter((group) => account.groups.includes(group)));
  if (groups.size === 0) return undefined;
  return { kind: 'account', name: nameOf(account), groups: [...groups].map(groupDigest) };
}

/** Names of actors that are no accounts: the operator's token, and API keys. */
const isOther = (name: string): boolean => name === 'operator' || name.startsWith('key_');

/**
 * Name of an account in the audit: its verified address, or the provider's name for it. The end of a name that is too long is a digest, so that two
 * accounts never have one name. Pure.
 */
export function nameOf({ sub, verifiedEmail }: Pick<Account, 'sub' | 'verifiedEmail'>): string {
  const name = verifiedEmail ?? sub;
  const own = isOther(name) ? `account ${name}` : name;
  if (own.length <= longestPersonName) return own;
  const digest = digestOf(own).slice(0, 12);
  return `${own.slice(0, longestPersonName - digest.length - 1)}…${digest}`;
}
