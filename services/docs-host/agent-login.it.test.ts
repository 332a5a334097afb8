import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JWTPayload } from 'jose';
import { expect, test } from 'vitest';
import { hashOfPassword } from '#shared/http/password-hash.ts';
import type { ServedLogin } from '#shared/interfaces/http/sites.ts';
import { askHost } from '../../test/support/ask-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { hostedSites, waiting } from '../../test/support/hosted-sites.ts';
import { lyingProvider, seconds } from '../../test/support/lying-provider.ts';
import { hostReadiness, isReady } from '../../test/support/docs-host.ts';

const { folder, atEnd, platform, started, host } = hostedSites();
const byAccount: ServedLogin = { kind: 'oidc', groups: ['docs'], emailDomains: [] };
const offers = { assistant: true } as const;
const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

async function withProvider() {
  const provider = await lyingProvider();
  atEnd(() => provider.close());
  const settings = {
    BINDERY_OIDC_ISSUER: provider.url,
    BINDERY_OIDC_CLIENT_ID: 'site',
    BINDERY_OIDC_SCOPES: 'openid groups offline_access',
    BINDERY_LOGIN_SESSION_SECRET: 'a-secret-of-32-characters-or-more',
  };
  return { provider, settings };
}

/** Sends a message of an agent to the endpoint of a site. */
const agentAt =
  (url: string) =>
  async (name: string, headers: Record<string, string> = {}, { path = '/mcp', method = 'POST' } = {}) => {
    const sent =
      method === 'POST' ? { body, headers: { 'content-type': 'application/json', ...headers } } : { headers };
    return askHost(url, name, path, { method, ...sent });
  };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('a site with accounts answers agents with a token for it, and names the provider of tokens', async () => {
  const { provider, settings } = await withProvider();
  const at = { protocol: 'https', port: 8443 } as const;
  const bundle = await exampleBundle('one');
  const site = (domain: string, more: object) =>
    platform().deploy({ domain, hosts: [`${domain}.sites.test`], at, bundle, login: byAccount, ...more });
  site('one', { offers, hosts: ['one.sites.test', 'docs.one.test'] });
  site('two', { offers });
  site('silent', {});
  const { url } = await started({ ...settings, BINDERY_SITES_BASE: 'https://sites.test:8443' });
  const ask = agentAt(url);
  for (const name of ['one.sites.test', 'two.sites.test', 'silent.sites.test'])
    await expect.poll(async () => (await ask(name)).status, waiting).toBe(401);
  const token = (aud: string, claims: JWTPayload = {}, header: object = {}) =>
    provider.signed({ claims: { groups: ['docs'], ...claims, aud }, header })();
  const resource = 'https://one.sites.test:8443/mcp';

  // The challenge leads a client to the metadata, and those to the provider.
  const refused = await ask('one.sites.test');
  const metadata = 'https://one.sites.test:8443/.well-known/oauth-protected-resource/mcp';
  expect(refused.headers['www-authenticate']).toBe(`Bearer resource_metadata="${metadata}", scope="openid groups"`);
  expect(JSON.parse(refused.text)).toMatchObject({ code: 'missing_token' });
  for (const path of ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource']) {
    const described = await askHost(url, 'one.sites.test', path);
    expect([described.status, described.headers['access-control-allow-origin'], JSON.parse(described.text)]).toEqual([
      200,
      '*',
      {
        resource,
        authorization_servers: [provider.url],
        scopes_supported: ['openid', 'groups'],
        bearer_methods_supported: ['header'],
      },
    ]);
  }
  // A client compares the resource with the address that it uses.
  const other = await askHost(url, 'docs.one.test', '/.well-known/oauth-protected-resource/mcp');
  expect(JSON.parse(other.text)).toMatchObject({ resource: 'https://docs.one.test:8443/mcp' });

  const right = await token(resource);
  expect((await ask('one.sites.test', bearer(right))).status).toBe(200);
  expect(platform().questions).toHaveLength(1);
  expect(platform().questions[0]?.path).toBe('/v1/sites/readers/acme/one/mcp');
  expect(JSON.stringify(platform().questions[0]?.headers)).not.toContain(right);
  expect((await ask('docs.one.test', bearer(await token('https://docs.one.test:8443/mcp')))).status).toBe(200);
  const stream = async () => (await ask('one.sites.test', bearer(right), { method: 'GET' })).status;
  await expect.poll(stream, waiting).toBe(405);

  const wrong: [string, string, number][] = [
    ['one.sites.test', await token('https://two.sites.test:8443/mcp'), 401],
    ['two.sites.test', right, 401],
    ['docs.one.test', right, 401],
    ['one.sites.test', await token('site'), 401],
    ['one.sites.test', await token(resource, { exp: seconds() - 300 }), 401],
    ['one.sites.test', await token(resource, { iss: 'http://evil.test' }), 401],
    ['one.sites.test', await provider.unsigned(), 401],
    ['one.sites.test', await token(resource, {}, { typ: 'logout+jwt' }), 401],
    ['one.sites.test', await token(resource, { groups: ['other'] }), 403],
    ['one.sites.test', await token(resource, { groups: undefined }), 403],
    ['silent.sites.test', await token('https://silent.sites.test:8443/mcp'), 401],
  ];
  const before = platform().questions.length;
  for (const [name, shown, status] of wrong) {
    const answer = await ask(name, bearer(shown));
    expect([name, answer.status]).toEqual([name, status]);
    expect(answer.text).not.toContain(shown);
    const said = /error="invalid_token"/.test(answer.headers['www-authenticate'] ?? '');
    expect(said).toBe(status === 401 && name !== 'silent.sites.test');
  }
  expect(platform().questions).toHaveLength(before);
  // A token opens the endpoint alone, and no other spelling of its path.
  for (const path of ['/', '/guides/x.md', '/llms.txt', '/mcp/', '/%6dcp', '//mcp', '/discovery/v1/search/one'])
    expect([path, (await ask('one.sites.test', bearer(right), { path })).status]).toEqual([path, 401]);
  expect((await askHost(url, 'silent.sites.test', '/.well-known/oauth-protected-resource/mcp')).status).toBe(401);

  // A tool for developers is a page of another origin on the reader's machine.
  const tool = { origin: 'http://localhost:6274' };
  const preflight = await ask(
    'one.sites.test',
    { ...tool, 'access-control-request-headers': 'authorization,x-own' },
    { method: 'OPTIONS' },
  );
  expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, tool.origin]);
  expect(preflight.headers['access-control-allow-headers']).toBe('authorization,x-own');
  const toTool = await ask('one.sites.test', tool);
  expect([toTool.status, toTool.headers['access-control-allow-origin']]).toEqual([401, tool.origin]);
  expect(toTool.headers['access-control-expose-headers']).toContain('www-authenticate');
  expect((await ask('one.sites.test', { ...tool, ...bearer(right) })).status).toBe(200);
  const evil = { origin: 'https://evil.test', ...bearer(right) };
  const toEvil = await ask('one.sites.test', evil);
  expect([toEvil.status, toEvil.headers['access-control-allow-origin']]).toEqual([403, undefined]);
  expect((await ask('one.sites.test', evil, { method: 'OPTIONS' })).status).toBe(403);

  // The rules of the site count at each request.
  platform().setLogin('acme/one', { ...byAccount, groups: ['other'] });
  await expect.poll(async () => (await ask('one.sites.test', bearer(right))).status, waiting).toBe(403);
});

