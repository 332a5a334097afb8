import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleHarness, consoleHarness } from '../../test/support/console-harness.ts';
import { nameOf } from './account-sign-in.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../../test/support/gateway-harness.ts';

const origin = 'https://console.acme.test';
const settings = {
  BINDERY_CONSOLE_URL: origin,
  BINDERY_OIDC_CLIENT_ID: 'console',
  BINDERY_OIDC_CLIENT_SECRET: 'the-secret-of-the-client',
  BINDERY_CONSOLE_GRANTS: 'writers=acme:viewer, staff=acme:admin, staff=globex:viewer, platform=operator',
};

let gateway: GatewayHarness;
let acme: TestOrganization;
let site: ConsoleHarness;
let provider: ReturnType<typeof fork>;
let issuer: string;

beforeAll(async () => {
  gateway = await gatewayHarness();
  acme = await createOrganization(gateway);
  await createOrganization(gateway, 'Globex', 'enterprise', { domain: 'blog' });
  const client = {
    client_id: 'console',
    client_secret: 'the-secret-of-the-client',
    redirect_uris: [`${origin}/sign-in/account/return`],
  };
  provider = fork(
    join(import.meta.dirname, '../../test/support/oidc-provider.mjs'),
    [JSON.stringify({ clients: [client] })],
    { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] },
  );
  const [line] = (await once(provider.stdout ?? provider, 'data')) as [Buffer];
  ({ issuer } = JSON.parse(String(line)) as { issuer: string });
  site = await consoleHarness(gateway, { ...settings, BINDERY_OIDC_ISSUER: issuer });
});
afterAll(async () => {
  provider?.kill();
  await site?.close();
  await gateway?.close();
});

const cancels = 'nobody, who cancels';

/** A browser at the provider: answers its two forms, or cancels, and returns the path at the console to which it is sent back. */
async function atProvider(address: string, account: string): Promise<string> {
  const cookies = new Map<string, string>();
  const visit = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    return answer;
  };
  let url = address;
  for (let steps = 0; steps < 12; steps += 1) {
    if (url.startsWith(origin)) return url.slice(origin.length);
    let answer = await visit(url);
    const page = answer.status === 200 ? await answer.text() : '';
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    if (prompt !== undefined)
      answer =
        account === cancels
          ? await visit(`${url}/abort`)
          : await visit(url, prompt === 'login' ? { prompt, login: account, password: 'any' } : { prompt });
    const to = answer.headers.get('location');
    if (to === null) throw new Error(`the provider answered ${answer.status} at ${url}: ${page.slice(0, 500)}`);
    url = new URL(to, url).href;
  }
  throw new Error('the provider did not lead back to the console');
}

type Visitor = Awaited<ReturnType<ConsoleHarness['signedIn']>>;

/** A browser that began to sign in, and the address of the provider to which it was sent. */
async function begun(to = '/', at = site): Promise<{ visitor: Visitor; address: string }> {
  const visitor = await at.signedIn();
  const { location = '' } = await visitor.get(`/sign-in/account?to=${encodeURIComponent(to)}`);
  return { visitor, address: location };
}

async function signedIn(account: string, to = '/', at = site) {
  const { visitor, address } = await begun(to, at);
  const entered = await visitor.get(await atProvider(address, account));
  return { visitor, entered };
}

const session = '__Host-bindery-console';

