import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ServedLogin } from '#shared/interfaces/http/sites.ts';
import { hashOfPassword } from '#shared/http/password-hash.ts';
import { askHost, type HostAnswer } from '../../test/support/ask-host.ts';
import type { TestedHost } from '../../test/support/docs-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { hostedSites, waiting } from '../../test/support/hosted-sites.ts';
import { lyingProvider } from '../../test/support/lying-provider.ts';

const { folder, atEnd, platform, started } = hostedSites();
const hash = await hashOfPassword('correct horse battery');
const byPassword: ServedLogin = { kind: 'password', users: [{ name: 'anna', hash }] };
const byAccount: ServedLogin = { kind: 'oidc', groups: ['docs'], emailDomains: [] };
const anna = { authorization: `Basic ${Buffer.from('anna:correct horse battery').toString('base64')}` };
const looking = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };

async function expectStatus(at: { url: string }, name: string, status: number): Promise<void> {
  await expect.poll(async () => (await askHost(at.url, name)).status, waiting).toBe(status);
}
/** Waits until the host has as many deployments, since a login is asked for before. */
async function expectServed({ log }: TestedHost, count: number): Promise<void> {
  const served = () => log.filter(({ msg }) => msg === 'a deployment is served').length;
  await expect.poll(served, waiting).toBeGreaterThanOrEqual(count);
}
const cookieOf = ({ headers }: HostAnswer): string => headers['set-cookie']?.[0]?.split(';')[0] ?? '';
const paths = ['/', '/guides/x', '/guides/x.md', '/old', '/nowhere', '/_bindery/config.js', '/llms.txt'];

