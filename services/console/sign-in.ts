import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { html } from '#shared/docs/render/html.ts';
import { organizationListSchema, whoamiSchema } from '#shared/interfaces/http/directory.ts';
import { binderyCommand, startCommand } from '#shared/runtime/command-words.ts';
import { isSameSecret } from '#shared/runtime/same-secret.ts';
import { sha256Of, jsonIn } from '#shared/runtime/canonical-json.ts';
import { parseApiKey } from '#shared/http/api-key.ts';
import { looksLikePersonToken } from '#shared/interfaces/http/person-token.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { ConsoleConfig } from './config.ts';
import { type Platform, PlatformRefusal } from './platform.ts';
import { plainPage } from './shell.ts';
import type { SignIn } from './sessions.ts';

/** False for text that no header can carry, and for a token of a person, whose minute would become the hours of a session. */
const mayBeCredential = (text: string): boolean => /^[\x21-\x7e]+$/.test(text) && !looksLikePersonToken(text);

/** The person behind a credential that was typed: an admin key, or the operator's token. Rejects with `PlatformRefusal`. */
async function signInWith(platform: Platform, credential: string, address: string): Promise<SignIn> {
  if (!mayBeCredential(credential))
    throw new PlatformRefusal('This is no API key, and not the token of the operator.', {
      status: 403,
      code: 'invalid_key',
    });
  if (parseApiKey(credential) === undefined) return await operatorOf(platform, credential, address);
  const {
    caller,
    organization,
    address: seen,
  } = await platform.askWith(credential, address, { path: '/v1/whoami' }, whoamiSchema);
  if (caller.allowedAddresses.length > 0 && seen !== address)
    throw new PlatformRefusal(
      `This key works from some addresses only, and the platform sees ${seen} instead of yours (${address}). An operator can name the console in BINDERY_TRUST_PROXY of the gateway.`,
      { status: 403, code: 'address_not_allowed' },
    );
  if (!caller.scopes.includes('read') && !caller.scopes.includes('write'))
    throw new PlatformRefusal('This key may only export, and the console needs a key that may read.', {
      status: 403,
      code: 'missing_scope',
    });
  const role = caller.scopes.includes('write') ? ('admin' as const) : ('viewer' as const);
  return {
    kind: 'key',
    key: credential,
    name: caller.name === '' ? caller.id : caller.name,
    membership: { organization: organization.id, role },
  };
}

async function operatorOf(platform: Platform, token: string, address: string): Promise<SignIn> {
  await platform.askWith(token, address, { path: '/v1/organizations', query: { limit: 1 } }, organizationListSchema);
  return operator;
}

const operator: SignIn = { kind: 'operator', name: 'operator' };

const firstLinkSchema = z.object({ sha256: z.string(), until: z.iso.datetime() });

/** File of the data folder with the digest of a link that signs in once. `bindery start` and `bindery console` write it. */
export const firstLinkFile = (dataFolder: string): string => join(dataFolder, 'console-sign-in.json');

/** The operator, if the token is that of the link which this machine made; the link works once, and ends soon. */
async function signInOfLink(dataFolder: string, token: string, now: Date): Promise<SignIn | undefined> {
  const file = firstLinkFile(dataFolder);
  const stored = firstLinkSchema.safeParse(jsonIn(await readFile(file, 'utf8').catch(() => '')));
  if (!stored.success || !isSameSecret(sha256Of(token), stored.data.sha256)) return undefined;
  // The removal decides, because two requests may come at once.
  const isFirst = await rm(file).then(
    () => true,
    () => false,
  );
  return isFirst && Date.parse(stored.data.until) >= now.getTime() ? operator : undefined;
}

/** The page for signing in. `to`: path to which one returns. `hasAccounts`: true if there is a provider. `problem`: why the last attempt failed. */
const signInPage = ({ to, hasAccounts, problem }: { to: string; hasAccounts: boolean; problem?: string | undefined }) =>
  html`<h1>Sign in</h1>
${problem === undefined ? '' : html`<div class="notice bad" role="alert"><p>${problem}</p></div>`}
${hasAccounts ? html`<p><a class="button primary" href="/sign-in/account?to=${encodeURIComponent(to)}">Sign in with your account</a></p>` : ''}
<form method="post" action="/sign-in" class="form" hx-boost="false">
<input type="hidden" name="to" value="${to}">
<div class="field"><label for="credential">Admin key</label><input id="credential" name="credential" type="password" required autocomplete="off" spellcheck="false" aria-describedby="about-credential"><p class="about" id="about-credential">An admin key of your organization (<code>svc_…</code>), or the token of the operator. <code>${startCommand}</code> prints a key of its demo.</p></div>
<button class="button${hasAccounts ? '' : ' primary'}">Sign in</button>
</form>`;

type Parts = {
  platform: Platform;
  clock: Clock;
  config: Pick<ConsoleConfig, 'dataFolder' | 'personTokenKey'>;
  /** True if people can sign in with an account. */
  hasAccounts: boolean;
  /** Throws for a form that another site sent. */
  refuseForeign: (request: FastifyRequest) => void;
  signedIn: (reply: FastifyReply, signIn: SignIn, to: string) => Promise<FastifyReply>;
  sendPage: (reply: FastifyReply, status: number, text: string) => FastifyReply;
};

/** Signs in with a credential that is typed, or with a link of this machine. */
export function signInRoutes(app: FastifyInstance, parts: Parts): void {
  const { platform, clock, config, hasAccounts, refuseForeign, signedIn, sendPage } = parts;
  const signInQuery = z.object({
    to: z.string().default('/').catch('/'),
    token: z.string().max(100).optional().catch(undefined),
  });
  app.get('/sign-in', async (request, reply) => {
    const { to, token } = signInQuery.parse(request.query);
    if (token === undefined) return sendPage(reply, 200, plainPage('Sign in', signInPage({ to, hasAccounts })));
    const isHere = /^(127\.|::1$|::ffff:127\.)/.test(request.ip) && request.headers['x-forwarded-for'] === undefined;
    // A HEAD request, as of a program that previews links, must not use the link up.
    const signIn =
      isHere && request.method === 'GET' ? await signInOfLink(config.dataFolder, token, clock.now()) : undefined;
    if (signIn !== undefined && config.personTokenKey !== undefined) return await signedIn(reply, signIn, '/');
    const problem = isHere
      ? `This link was used, or is too old. "${binderyCommand} console" makes a new one, and a key of "${startCommand}" opens the console too.`
      : 'This link works on the machine of the console only.';
    return sendPage(reply, 403, plainPage('Sign in', signInPage({ to, hasAccounts, problem })));
  });
  const credentialForm = z.object({ credential: z.string().trim().min(1).max(500), to: z.string().default('/') });
  app.post('/sign-in', async (request, reply) => {
    refuseForeign(request);
    const given = credentialForm.safeParse(request.body);
    const to = given.success ? given.data.to : '/';
    const again = (problem: string, status: number) =>
      sendPage(reply, status, plainPage('Sign in', signInPage({ to, hasAccounts, problem })));
    if (!given.success) return again('Type an admin key, or the token of the operator.', 400);
    try {
      const signIn = await signInWith(platform, given.data.credential, request.ip);
      if (signIn.kind === 'operator' && config.personTokenKey === undefined)
        return again('The operator cannot sign in here: BINDERY_PERSON_TOKEN_KEY is not set.', 403);
      return await signedIn(reply, signIn, to);
    } catch (error) {
      if (!(error instanceof PlatformRefusal)) throw error;
      return again(error.message, error.status === 0 || error.status >= 500 ? 502 : 403);
    }
  });
}
