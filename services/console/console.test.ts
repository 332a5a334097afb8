import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { type ConsoleHarness, consoleHarness } from '../../test/support/console-harness.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  type TestOrganization,
} from '../../test/support/gateway-harness.ts';
import { consoleRoutes } from './console-routes.ts';
import { firstLinkFile } from './sign-in.ts';

let gateway: GatewayHarness;
let acme: TestOrganization;
let globex: TestOrganization;
let site: ConsoleHarness;
let readOnlyKey: string;

beforeAll(async () => {
  gateway = await gatewayHarness();
  acme = await createOrganization(gateway);
  globex = await createOrganization(gateway, 'Globex', 'enterprise', { domain: 'blog' });
  site = await consoleHarness(gateway);
  const made = await gateway.app.inject({
    method: 'POST',
    url: '/v1/api-keys',
    headers: bearer(acme.adminKey),
    payload: { kind: 'admin', name: 'viewer', scopes: ['read'] },
  });
  readOnlyKey = made.json().key;
  await gateway.bus.projected();
});
afterAll(async () => {
  await site.close();
  await gateway.close();
});

describe('signing in', () => {
  test('leads back to the page that asked for it, and to no other site', async () => {
    const visitor = await site.signedIn();
    const asked = await visitor.get('/o/acme/keys?show=all');
    expect([asked.status, asked.location]).toEqual([303, '/sign-in?to=%2Fo%2Facme%2Fkeys%3Fshow%3Dall']);
    for (const [to, location] of [
      ['/o/acme/keys?show=all', '/o/acme/keys?show=all'],
      ['https://evil.test/', '/'],
      ['//evil.test/', '/'],
      ['/\\evil.test/', '/'],
    ] as const) {
      const entered = await (await site.signedIn()).send('/sign-in', { credential: acme.adminKey, to });
      expect([entered.status, entered.location]).toEqual([303, location]);
    }
  });

  test.each([
    ['an unknown key', () => `svc_${'x'.repeat(36)}`, 403],
    ['an assistant key', () => acme.assistantKey, 403],
    ['words', () => 'hello', 403],
    ['nothing', () => ' ', 400],
  ])('is refused with %s, with the reason', async (_what, credential, status) => {
    const refused = await (await site.signedIn()).send('/sign-in', { credential: credential() });
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([status, []]);
    expect(refused.html).toContain('role="alert"');
  });

  test('makes a new session for each sign-in, so that none can be planted', async () => {
    const visitor = await site.signedIn(acme.adminKey);
    const before = [...visitor.cookies.values()];
    await visitor.send('/sign-in', { credential: acme.adminKey });
    expect([...visitor.cookies.values()]).not.toEqual(before);
  });

  test('keeps the key from scripts and from other sites', async () => {
    const entered = await (await site.signedIn()).send('/sign-in', { credential: acme.adminKey });
    const [cookie = ''] = entered.headers.getSetCookie();
    expect(cookie).toMatch(/; HttpOnly; SameSite=Lax$/);
    expect(cookie).not.toContain(acme.adminKey);
    const secure = await consoleHarness(gateway, { BINDERY_CONSOLE_URL: 'https://console.example.com' });
    const [overTls = ''] = (
      await (await secure.signedIn()).send('/sign-in', { credential: acme.adminKey })
    ).headers.getSetCookie();
    expect(overTls).toMatch(/^__Host-bindery-console=.*; Secure$/);
    await secure.close();
  });

  test('ends for the session, or for all sessions of the key, also for a stolen cookie', async () => {
    const [one, other, third] = [
      await site.signedIn(acme.adminKey),
      await site.signedIn(acme.adminKey),
      await site.signedIn(globex.adminKey),
    ];
    const stolen = new Map(one.cookies);
    await one.send('/sign-out');
    for (const [name, value] of stolen) one.cookies.set(name, value);
    expect((await one.get('/o/acme')).status).toBe(303);
    expect((await other.get('/o/acme')).status).toBe(200);
    await other.send('/sign-out/everywhere');
    expect((await other.get('/o/acme')).status).toBe(303);
    expect((await third.get('/o/globex')).status).toBe(200);
    // The next test needs a session of the same key that begins later.
    await expect.poll(async () => (await (await site.signedIn(acme.adminKey)).get('/o/acme')).status).toBe(200);
  });

  test('is over when the key is revoked', async () => {
    const payload = { kind: 'admin', name: 'short' };
    const made = await gateway.app.inject({
      method: 'POST',
      url: '/v1/api-keys',
      headers: bearer(acme.adminKey),
      payload,
    });
    await gateway.bus.projected();
    const visitor = await site.signedIn(made.json().key);
    await gateway.app.inject({
      method: 'DELETE',
      url: `/v1/api-keys/${made.json().id}`,
      headers: bearer(acme.adminKey),
    });
    await gateway.bus.projected();
    await expect.poll(async () => (await visitor.get('/o/acme/keys')).location).toMatch(/^\/sign-in/);
    expect(visitor.cookies.size).toBe(0);
  });

  test('works once with a link of this machine, within its time', async () => {
    const link = (until: number) =>
      writeFileSync(
        firstLinkFile(site.dataFolder),
        JSON.stringify({ sha256: sha256Of('a-token'), until: new Date(until).toISOString() }),
      );
    const now = gateway.clock.now().getTime();
    const open = async (token = 'a-token', headers = {}) =>
      (await site.signedIn()).get(`/sign-in?token=${token}`, headers);
    expect((await open()).status).toBe(403);
    link(now + 60_000);
    expect((await open('another')).status).toBe(403);
    expect((await open('a-token', { 'x-forwarded-for': '192.0.2.7' })).status).toBe(403);
    expect((await open()).status).toBe(303);
    expect((await open()).status).toBe(403);
    link(now - 1);
    expect((await open()).status).toBe(403);
  });

  test('of the operator leads to all organizations', async () => {
    const visitor = await site.signedIn(operatorToken);
    expect((await visitor.get('/organizations')).html).toContain('href="/o/globex"');
    expect((await visitor.get('/o/globex')).html).toContain('blog');
    expect((await visitor.get('/o/umbrella')).status).toBe(404);
  });

  test('of the operator leads to the organization that was seen last, also from pages of the installation', async () => {
    const visitor = await site.signedIn(operatorToken);
    visitor.cookies.delete('bindery-console-last');
    expect((await visitor.get('/')).location).toBe('/organizations');
    await visitor.get('/o/globex');
    expect((await visitor.get('/')).location).toBe('/o/globex');
    expect((await visitor.get('/organizations')).html).toContain('<p class="back"><a href="/o/globex">');
    visitor.cookies.set('bindery-console-last', 'evil.test/');
    expect((await visitor.get('/')).location).toBe('/organizations');
    await visitor.get('/o/globex');
    await visitor.send('/sign-out');
    expect(visitor.cookies.size).toBe(0);
  });
});