test('a host of one site below a path takes tokens, and waits for a provider that is away', async () => {
  const { provider, settings } = await withProvider();
  const file = join(folder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one'));
  const running = await host({
    ...settings,
    BINDERY_LOGIN: 'oidc',
    BINDERY_SITE_URL: 'https://docs.acme.test/help',
    BINDERY_BASE_PATH: '/help',
    BINDERY_BUNDLE_PATH: file,
    BINDERY_PLATFORM_URL: platform().url,
    BINDERY_DOCS_DOMAIN: 'docs',
    BINDERY_ASK_KEY: 'svc_dsc_ours',
  });
  await hostReadiness(running, isReady);
  const ask = agentAt(running.url);
  const path = '/help/mcp';
  const challenge = (await ask('docs.acme.test', {}, { path })).headers['www-authenticate'];
  expect(challenge).toContain('"https://docs.acme.test/.well-known/oauth-protected-resource/help/mcp"');
  const described = await askHost(running.url, 'x', '/.well-known/oauth-protected-resource/help/mcp');
  expect(JSON.parse(described.text)).toMatchObject({ resource: 'https://docs.acme.test/help/mcp' });
  const right = bearer(await provider.signed({ claims: { aud: 'https://docs.acme.test/help/mcp' } })());
  // The stand-in for the platform knows no assistant keys: the token has let the request through.
  expect((await ask('docs.acme.test', right, { path })).headers['www-authenticate']).toBeUndefined();
  const wrong = bearer(await provider.signed({ claims: { aud: 'https://docs.acme.test/mcp' } })());
  expect((await ask('docs.acme.test', wrong, { path })).headers['www-authenticate']).toContain('another resource');

  await provider.close();
  const second = await host({
    ...{ ...settings, BINDERY_LOGIN: 'oidc', BINDERY_SITE_URL: 'https://docs.acme.test', BINDERY_BUNDLE_PATH: file },
    ...{ BINDERY_PLATFORM_URL: platform().url, BINDERY_DOCS_DOMAIN: 'docs', BINDERY_ASK_KEY: 'svc_dsc_ours' },
    BINDERY_DATA: join(folder(), 'second'),
  });
  await hostReadiness(second, isReady);
  for (const [where, method] of [
    ['/mcp', 'POST'],
    ['/.well-known/oauth-protected-resource/mcp', 'GET'],
  ] as const) {
    const answer = await agentAt(second.url)('docs.acme.test', right, { path: where, method });
    expect([answer.status, answer.headers['retry-after'], JSON.parse(answer.text).code]).toEqual([
      503,
      '10',
      'unavailable',
    ]);
  }
});

test('a site with passwords tells agents what opens it', async () => {
  const hash = await hashOfPassword('correct horse battery');
  const login: ServedLogin = { kind: 'password', users: [{ name: 'anna', hash }] };
  platform().deploy({ bundle: await exampleBundle('one'), login, offers });
  const { url } = await started();
  const ask = agentAt(url);
  await expect.poll(async () => (await ask('docs.localhost')).status, waiting).toBe(401);
  const refused = await ask('docs.localhost', bearer('x'));
  expect([refused.headers['www-authenticate'], JSON.parse(refused.text).error]).toEqual([
    expect.stringMatching(/^Basic /),
    expect.stringContaining('a name and a password. Send them as Basic authentication'),
  ]);
  for (const path of ['oauth-protected-resource/mcp', 'oauth-authorization-server', 'openid-configuration'])
    expect((await askHost(url, 'docs.localhost', `/.well-known/${path}`)).status).toBe(404);
  const anna = { authorization: `Basic ${Buffer.from('anna:correct horse battery').toString('base64')}` };
  expect((await ask('docs.localhost', anna)).status).toBe(200);
});