describe('a name and a password', () => {
  test('open their site and nothing else, and every file is behind them', async () => {
    for (const domain of ['one', 'two'])
      platform().deploy({ domain, bundle: await exampleBundle(domain), login: byPassword });
    platform().deploy({ domain: 'open', bundle: await exampleBundle('open') });
    const running = await started();
    await expectServed(running, 3);
    await expectStatus(running, 'two.localhost', 401);
    await expectStatus(running, 'open.localhost', 200);
    const entered = await askHost(running.url, 'one.localhost', '/', { headers: anna });
    expect([entered.status, entered.headers['cache-control']]).toEqual([200, 'private, no-cache']);
    expect(entered.headers['set-cookie']?.[0]).toMatch(/^bindery_reader=.*; Path=\/; HttpOnly; SameSite=Strict$/);
    const [, asset = ''] = /src="(\/_bindery\/@[^"]+site.js)"/.exec(entered.text) ?? [];
    for (const path of [...paths, asset]) {
      const refused = await askHost(running.url, 'one.localhost', path);
      expect([path, refused.status, refused.headers['www-authenticate']]).toEqual([
        path,
        401,
        expect.stringMatching(/^Basic /),
      ]);
      expect(refused.text).not.toContain('Version');
    }
    expect((await askHost(running.url, 'one.localhost', '/', { method: 'POST' })).status).toBe(401);
    const ofOne = { headers: { cookie: cookieOf(entered) } };
    const script = await askHost(running.url, 'one.localhost', asset, ofOne);
    expect([script.status, script.headers['cache-control']]).toEqual([200, 'private, max-age=31536000, immutable']);
    // Both sites have the same name with the same hash; the cookie of one is not valid at the other.
    expect((await askHost(running.url, 'two.localhost', '/', ofOne)).status).toBe(401);
    expect((await askHost(running.url, 'open.localhost', '/')).headers['cache-control']).toBe('no-cache');
    const wrong = { authorization: `Basic ${Buffer.from('anna:incorrect horse').toString('base64')}` };
    expect((await askHost(running.url, 'one.localhost', '/', { headers: wrong })).status).toBe(401);
  });

  test('end with a new password, a logout and their removal, and the site opens again without a new version', async () => {
    platform().deploy({ bundle: await exampleBundle('one'), login: byPassword });
    const running = await started();
    await expectServed(running, 1);
    await expectStatus(running, 'docs.localhost', 401);
    const enter = async () => cookieOf(await askHost(running.url, 'docs.localhost', '/', { headers: anna }));
    const status = async (cookie: string) =>
      (await askHost(running.url, 'docs.localhost', '/', { headers: { cookie } })).status;
    const [first, second] = [await enter(), await enter()];
    const out = await askHost(running.url, 'docs.localhost', '/_bindery/logout', { headers: { cookie: first } });
    expect([out.status, cookieOf(out)]).toEqual([401, 'bindery_reader=']);
    expect([await status(first), await status(second)]).toEqual([401, 200]);
    // A change of the rest of the site ends no session.
    platform().setLogin('acme/docs', { ...byPassword, users: [...byPassword.users, { name: 'bert', hash }] });
    expect(await status(second)).toBe(200);
    platform().setLogin('acme/docs', {
      kind: 'password',
      users: [{ name: 'anna', hash: await hashOfPassword('another horse battery') }],
    });
    await expect.poll(() => status(second), waiting).toBe(401);
    expect((await askHost(running.url, 'docs.localhost', '/', { headers: anna })).status).toBe(401);
    platform().setLogin('acme/docs', undefined);
    await expectStatus(running, 'docs.localhost', 200);
    expect(platform().downloads()).toBe(1);
  });

  test('stay in front of their site while the feed is that of an older gateway, which does not know of them', async () => {
    platform().deploy({ bundle: await exampleBundle('one'), login: byPassword });
    const running = await started();
    await expectServed(running, 1);
    await expectStatus(running, 'docs.localhost', 401);
    platform().state.isOlder = true;
    platform().deploy({ domain: 'later', bundle: await exampleBundle('later') });
    platform().dropFeeds();
    await expectStatus(running, 'later.localhost', 200);
    await expect.poll(() => platform().connections(), waiting).toBe(1);
    platform().deploy({ domain: 'last', bundle: await exampleBundle('last') });
    await expectStatus(running, 'last.localhost', 200);
    await expectStatus(running, 'docs.localhost', 401);
    platform().state.isOlder = false;
    platform().setLogin('acme/docs', undefined);
    platform().dropFeeds();
    await expectStatus(running, 'docs.localhost', 200);
  });

  test('protect previews alone, if the platform says so', async () => {
    platform().deploy({ bundle: await exampleBundle('live') });
    platform().deploy({ label: 'pr-1', bundle: await exampleBundle('preview'), login: byPassword });
    const running = await started();
    await expectServed(running, 2);
    await expectStatus(running, 'docs.localhost', 200);
    await expectStatus(running, 'pr-1--docs.localhost', 401);
    const entered = await askHost(running.url, 'pr-1--docs.localhost', '/', { headers: anna });
    expect([entered.status, entered.headers['x-robots-tag']]).toEqual([200, 'noindex, nofollow']);
  });

  test('are guessed by no flood, which keeps no reader of another site waiting', async () => {
    platform().deploy({ domain: 'closed', bundle: await exampleBundle('closed'), login: byPassword });
    platform().deploy({ domain: 'other', bundle: await exampleBundle('other'), login: byPassword });
    platform().deploy({ domain: 'open', bundle: await exampleBundle('open') });
    const running = await started({ BINDERY_TRUST_PROXY: 'loopback' });
    await expectServed(running, 3);
    for (const domain of ['closed', 'other']) await expectStatus(running, `${domain}.localhost`, 401);
    await expectStatus(running, 'open.localhost', 200);
    let guess = 0;
    const flood = Array.from({ length: 1_000 }, async () => {
      guess += 1;
      const headers = {
        authorization: `Basic ${Buffer.from(`anna:guess ${guess}`).toString('base64')}`,
        'x-forwarded-for': `192.0.2.${guess % 250}`,
      };
      return (await askHost(running.url, 'closed.localhost', '/', { headers })).status;
    });
    expect((await askHost(running.url, 'open.localhost')).status).toBe(200);
    const entered = await askHost(running.url, 'other.localhost', '/', {
      headers: { ...anna, 'x-forwarded-for': '203.0.113.9' },
    });
    expect(entered.status).toBe(200);
    const statuses = new Set(await Promise.all(flood));
    expect(statuses).not.toContain(200);
    expect(statuses).toEqual(new Set([401, 503]));
  });
});

