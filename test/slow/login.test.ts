import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cp, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findServer } from '#infra/setup/find-server.ts';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { docsHosts, hostReadiness, isReady } from '../support/docs-host.ts';
import { exampleBundle } from '../support/example-bundle.ts';
import { newFolder } from '../support/new-folder.ts';
import { startRedis } from '../support/start-redis.ts';
import { loginOf } from '#services/docs-host/login-settings.ts';

const { folder, atEnd, host } = docsHosts();

/** The folder of a host with its prepared site, which a login does not change. The first test prepares it. */
let prepared: string | undefined;

async function served(env: Record<string, string>) {
  const file = join(folder(), 'site.tar.gz');
  if (prepared === undefined) {
    await writeFile(file, await exampleBundle('one'));
    // A host recognizes a bundle by its modification time.
    await utimes(file, 1e9, 1e9);
  } else await cp(prepared, folder(), { recursive: true, preserveTimestamps: true, force: false });
  const running = await host({ BINDERY_BUNDLE_PATH: file, ...env });
  await hostReadiness(running, isReady);
  if (prepared === undefined) {
    prepared = newFolder();
    await cp(folder(), prepared, { recursive: true, preserveTimestamps: true });
  }
  return running;
}

describe('a name and a password', () => {
  const users = 'ada:correct horse battery\nbob:c:olons and more of them\n';
  const as = (name: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
  });

  test('open the site, and nothing else does', async () => {
    const { url } = await served({ BINDERY_LOGIN: 'basic', BINDERY_LOGIN_USERS: users });
    const at = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
      fetch(url + path, { headers, redirect: 'manual', ...init });
    for (const headers of [as('ada', 'correct horse battery'), as('bob', 'c:olons and more of them')]) {
      const answer = await at('/guides/x', headers);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
    }
    for (const path of ['/_bindery/config.js', '/old'])
      expect((await at(path, as('ada', 'correct horse battery'))).headers.get('cache-control')).toBe(
        'private, no-cache',
      );
    const page = await (await at('/', as('ada', 'correct horse battery'))).text();
    const script = /src="([^"]*site\.js)"/.exec(page)?.[1] ?? '';
    const asset = await at(script, as('ada', 'correct horse battery'));
    expect(asset.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
    const wrong = [{}, as('ada', 'correct horse'), as('eve', ''), as('', ''), { authorization: 'Bearer x' }];
    for (const headers of wrong)
      for (const path of ['/', '/guides/x', script, '/old', '/nowhere', '/_bindery/config.js']) {
        const answer = await at(path, headers);
        expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
          401,
          expect.stringMatching(/^Basic /),
        ]);
        expect(await answer.text()).not.toContain('Version one');
      }
    const post = await at('/discovery/v1/search/acme', {}, { method: 'POST', body: '{}' });
    expect(post.status).toBe(401);
    for (const path of ['/livez', '/readyz']) expect((await at(path)).status).toBe(200);
  });

  test('pages that show a key of their own, as search and assistant do, are let in by the cookie of the login', async () => {
    const first = await served({ BINDERY_LOGIN: 'basic', BINDERY_LOGIN_USERS: users });
    const entered = await fetch(first.url, { headers: as('ada', 'correct horse battery') });
    const set = entered.headers.get('set-cookie') ?? '';
    expect(set).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
    const cookie = set.split(';')[0] ?? '';
    const status = async (value: string) =>
      (await fetch(first.url, { headers: { authorization: 'Bearer x', cookie: value } })).status;
    expect(await status(cookie)).toBe(200);
    expect(await status(cookie.slice(0, -2))).toBe(401);
    expect(await status(cookie.replace(/=[^.]*/, `=${Buffer.from('bob').toString('base64url')}`))).toBe(401);
  });

  test('a copy of the cookie opens nothing after the logout, also after a restart', async () => {
    const env = { BINDERY_LOGIN: 'basic', BINDERY_LOGIN_USERS: users };
    const running = await served(env);
    const begin = async () => {
      const entered = await fetch(running.url, { headers: as('ada', 'correct horse battery') });
      return (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    };
    const [cookie, ofAnother] = [await begin(), await begin()];
    const status = async (url: string, value: string) => (await fetch(url, { headers: { cookie: value } })).status;
    expect(await status(running.url, cookie)).toBe(200);
    const repeated = await fetch(running.url, { headers: { ...as('ada', 'correct horse battery'), cookie } });
    expect(repeated.headers.get('set-cookie')).toBeNull();
    const out = await fetch(`${running.url}/_bindery/logout`, {
      headers: { ...as('ada', 'correct horse battery'), cookie },
    });
    expect([out.status, out.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Basic /)]);
    expect(out.headers.get('set-cookie')).toMatch(/^bindery_reader=; Max-Age=0; /);
    expect(await out.text()).toContain('You are logged out.');
    expect([await status(running.url, cookie), await status(running.url, ofAnother)]).toEqual([401, 200]);
    await running.stop();
    const again = await served(env);
    expect([await status(again.url, cookie), await status(again.url, ofAnother)]).toEqual([401, 200]);
  });
});

