import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsoleHarness, consoleHarness } from '../../../test/support/console-harness.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';

let gateway: GatewayHarness;
let acme: TestOrganization;
let site: ConsoleHarness;

beforeAll(async () => {
  gateway = await gatewayHarness();
  acme = await createOrganization(gateway, '<script>alert(1)</script>', 'free');
  site = await consoleHarness(gateway);
});
afterAll(async () => {
  await site.close();
  await gateway.close();
});

const address = () => `/organizations/${acme.id}`;
const stored = async () => {
  await gateway.bus.projected();
  return (await gateway.app.inject({ url: `/v1${address()}`, headers: bearer(operatorToken) })).json();
};

test('shows what the interface says, and names as text', async () => {
  const visitor = await site.signedIn(operatorToken);
  const { status, html } = await visitor.get(address());
  expect(status).toBe(200);
  expect(html).toContain('<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>');
  expect(html).not.toContain('<script>alert');
  const { domains, apiKeys, plan } = await stored();
  expect(html).toContain(`<dd>${plan}</dd>`);
  for (const { domain, hosts } of domains) {
    expect(html).toContain(`<th scope="row">${domain}</th>`);
    expect(html).toContain(hosts.join(', '));
  }
  for (const { id } of apiKeys) expect(html).toContain(`href="/o/${acme.id}/keys/${id}"`);
  expect((await visitor.get('/organizations/initech')).status).toBe(404);
});

test('changes the name and the plan, under the name of the operator', async () => {
  const visitor = await site.signedIn(operatorToken);
  const refused = await visitor.send(address(), { about: 'settings', name: ' ', plan: 'pro' });
  expect([refused.status, refused.html.match(/role="alert"/g)]).toEqual([400, ['role="alert"']]);
  const changed = await visitor.send(address(), { about: 'settings', name: 'Acme', plan: 'enterprise' });
  expect([changed.status, changed.location]).toEqual([303, address()]);
  expect((await visitor.get(address())).html).toContain('Acme has the plan &quot;enterprise&quot; now.');
  expect(await stored()).toMatchObject({ name: 'Acme', plan: 'enterprise' });
  const last = await gateway.bus.directory.last(`directory.${acme.id}.log`);
  expect(JSON.stringify(last)).toContain('"kind":"person"');
});

test('adds a domain, and says which name is taken, with what was typed', async () => {
  const visitor = await site.signedIn(operatorToken);
  const path = `${address()}/domains`;
  const added = await visitor.send(path, { about: 'domain', domain: 'blog', hosts: 'blog.acme.test, b.acme.test' });
  expect(added.status).toBe(303);
  expect((await visitor.get(address())).html).toContain('The domain blog is added.');
  expect((await stored()).domains).toContainEqual({
    ...{ domain: 'blog', hosts: ['blog.acme.test', 'b.acme.test'], groups: 'claimed' },
  });
  const taken = await visitor.send(path, { about: 'domain', domain: 'blog', hosts: 'new.acme.test', groups: 'signed' });
  expect(taken.status).toBe(409);
  expect(taken.html).toContain('has a domain with the name &quot;blog&quot; already');
  expect(taken.html).toContain('value="new.acme.test"');
  expect(taken.html).toContain('<option value="signed" selected>');
});

test('grants an admin key whose secret is shown once and works', async () => {
  const visitor = await site.signedIn(operatorToken);
  const path = `${address()}/keys`;
  const refused = await visitor.send(path, { about: 'key', keyName: 'after a loss', expiresInDays: '0' });
  expect(refused.status).toBe(400);
  expect(refused.html).toContain('value="after a loss"');
  const granted = await visitor.send(path, { about: 'key', keyName: 'after a loss', expiresInDays: '7' });
  expect(granted.status).toBe(200);
  const secret = /svc_[0-9A-Za-z]+/.exec(granted.html)?.[0] ?? '';
  const used = await gateway.app.inject({ url: '/v1/whoami', headers: bearer(secret) });
  expect(used.json()).toMatchObject({ organization: { id: acme.id }, caller: { name: 'after a loss' } });
  const { apiKeys } = await stored();
  expect(apiKeys).toContainEqual(expect.objectContaining({ name: 'after a loss', kind: 'admin' }));
  const { html } = await visitor.get(address());
  expect(html).not.toContain(secret);
  expect(html).toContain('after a loss');
});

test('is not there for people of the organization', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  expect((await visitor.get(address())).status).toBe(404);
  for (const path of ['', '/domains', '/keys'])
    expect((await visitor.send(address() + path, { name: 'Mine', plan: 'pro' })).status).toBe(404);
  expect((await stored()).name).not.toBe('Mine');
});

test('an operator creates an organization, whose first admin key is shown once and works', async () => {
  const visitor = await site.signedIn(operatorToken);
  const list = await visitor.get('/organizations');
  expect(list.html).toContain('action="/organizations"');
  const refused = await visitor.send('/organizations', { name: '', plan: 'pro' });
  expect(refused.status).toBe(400);
  expect(refused.html).toContain('role="alert"');
  expect(refused.html).toContain('<option value="pro" selected>');
  const name = '<b>Initech</b>';
  const made = await visitor.send('/organizations', { name, plan: 'pro' });
  expect(made.status).toBe(200);
  expect(made.html).not.toContain(name);
  const secret = /svc_[0-9A-Za-z]+/.exec(made.html)?.[0] ?? '';
  await gateway.bus.projected();
  const { organization } = (await gateway.app.inject({ url: '/v1/whoami', headers: bearer(secret) })).json();
  expect(organization).toMatchObject({ name, plan: 'pro' });
  expect(made.html).toContain(`href="/organizations/${organization.id}"`);
  const { html } = await visitor.get('/organizations');
  expect(html).toContain(`href="/o/${organization.id}"`);
  expect(html).not.toContain(secret);
  const admin = await site.signedIn(acme.adminKey);
  expect((await admin.send('/organizations', { name: 'Mine', plan: 'pro' })).status).toBe(404);
});

test('the first key of a new organization, and one that is granted, come with a request to the public address', async () => {
  const visitor = await site.signedIn(operatorToken);
  const { platformUrl } = await stored();
  const created = await visitor.send('/organizations', { name: 'Hooli', plan: 'pro' });
  expect(created.html).toContain('Hooli is created');
  expect(created.html).toContain(`&quot;${platformUrl}/v1/whoami&quot;`);
  const granted = await visitor.send(`${address()}/keys`, { about: 'key', keyName: 'lost', expiresInDays: '' });
  expect(granted.html).toContain(`&quot;${platformUrl}/v1/whoami&quot;`);
});