describe('an account at the provider', () => {
  const settings = (provider: { url: string }) => ({
    BINDERY_OIDC_ISSUER: provider.url,
    BINDERY_OIDC_CLIENT_ID: 'site',
    BINDERY_OIDC_CLIENT_SECRET: 'a-secret',
    BINDERY_LOGIN_SESSION_SECRET: 'a-secret-of-32-characters-or-more',
    BINDERY_SITES_BASE: 'https://sites.test:8443',
  });
  async function withProvider() {
    const provider = await lyingProvider();
    atEnd(() => provider.close());
    provider.state.fields = { userInfo: { groups: ['docs'] } };
    return { provider, running: await started(settings(provider)) };
  }
  const at = { protocol: 'https', port: 8443 } as const;
  const closed = async (domain: string, more: object = {}) =>
    platform().deploy({
      domain,
      hosts: [`${domain}.sites.test`],
      at,
      bundle: await exampleBundle(domain),
      login: byAccount,
      ...more,
    });
  type Host = Awaited<ReturnType<typeof withProvider>>;

  /** Goes from a page of a site to the provider and back to the common address; returns its answer, and the cookie of the browser. */
  async function toTicket({ provider, running }: Host, name = 'one.sites.test', path = '/guides/x?a=1') {
    const begun = await askHost(running.url, name, path, { headers: looking });
    expect([begun.status, begun.headers.location]).toEqual([
      302,
      expect.stringMatching(new RegExp(`^${provider.url}/auth\\?`)),
    ]);
    expect(begun.headers['set-cookie']?.[0]).toMatch(
      /^__Host-bindery-login=[\w-]{43}; Path=\/; Max-Age=900; HttpOnly; SameSite=Lax; Secure$/,
    );
    const back = provider.logIn(begun.headers.location ?? '');
    expect(back.origin + back.pathname).toBe('https://login.sites.test:8443/_bindery/login');
    const handedOver = await askHost(running.url, back.host, back.pathname + back.search, { headers: looking });
    return { cookie: cookieOf(begun), back, handedOver };
  }
  const redeem = ({ running }: Host, location: string, cookie: string) => {
    const { host: name, pathname, search } = new URL(location);
    return askHost(running.url, name, pathname + search, { headers: { ...looking, cookie } });
  };
  const login = async (of: Host, name?: string) => {
    const { cookie, handedOver } = await toTicket(of, name);
    return cookieOf(await redeem(of, handedOver.headers.location ?? '', cookie));
  };

  test('opens its site, for its rules, in the browser that began the login, once', async () => {
    await closed('one');
    await closed('two');
    const of = await withProvider();
    const { url } = of.running;
    await expectServed(of.running, 2);
    await expectStatus(of.running, 'two.sites.test', 401);
    await expectStatus(of.running, 'one.sites.test', 401);
    const { cookie, handedOver } = await toTicket(of);
    const location = handedOver.headers.location ?? '';
    expect(location).toMatch(/^https:\/\/one\.sites\.test:8443\/_bindery\/login\?ticket=/);
    expect(handedOver.headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
    expect(handedOver.headers['set-cookie']).toBeUndefined();
    // A ticket is not valid in another browser, at another site, and later.
    const other = cookieOf(await askHost(url, 'one.sites.test', '/', { headers: looking }));
    for (const [where, of2] of [
      [location, ''],
      [location, other],
      [location.replace('one.sites', 'two.sites'), cookie],
      [`${location}x`, cookie],
      ['https://one.sites.test:8443/_bindery/login', cookie],
    ] as const) {
      const refused = await redeem(of, where, of2);
      expect([refused.status, refused.headers['set-cookie']]).toEqual([400, undefined]);
    }
    const entered = await redeem(of, location, cookie);
    expect([entered.status, entered.headers.location]).toEqual([302, '/guides/x?a=1']);
    expect(entered.headers['set-cookie']?.[0]).toMatch(
      /^__Host-bindery-session=[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect((await redeem(of, location, cookie)).status).toBe(400);
    const session = { headers: { cookie: cookieOf(entered) } };
    const page = await askHost(url, 'one.sites.test', '/', session);
    expect([page.status, page.headers['cache-control']]).toEqual([200, 'private, no-cache']);
    expect((await askHost(url, 'two.sites.test', '/', session)).status).toBe(401);
    for (const path of paths) expect([path, (await askHost(url, 'one.sites.test', path)).status]).toEqual([path, 401]);
    // The common address answers nothing else.
    for (const path of ['/', '/_bindery/logout', '/livez'])
      expect((await askHost(url, 'login.sites.test', path, { headers: looking })).status).toBe(404);
  });

  test('that is in no group is refused at the site, and a change of the rules ends sessions and tickets at once', async () => {
    await closed('one');
    const of = await withProvider();
    await expectServed(of.running, 1);
    await expectStatus(of.running, 'one.sites.test', 401);
    const session = await login(of);
    const status = async () =>
      (await askHost(of.running.url, 'one.sites.test', '/', { headers: { cookie: session } })).status;
    expect(await status()).toBe(200);
    const { cookie, handedOver } = await toTicket(of);
    of.provider.state.fields = { userInfo: { groups: ['other'] } };
    const { handedOver: refused } = await toTicket(of);
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining('https://one.sites.test:8443/_bindery/logout'),
    ]);
    platform().setLogin('acme/one', { kind: 'oidc', groups: ['other'], emailDomains: [] });
    await expect.poll(status, waiting).toBe(401);
    expect((await redeem(of, handedOver.headers.location ?? '', cookie)).status).toBe(400);
    expect(await login(of)).toMatch(/^__Host-bindery-session=./);
  });

  test('leads nowhere but to a name of the site that began the login', async () => {
    await closed('one', { hosts: ['one.sites.test', 'docs.one.test'] });
    const of = await withProvider();
    await expectStatus(of.running, 'docs.one.test', 401);
    for (const path of ['//evil.test/x', '/\\evil.test', '/_bindery/login?ticket=x']) {
      const answer = await askHost(of.running.url, 'one.sites.test', path, { headers: looking });
      if (answer.status !== 302) continue;
      const back = of.provider.logIn(answer.headers.location ?? '');
      const handedOver = await askHost(of.running.url, back.host, back.pathname + back.search, { headers: looking });
      const entered = await redeem(of, handedOver.headers.location ?? '', cookieOf(answer));
      expect(entered.headers.location).toBe('/');
    }
    const { cookie, handedOver, back } = await toTicket(of, 'docs.one.test');
    expect(handedOver.headers.location).toMatch(/^https:\/\/docs\.one\.test:8443\/_bindery\/login\?/);
    expect((await redeem(of, handedOver.headers.location ?? '', cookie)).status).toBe(302);
    // A site that is gone, or has another login, gets no ticket.
    platform().setLogin('acme/one', byPassword);
    await expect
      .poll(async () => (await askHost(of.running.url, 'one.sites.test')).headers['www-authenticate'], waiting)
      .toMatch(/^Basic/);
    const late = await askHost(of.running.url, back.host, back.pathname + back.search, { headers: looking });
    expect([late.status, late.headers.location]).toEqual([400, undefined]);
  });

  test('opens the site at each replica, and after a logout a copy of the cookie opens nothing, also after a restart', async () => {
    await closed('one');
    const of = await withProvider();
    await expectServed(of.running, 1);
    await expectStatus(of.running, 'one.sites.test', 401);
    const [session, other] = [await login(of), await login(of)];
    const out = await askHost(of.running.url, 'one.sites.test', '/_bindery/logout', {
      headers: { ...looking, cookie: session },
    });
    expect([out.status, out.headers.location, cookieOf(out)]).toEqual([302, '/', '__Host-bindery-session=']);
    const status = async (cookie: string) =>
      (await askHost(of.running.url, 'one.sites.test', '/', { headers: { cookie } })).status;
    expect([await status(session), await status(other)]).toEqual([401, 200]);
    const replica = { BINDERY_DATA: join(folder(), 'replica') };
    const second = await started({ ...settings(of.provider), ...replica });
    await expectServed(second, 1);
    const shown = await askHost(second.url, 'one.sites.test', '/', { headers: { cookie: other } });
    expect(shown.status).toBe(200);
    await of.running.stop();
    of.running = await started(settings(of.provider));
    expect([await status(session), await status(other)]).toEqual([401, 200]);
  });

  test('on a host without a provider opens nothing', async () => {
    platform().deploy({ bundle: await exampleBundle('one'), login: byAccount });
    const running = await started();
    await expectStatus(running, 'docs.localhost', 503);
    for (const path of paths) {
      const answer = await askHost(running.url, 'docs.localhost', path, { headers: looking });
      expect([answer.status, answer.text]).toEqual([
        503,
        expect.stringContaining('a login that its host does not offer'),
      ]);
    }
    expect((await askHost(running.url, 'login.localhost')).status).toBe(404);
  });

  test('while the provider is gone lets sessions continue, and begins none', async () => {
    await closed('one');
    const of = await withProvider();
    await expectServed(of.running, 1);
    await expectStatus(of.running, 'one.sites.test', 401);
    const session = await login(of);
    const { back } = await toTicket(of);
    await of.provider.close();
    expect((await askHost(of.running.url, 'one.sites.test', '/', { headers: { cookie: session } })).status).toBe(200);
    expect((await askHost(of.running.url, back.host, back.pathname + back.search)).status).toBe(502);
  });
});

describe('access rules', () => {
  test('are in the record of a site, so that a host that starts without the platform keeps it closed', async () => {
    platform().deploy({ domain: 'closed', bundle: await exampleBundle('closed'), login: byPassword });
    platform().deploy({ domain: 'later', bundle: await exampleBundle('later') });
    const first = await started();
    await expectServed(first, 2);
    await expectStatus(first, 'later.localhost', 200);
    await expectStatus(first, 'closed.localhost', 401);
    platform().setLogin('acme/later', byPassword);
    await expectStatus(first, 'later.localhost', 401);
    await first.stop();
    platform().state.feed = (response) => void response.writeHead(503).end();
    const second = await started();
    for (const domain of ['closed', 'later']) {
      expect((await askHost(second.url, `${domain}.localhost`)).status).toBe(401);
      expect((await askHost(second.url, `${domain}.localhost`, '/', { headers: anna })).status).toBe(200);
    }
  });

  test('that cannot be read close the site, also in an event that is refused for another reason', async () => {
    const served = platform().deploy({ bundle: await exampleBundle('one') });
    const running = await started();
    const say = (change: object) =>
      platform().write(`event: site\ndata: ${JSON.stringify({ ...served, ...change })}\n\n`);
    for (const change of [{ login: { kind: 'saml' } }, { login: { kind: 'saml' }, hosts: [] }]) {
      platform().setLogin('acme/docs', undefined);
      await expectStatus(running, 'docs.localhost', 200);
      say(change);
      await expectStatus(running, 'docs.localhost', 503);
      const answer = await askHost(running.url, 'docs.localhost', '/', { headers: looking });
      expect(answer.text).toContain('its access rules cannot be read');
    }
    // An event that is refused and names no login leaves the login unchanged.
    say({ hosts: [] });
    platform().deploy({ domain: 'other', bundle: await exampleBundle('other') });
    await expectStatus(running, 'other.localhost', 200);
    expect((await askHost(running.url, 'docs.localhost')).status).toBe(503);
  });
});