test.each([
  [{ BINDERY_LOGIN: 'basic' }, /BINDERY_LOGIN_USERS must have/],
  [{ BINDERY_LOGIN: 'basic', BINDERY_LOGIN_USERS: 'ada:short' }, /16 characters or more/],
  [
    { BINDERY_LOGIN: 'oidc' },
    /also needs BINDERY_OIDC_ISSUER, BINDERY_OIDC_CLIENT_ID, BINDERY_LOGIN_SESSION_SECRET, BINDERY_SITE_URL/,
  ],
  [{ BINDERY_LOGIN: 'oidc', BINDERY_OIDC_ISSUER: 'http://login.example.com' }, /BINDERY_OIDC_ISSUER is wrong/],
])('settings that are missing or wrong are named: %j', async (env, message) => {
  await expect(served(env)).rejects.toThrow(message);
});

test('without a setting there is no login', () => {
  expect(loginOf({ login: 'none', basePath: '' } as Parameters<typeof loginOf>[0])).toEqual({ kind: 'none' });
});

type Answer = { status: number; at: string; text: string; headers: Record<string, string | string[] | undefined> };

/** Sends one request with exactly these headers. `fetch` would add headers that a browser does not send when a person opens a page. */
async function ask(at: string, headers: Record<string, string> = {}, method = 'GET', body?: string): Promise<Answer> {
  const {
    statusCode,
    headers: given,
    body: got,
  } = await request(at, {
    method: method as 'GET',
    headers,
    body: body ?? null,
  });
  return { status: statusCode, at, text: await got.text(), headers: given };
}

const looking = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };
const locationOf = ({ headers }: Answer) => new URL(String(headers.location));
const cookiesOf = ({ headers }: Answer) => [headers['set-cookie'] ?? []].flat();

/** A headless browser: it keeps cookies by host, and follows redirects and forms. */
function browser() {
  const jars = new Map<string, Map<string, string>>();
  async function visit(url: string, more: Record<string, string> = {}, form?: URLSearchParams): Promise<Answer> {
    let at = url;
    let body = form;
    for (let step = 0; step < 20; step += 1) {
      const { origin } = new URL(at);
      const jar = jars.get(origin) ?? new Map<string, string>();
      jars.set(origin, jar);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const type = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
      const headers = { ...looking, ...type, cookie, ...more };
      const answer = await ask(at, headers, body === undefined ? 'GET' : 'POST', body?.toString());
      for (const line of cookiesOf(answer)) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === '' || /max-age=0|1970/i.test(line)) jar.delete(name);
        else jar.set(name, value);
      }
      if (answer.headers.location === undefined) return answer;
      at = new URL(String(answer.headers.location), at).href;
      body = undefined;
    }
    throw new Error(`${url} redirects without an end`);
  }
  const submit = ({ at, text }: Answer, fields: Record<string, string>) => {
    const action = /action="([^"]+)"/.exec(text)?.[1] ?? '';
    const prompt = /name="prompt" value="([^"]+)"/.exec(text)?.[1] ?? '';
    return visit(new URL(action, at).href, {}, new URLSearchParams({ prompt, ...fields }));
  };
  return {
    visit,
    jarOf: (origin: string) => jars.get(origin) ?? new Map<string, string>(),
    /** Logs in at the provider, and consents. Returns the page that this leads to. */
    async login(url: string, name: string) {
      const first = await visit(url);
      expect(first.text).toContain('name="login"');
      return await submit(await submit(first, { login: name, password: 'any' }), {});
    },
  };
}