describe('an account', () => {
  test('is offered on the page for signing in, with the page to which one returns', async () => {
    const { html } = await (await site.signedIn()).get('/sign-in?to=/o/acme/keys');
    expect(html).toContain('href="/sign-in/account?to=%2Fo%2Facme%2Fkeys"');
  });

  test('has the rights of all its groups, in each organization the greatest, and is in the audit under its address', async () => {
    const { visitor, entered } = await signedIn('ada', '/o/acme/keys');
    expect([entered.status, entered.location]).toEqual([303, '/o/acme/keys']);
    expect(entered.headers.getSetCookie().join()).toMatch(
      new RegExp(`${session}=[^;]+; Max-Age=43200; Path=/; HttpOnly; SameSite=Lax; Secure`),
    );
    const { html } = await visitor.get('/o/acme/keys');
    expect(html).toContain('ada@acme.test');
    expect(html).toContain('<span class="quiet">admin</span>');
    const made = await visitor.send('/o/acme/keys', {
      kind: 'admin',
      name: 'of Ada',
      scopes: 'read',
      expiresInDays: '',
    });
    expect(made.status).toBe(200);

    const there = await visitor.get('/o/globex');
    expect([there.status, there.html.includes('<span class="quiet">viewer</span>')]).toEqual([200, true]);
    expect((await visitor.send('/o/globex/keys', { kind: 'assistant', name: 'no' })).status).toBe(403);
    expect((await visitor.get('/organizations')).status).toBe(404);
    expect((await visitor.get('/o/initech')).status).toBe(404);

    await gateway.bus.projected();
    const audit = await gateway.app.inject({ url: '/v1/audit?limit=5', headers: bearer(acme.adminKey) });
    expect(audit.json().entries).toContainEqual(
      expect.objectContaining({ actor: { kind: 'person', id: 'ada@acme.test' } }),
    );
  });

  test('of the operators’ group sees all organizations', async () => {
    const { visitor, entered } = await signedIn('olga');
    expect(entered.location).toBe('/');
    expect((await visitor.get('/')).location).toBe('/organizations');
    const { html } = await visitor.get('/organizations');
    for (const name of ['acme', 'globex']) expect(html).toContain(`/o/${name}"`);
    expect((await visitor.get('/o/globex/keys')).status).toBe(200);
  });

  test('whose address is not verified is not called by it', async () => {
    const { visitor } = await signedIn('ned');
    const { html } = await visitor.get('/o/acme');
    expect(html).toContain('title="ned"');
    expect(html).not.toContain('ada@acme.test');
  });

  test('in no group with rights is refused, and has no session', async () => {
    const { visitor, entered } = await signedIn('bob');
    expect([entered.status, visitor.cookies.has(session)]).toEqual([403, false]);
    expect(entered.html).toContain('Your account may not use this console');
  });

  test('is not called like an operator', async () => {
    const { visitor } = await signedIn('operator');
    expect((await visitor.get('/o/acme')).html).toContain('title="account operator"');
  });

  test('in more groups than a cookie has room for is told so, and does not begin again without end', async () => {
    const grants = Array.from({ length: 400 }, (_, at) => `a-group-of-${at}=organization-${at}:viewer`).join();
    const wide = await consoleHarness(gateway, {
      ...settings,
      BINDERY_OIDC_ISSUER: issuer,
      BINDERY_CONSOLE_GRANTS: grants,
    });
    const few = await signedIn('in80', '/', wide);
    expect([few.entered.status, few.entered.location]).toEqual([303, '/']);
    const cookie = `${session}=${few.visitor.cookies.get(session)}`;
    expect([cookie.length > 1_000, cookie.length <= 4_096]).toEqual([true, true]);
    // The first of these organizations does not exist; the page leads to the others.
    const missing = await few.visitor.get((await few.visitor.get('/')).location ?? '');
    expect([missing.status, missing.html.includes('href="/o/organization-79"')]).toEqual([404, true]);
    expect(missing.html).toContain('There is no organization');
    const many = await signedIn('in400', '/', wide);
    expect([many.entered.status, many.visitor.cookies.has(session)]).toEqual([403, false]);
    expect(many.entered.html).toContain('too many groups');
    await wide.close();
  });

  test('loses the rights that the settings no longer grant when the console starts again', async () => {
    const { visitor } = await signedIn('ada');
    const less = { ...settings, BINDERY_OIDC_ISSUER: issuer, BINDERY_CONSOLE_GRANTS: 'writers=acme:viewer' };
    const later = await consoleHarness(gateway, less);
    const there = await later.signedIn();
    for (const [name, value] of visitor.cookies) there.cookies.set(name, value);
    expect((await there.get('/o/acme/keys')).html).toContain('<span class="quiet">viewer</span>');
    expect((await there.get('/o/globex')).status).toBe(404);
    await later.close();
    const none = await consoleHarness(gateway, { ...less, BINDERY_CONSOLE_GRANTS: 'others=acme:viewer' });
    const outside = await none.signedIn();
    for (const [name, value] of visitor.cookies) outside.cookies.set(name, value);
    expect((await outside.get('/o/acme')).location).toMatch(/^\/sign-in/);
    await none.close();
  });

  test('leads back to a page of the console only', async () => {
    expect((await signedIn('ada', 'https://evil.test/')).entered.location).toBe('/');
  });
});

