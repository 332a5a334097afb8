import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { html } from '#shared/docs/render/html.ts';
import { organizationListSchema, whoamiSchema } from '#shared/interfaces/http/directory.ts';
import { isSameSecret } from '#shared/runtime/same-secret.ts';
import { sha256Of, jsonIn } from '#shared/runtime/canonical-json.ts';
import { parseApiKey } from '#shared/http/api-key.ts';
import { type Platform, PlatformRefusal } from './platform.ts';
import type { Identity } from './sessions.ts';

/** The person behind a credential that was typed: an admin key, or the operator's token. Rejects with `PlatformRefusal`. */
export async function identityOf(platform: Platform, credential: string, address: string): Promise<Identity> {
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
  const role = caller.scopes.includes('write') ? ('admin' as const) : ('viewer' as const);
  return {
    kind: 'key',
    key: credential,
    name: caller.name === '' ? caller.id : caller.name,
    membership: { organization: organization.id, role },
  };
}

async function operatorOf(platform: Platform, token: string, address: string): Promise<Identity> {
  await platform.askWith(token, address, { path: '/v1/organizations', query: { limit: 1 } }, organizationListSchema);
  return { kind: 'person', name: 'operator', isOperator: true, memberships: [] };
}

const firstLinkSchema = z.object({ sha256: z.string(), until: z.iso.datetime() });

/** File of the data folder with the digest of a link that signs in once. `bindery start` and `bindery console` write it. */
export const firstLinkFile = (dataFolder: string): string => join(dataFolder, 'console-sign-in.json');

/** The operator, if the token is that of the link which this machine made; the link works once, and ends soon. */
export async function identityOfLink(dataFolder: string, token: string, now: Date): Promise<Identity | undefined> {
  const file = firstLinkFile(dataFolder);
  const stored = firstLinkSchema.safeParse(jsonIn(await readFile(file, 'utf8').catch(() => '')));
  if (!stored.success || !isSameSecret(sha256Of(token), stored.data.sha256)) return undefined;
  // The removal decides, because two requests may come at once.
  const isFirst = await rm(file).then(
    () => true,
    () => false,
  );
  if (!isFirst || Date.parse(stored.data.until) < now.getTime()) return undefined;
  return { kind: 'person', name: 'operator', isOperator: true, memberships: [] };
}

/** The page for signing in. `to`: path to which one returns. `accounts`: true if there is a provider. `problem`: why the last attempt failed. */
export const signInPage = ({
  to,
  accounts,
  problem,
}: {
  to: string;
  accounts: boolean;
  problem?: string | undefined;
}) =>
  html`<h1>Sign in</h1>
${problem === undefined ? '' : html`<div class="notice bad" role="alert"><p>${problem}</p></div>`}
${accounts ? html`<p><a class="button primary" href="/sign-in/account?to=${encodeURIComponent(to)}">Sign in with your account</a></p>` : ''}
<form method="post" action="/sign-in" class="form" hx-boost="false">
<input type="hidden" name="to" value="${to}">
<div class="field"><label for="credential">Admin key</label><input id="credential" name="credential" type="password" required autocomplete="off" spellcheck="false" aria-describedby="about-credential"><p class="about" id="about-credential">An admin key of your organization (<code>svc_…</code>), or the token of the operator. <code>npm start</code> prints a key of its demo.</p></div>
<button class="button${accounts ? '' : ' primary'}">Sign in</button>
</form>`;