/** The address of a route in an organization. Parameters have values of the right form that name nothing. */
const addressOf = ({ path, of }: (typeof consoleRoutes)[number], org: string): string =>
  `${of === 'installation' ? '' : `/o/${org}`}${path === '/' ? '' : path}`
    .replace(':id', `key_${'0'.repeat(16)}`)
    .replace(':contentVersion', `cv_${'0'.repeat(32)}`)
    .replace(':time', '2026-03-01T10:00:00.000Z')
    .replace(':letter', 'projector.EXPORTS.7')
    .replace(':jobId', `se_${'0'.repeat(22)}`)
    .replace(':threadId', `th_${'0'.repeat(22)}`)
    .replaceAll(/:\w+/g, 'x');

const isForm = (route: (typeof consoleRoutes)[number]): boolean =>
  route.kind === 'form' || (route.kind === 'stream' && route.isForm === true);

describe.each(
  consoleRoutes.map((route) => [`${route.kind} ${route.of ?? 'organization'} ${route.path}`, route] as const),
)('%s', (_name, route) => {
  test('asks for a session, and is not found in another organization', async () => {
    const stranger = await site.signedIn();
    const method = isForm(route) ? 'send' : 'get';
    expect([303, 401]).toContain((await stranger[method](addressOf(route, 'acme'))).status);
    const other = await site.signedIn(globex.adminKey);
    expect((await other[method](addressOf(route, 'acme'))).status).toBe(404);
  });

  test.runIf(isForm(route))(
    'is refused without the token of the session, from another site, and for a viewer',
    async () => {
      const admin = await site.signedIn(route.of === 'installation' ? operatorToken : acme.adminKey);
      const address = addressOf(route, 'acme');
      expect((await admin.send(address, { token: '' })).status).toBe(403);
      expect((await admin.send(address, {}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      expect((await admin.send(address, {}, { 'sec-fetch-site': 'same-site' })).status).toBe(403);
      const viewer = await site.signedIn(readOnlyKey);
      expect([403, 404]).toContain((await viewer.send(address)).status);
    },
  );
});

test('every link of every page leads to a page', async () => {
  const visitor = await site.signedIn(operatorToken);
  const seen = new Set(['/o/acme']);
  for (const address of seen) {
    const { status, html } = await visitor.get(address);
    expect([address, status]).toEqual([address, 200]);
    for (const [, link = ''] of html.matchAll(/<a [^>]*href="(\/(?!assets)[^"#]*)"/g))
      seen.add(link.replaceAll('&amp;', '&'));
  }
  expect(seen.size).toBeGreaterThan(5);
});

test('every answer forbids frames, foreign scripts and inline ones, and is not stored', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  for (const path of ['/o/acme', '/sign-in', '/none', '/o/acme/keys']) {
    const { headers, html } = await visitor.get(path);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/);
  }
});

test('an address may end with a slash', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  for (const path of ['/o/acme/', '/o/acme/keys/'])
    expect([path, (await visitor.get(path)).status]).toEqual([path, 200]);
});

test('a key that may only export is made with a request that tries it, and does not sign in', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  const made = await visitor.send('/o/acme/keys', { name: 'CI', kind: 'admin', scopes: 'export', expiresInDays: '' });
  expect(made.html).toContain('only export');
  const [secret = ''] = /svc_[0-9A-Za-z]+/.exec(made.html) ?? [];
  expect(made.html.replaceAll('&#39;', "'").replaceAll('&quot;', '"')).toContain(
    `curl -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '{"domain":"docs"}' "http://127.0.0.1:8080/v1/static-export/jobs"`,
  );
  await gateway.bus.projected();
  const started = (url: string, payload: object) =>
    gateway.app.inject({ method: 'POST', url, headers: bearer(secret), payload });
  expect((await started('/v1/static-export/jobs', { domain: 'docs' })).json().code).not.toBe('missing_scope');
  expect((await started('/v1/api-keys', { kind: 'admin' })).json().code).toBe('missing_scope');
  const refused = await (await site.signedIn()).send('/sign-in', { credential: secret });
  expect([refused.status, refused.html]).toEqual([403, expect.stringContaining('This key may only export')]);
});

test('a key is made, shown once, rotated and revoked; a refusal shows the form again with what was typed', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  const refused = await visitor.send('/o/acme/keys', {
    name: 'CI',
    kind: 'admin',
    scopes: 'read,proxy',
    allowedAddresses: 'nowhere',
  });
  expect(refused.status).toBe(400);
  expect(refused.html).toContain('value="nowhere"');
  expect(refused.html).toContain('role="alert"');
  const made = await visitor.send('/o/acme/keys', {
    name: '<script>alert(1)</script>',
    kind: 'admin',
    scopes: 'read',
    expiresInDays: '',
  });
  expect(made.status).toBe(200);
  const secret = /svc_[0-9A-Za-z]+/.exec(made.html)?.[0] ?? '';
  expect((await gateway.app.inject({ url: '/v1/whoami', headers: bearer(secret) })).json().caller.scopes).toEqual([
    'read',
  ]);
  await gateway.bus.projected();
  const list = await visitor.get('/o/acme/keys');
  expect(list.html).not.toContain(secret);
  expect(list.html).toContain('&lt;script&gt;');
  const id = /href="\/o\/acme\/keys\/(key_\w+)">&lt;script/.exec(list.html)?.[1] ?? '';
  const rotated = await visitor.send(`/o/acme/keys/${id}/rotate`, { overlapHours: '0' });
  expect(rotated.html).toContain('Key rotated');
  const wrong = await visitor.send(`/o/acme/keys/${id}/revoke`, { confirm: 'another name' });
  expect((await visitor.get(wrong.location ?? '')).html).toContain('Nothing was revoked');
  const revoked = await visitor.send(`/o/acme/keys/${id}/revoke`, { confirm: '<script>alert(1)</script>' });
  expect((await visitor.get(revoked.location ?? '')).html).toContain('The key is revoked.');
});