describe('the return from the provider', () => {
  const refused = async (visitor: Visitor, path: string, status: number) => {
    expect((await visitor.get(path)).status).toBe(status);
    expect(visitor.cookies.has(session)).toBe(false);
  };

  test('is for the browser that began, so that nobody is signed in to the account of another', async () => {
    const { address } = await begun();
    const path = await atProvider(address, 'ada');
    await refused(await site.signedIn(), path, 400);
    // A browser that began a sign-in of its own.
    await refused((await begun()).visitor, path, 400);
  });

  test('needs the state of the console', async () => {
    const { visitor, address } = await begun();
    const back = new URL(await atProvider(address, 'ada'), origin);
    for (const change of [
      () => back.searchParams.set('state', 'x'.repeat(40)),
      () => back.searchParams.delete('state'),
    ]) {
      change();
      await refused(visitor, back.pathname + back.search, 400);
    }
  });

  test('with the code of another attempt of the same browser is refused, because the nonce and the verifier differ', async () => {
    const { visitor, address } = await begun();
    const first = new URL(await atProvider(address, 'ada'), origin);
    const again = await visitor.get('/sign-in/account');
    const second = new URL(await atProvider(again.location ?? '', 'ada'), origin);
    second.searchParams.set('code', first.searchParams.get('code') ?? '');
    await refused(visitor, second.pathname + second.search, 502);
  });

  test('works once', async () => {
    const { visitor, address } = await begun();
    const path = await atProvider(address, 'ada');
    expect((await visitor.get(path)).status).toBe(303);
    visitor.cookies.delete(session);
    await refused(visitor, path, 502);
  });

  test('after a cancelled login says so', async () => {
    const { visitor, address } = await begun();
    await refused(visitor, await atProvider(address, cancels), 403);
  });
});

describe('signing out', () => {
  test('ends the session, also for a stolen cookie', async () => {
    const { visitor } = await signedIn('ada');
    await visitor.get('/o/acme');
    const stolen = visitor.cookies.get(session) ?? '';
    expect((await visitor.send('/sign-out')).location).toBe('/sign-out/account');
    visitor.cookies.set(session, stolen);
    expect((await visitor.get('/o/acme')).location).toMatch(/^\/sign-in/);
  });

  test('leads to the provider, where the account is signed out by a link that the policy of the page allows', async () => {
    const { visitor } = await signedIn('ada');
    await visitor.get('/o/acme');
    const { html, headers, status } = await visitor.get((await visitor.send('/sign-out')).location ?? '');
    expect([status, headers.get('content-security-policy')]).toEqual([
      200,
      expect.stringContaining("form-action 'self'"),
    ]);
    const address = /<a href="([^"]+)" class="button">/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(new URL(address).origin).toBe(new URL(issuer).origin);
    const there = await fetch(address);
    expect([there.status, await there.text()]).toEqual([200, expect.stringContaining('logout')]);
    const byKey = await site.signedIn(acme.adminKey);
    await byKey.get('/o/acme');
    expect((await byKey.send('/sign-out')).location).toBe('/sign-in');
  });

  test('everywhere ends the sessions of the account in all browsers, and of no other account', async () => {
    const [one, other, olga] = [await signedIn('ada'), await signedIn('ada'), await signedIn('olga')];
    await one.visitor.get('/o/acme');
    await one.visitor.send('/sign-out/everywhere');
    expect((await other.visitor.get('/o/acme')).location).toMatch(/^\/sign-in/);
    expect((await olga.visitor.get('/o/acme')).status).toBe(200);
  });
});

test('accounts whose names differ only after the longest name of an actor have different names', () => {
  const [one, other] = ['1', '2'].map((end) => nameOf({ sub: 'a'.repeat(120) + end, verifiedEmail: undefined }));
  expect(one).not.toBe(other);
  expect([one?.length, other?.length]).toEqual([100, 100]);
  expect(nameOf({ sub: 'key_0123456789abcdef', verifiedEmail: undefined })).toBe('account key_0123456789abcdef');
});

test('a provider that cannot be reached is said so, while keys still open the console', async () => {
  const without = await consoleHarness(gateway, { ...settings, BINDERY_OIDC_ISSUER: 'http://127.0.0.1:1' });
  const visitor = await without.signedIn();
  const answer = await visitor.get('/sign-in/account');
  expect([answer.status, answer.html.includes('The login cannot be reached now')]).toEqual([503, true]);
  await without.signedIn(acme.adminKey);
  await without.close();
});

test.each(['BINDERY_CONSOLE_URL', 'BINDERY_PERSON_TOKEN_KEY', 'BINDERY_CONSOLE_GRANTS', 'BINDERY_OIDC_CLIENT_ID'])(
  'accounts without %s are a wrong setting, which is named',
  async (name) => {
    const incomplete = { ...settings, BINDERY_OIDC_ISSUER: 'https://login.test', [name]: '' };
    await expect(consoleHarness(gateway, incomplete)).rejects.toThrow(`Accounts at the console also need ${name}.`);
  },
);