describe('an account at a provider', () => {
  let provider: ChildProcess;
  let site: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    const [port] = await freePorts(1);
    site = `http://127.0.0.1:${port}`;
    const clients = [
      {
        client_id: 'docs',
        client_secret: 'the-secret-of-the-client',
        redirect_uris: [`${site}/_bindery/login`, `${site}/docs/_bindery/login`],
      },
    ];
    provider = fork(join(import.meta.dirname, '../support/oidc-provider.mjs'), [JSON.stringify({ clients })], {
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    });
    const [line] = (await once(provider.stdout ?? provider, 'data')) as [Buffer];
    const { issuer } = JSON.parse(String(line)) as { issuer: string };
    env = {
      BINDERY_LOGIN: 'oidc',
      BINDERY_OIDC_ISSUER: issuer,
      BINDERY_OIDC_CLIENT_ID: 'docs',
      BINDERY_OIDC_CLIENT_SECRET: 'the-secret-of-the-client',
      BINDERY_LOGIN_SESSION_SECRET: 'a-secret-of-32-characters-or-more',
      BINDERY_SITE_URL: site,
      BINDERY_DOCS_HOST_PORT: String(port),
    };
  });
  afterAll(() => void provider?.kill());

  test('opens the page that was asked for, and every copy of the host knows the session', async () => {
    const first = await served(env);
    const ada = browser();
    const page = await ada.login(`${site}/guides/x?from=mail`, 'ada');
    expect([page.status, page.at]).toEqual([200, `${site}/guides/x?from=mail`]);
    expect(page.text).toContain('Version one');
    await first.stop();
    await served(env);
    expect((await ada.visit(`${site}/guides`)).status).toBe(200);
    expect([...ada.jarOf(site).values()].join(' ')).not.toContain('ada');
  });

  test('is asked for only where a person looks at a page; health stays open', async () => {
    await served(env);
    const begun = await ask(`${site}/`, looking);
    expect(begun.status).toBe(302);
    expect(locationOf(begun).searchParams.get('code_challenge_method')).toBe('S256');
    expect(cookiesOf(begun).join()).toMatch(/; HttpOnly; SameSite=Lax$/);
    expect((await ask(`${site}/_bindery/site.js`, { 'sec-fetch-mode': 'no-cors' })).status).toBe(401);
    expect((await ask(`${site}/guides/x`, { accept: 'text/markdown' })).status).toBe(401);
    expect((await ask(`${site}/discovery/v1/search/acme`, looking, 'POST', '{}')).status).toBe(401);
    expect((await ask(`${site}/livez`)).status).toBe(200);
  });

  test('ends with the logout', async () => {
    await served(env);
    const ada = browser();
    await ada.login(`${site}/`, 'ada');
    const script = { 'sec-fetch-mode': 'cors' };
    expect((await ada.visit(`${site}/guides/x`, script)).status).toBe(200);
    await ada.visit(`${site}/_bindery/logout`);
    expect((await ada.visit(`${site}/guides/x`, script)).status).toBe(401);
  });

  test('that was ended at one replica of the host has ended at all, also after a restart', async () => {
    const redis = findServer('redis-server') === undefined ? undefined : await startRedis();
    atEnd(async () => redis?.stop());
    const shared = redis === undefined ? {} : { BINDERY_REDIS_URL: redis.url };
    const first = await served({ ...env, ...shared });
    const copy = { ...env, ...shared, BINDERY_DOCS_HOST_PORT: '0', BINDERY_DATA: join(folder(), 'copy') };
    const second = redis === undefined ? undefined : await served(copy);
    const ada = browser();
    await ada.login(`${site}/`, 'ada');
    const cookie = `bindery-session=${ada.jarOf(site).get('bindery-session')}`;
    const at = async (url: string) => (await ask(`${url}/guides/x`, { cookie })).status;
    const urls = second === undefined ? [site] : [site, second.url];
    for (const url of urls) expect(await at(url)).toBe(200);
    const ended = await ask(`${site}/_bindery/logout`, { ...looking, cookie });
    // The provider's own session ends at this address.
    expect(locationOf(ended).href).toMatch(`${env.BINDERY_OIDC_ISSUER}/session/end`);
    expect(await at(site)).toBe(401);
    for (const url of urls) await expect.poll(() => at(url)).toBe(401);
    await first.stop();
    await served({ ...env, ...shared });
    expect(await at(site)).toBe(401);
  });

  test('is nobody where the ID token and userinfo are about different readers', async () => {
    const running = await served(env);
    const page = await browser().login(`${site}/`, 'zoe');
    expect([page.status, page.text]).toEqual([502, expect.stringContaining('did not succeed')]);
    expect(running.log.map(({ msg }) => msg).join()).toMatch(/sub/);
  });

  test('that cannot be ended for all replicas, or cannot be checked, gives an error', async () => {
    const [port = 0] = await freePorts(1);
    const redis = { BINDERY_REDIS_URL: `redis://127.0.0.1:${port}` };
    const before = await served(env);
    const ada = browser();
    await ada.login(`${site}/`, 'ada');
    const cookie = `bindery-session=${ada.jarOf(site).get('bindery-session')}`;
    await before.stop();
    await served({ ...env, ...redis });
    const page = await ask(`${site}/guides/x`, { cookie });
    expect([page.status, page.text]).toEqual([503, expect.stringContaining('cannot be checked now')]);
    const out = await ask(`${site}/_bindery/logout`, { ...looking, cookie });
    expect([out.status, out.text]).toEqual([503, expect.stringContaining('could not be logged out everywhere')]);
    expect(await ask(`${site}/guides/x`, { cookie })).toMatchObject({ status: 401 });
  });

  test.each([
    ['ada', { BINDERY_LOGIN_GROUPS: 'writers,others' }, 200],
    ['bob', { BINDERY_LOGIN_GROUPS: 'writers' }, 403],
    ['ada', { BINDERY_LOGIN_EMAIL_DOMAINS: 'ACME.test' }, 200],
    ['bob', { BINDERY_LOGIN_EMAIL_DOMAINS: 'acme.test' }, 403],
    // The provider has not verified this e-mail address.
    ['eve', { BINDERY_LOGIN_EMAIL_DOMAINS: 'acme.test' }, 403],
    ['mia', { BINDERY_LOGIN_EMAIL_DOMAINS: 'acme.test' }, 403],
    ['mia', { BINDERY_LOGIN_EMAIL_DOMAINS: 'elsewhere.test' }, 200],
    ['bob', { BINDERY_LOGIN_EMAIL_DOMAINS: 'elsewhere.test', BINDERY_LOGIN_GROUPS: 'writers' }, 200],
    ['bob', { BINDERY_BASE_PATH: '/docs' }, 200],
  ])('%s with %j gets %i', async (name, more, status) => {
    await served({ ...env, ...more });
    const reader = browser();
    const base = 'BINDERY_BASE_PATH' in more ? '/docs' : '';
    const page = await reader.login(`${site}${base}/guides/x`, name);
    expect(page.status).toBe(status);
    expect(page.text.includes('Version one')).toBe(status === 200);
    // Without the link for the logout, the provider would log in with the same account each time.
    expect(page.text.includes(`href="${base}/_bindery/logout"`)).toBe(status === 403);
    const script = await reader.visit(`${site}${base}/_bindery/config.js`, { 'sec-fetch-mode': 'no-cors' });
    expect(script.status).toBe(status === 200 ? 200 : 401);
  });

  test('is not taken from another browser, by a changed session, or by one of another secret', async () => {
    const running = await served(env);
    const ada = browser();
    // This test uses Ada's login with an address that the provider gave to another browser.
    const state = locationOf(await ask(`${site}/`, looking)).searchParams.get('state') ?? '';
    const stolen = await ada.visit(`${site}/_bindery/login?code=x&state=${state}`);
    expect([stolen.status, stolen.text]).toEqual([400, expect.stringContaining('another browser')]);
    await ada.login(`${site}/`, 'ada');
    const session = ada.jarOf(site).get('bindery-session') ?? '';
    const as = async (sealed: string) =>
      (await ask(`${site}/guides/x`, { cookie: `bindery-session=${sealed}` })).status;
    expect(await as(session)).toBe(200);
    const parts = session.split('.');
    const changed = parts.with(3, `${parts[3]?.startsWith('A') ? 'B' : 'A'}${parts[3]?.slice(1)}`).join('.');
    for (const wrong of [changed, state, 'x', '']) expect(await as(wrong)).toBe(401);
    await running.stop();
    await served({ ...env, BINDERY_LOGIN_SESSION_SECRET: 'another-secret-of-32-characters-or-more' });
    expect(await as(session)).toBe(401);
  });

  test.each([
    ['for another group', { BINDERY_LOGIN_GROUPS: 'writers' }],
    ['below another path', { BINDERY_BASE_PATH: '/docs' }],
    ['at another address', { BINDERY_SITE_URL: 'http://other.example:8080' }],
  ])('is not that of a site %s, also with the same client and secret', async (_name, more) => {
    const open = await served(env);
    const bob = browser();
    await bob.login(`${site}/`, 'bob');
    const cookie = `bindery-session=${bob.jarOf(site).get('bindery-session')}`;
    const at = (base: string) => ask(`${site}${base}/guides/x`, { cookie });
    expect((await at('')).status).toBe(200);
    await open.stop();
    await served({ ...env, ...more });
    expect((await at('BINDERY_BASE_PATH' in more ? '/docs' : '')).status).toBe(401);
  });

  test.each([
    ['a picture', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    ['a frame', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    ['a hint to load it soon', { 'sec-fetch-mode': 'navigate', 'sec-purpose': 'prefetch' }],
  ])('is not ended by %s of a page', async (_name, headers) => {
    await served(env);
    const ada = browser();
    await ada.login(`${site}/`, 'ada');
    const cookie = `bindery-session=${ada.jarOf(site).get('bindery-session')}`;
    const answer = await ask(`${site}/_bindery/logout`, { ...headers, cookie });
    expect([answer.status, cookiesOf(answer)]).toEqual([403, []]);
    expect((await ask(`${site}/guides/x`, { cookie })).status).toBe(200);
  });

  test('that is refused, or a provider that is unavailable, gives an error; the host continues', async () => {
    await served(env);
    const begun = await ask(`${site}/`, looking);
    const cookie = cookiesOf(begun)[0]?.split(';')[0] ?? '';
    const state = locationOf(begun).searchParams.get('state') ?? '';
    const back = `state=${state}&iss=${encodeURIComponent(env.BINDERY_OIDC_ISSUER ?? '')}`;
    const at = (query: string) => ask(`${site}/_bindery/login?${query}&${back}`, { ...looking, cookie });
    expect(await at('error=access_denied')).toMatchObject({ status: 403, text: expect.stringContaining('cancelled') });
    expect(await at('code=wrong')).toMatchObject({ status: 502, text: expect.stringContaining('did not succeed') });
    const gone = once(provider, 'exit');
    provider.kill();
    await gone;
    expect((await at('code=wrong')).status).toBe(502);
    expect((await ask(`${site}/readyz`)).status).toBe(200);
    const later = await served({ ...env, BINDERY_DOCS_HOST_PORT: '0', BINDERY_DATA: join(folder(), 'later') });
    expect(await ask(later.url, looking)).toMatchObject({ status: 503, text: expect.stringContaining('later') });
    const logout = await ask(`${later.url}/_bindery/logout`, looking);
    expect([logout.status, cookiesOf(logout).join()]).toEqual([302, expect.stringMatching(/session=;.*Max-Age=0/)]);
  });
});
