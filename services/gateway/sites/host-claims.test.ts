import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { previewName } from '#shared/interfaces/http/sites.ts';
import { siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { contentServices } from '../../../test/support/content-services.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { claimHosts, confirmHosts, dropHosts, releaseHosts } from './site-hosts.ts';

let gateway: GatewayHarness;
let acme: TestOrganization;
let globex: TestOrganization;

beforeEach(async () => {
  gateway = await gatewayHarness({ BINDERY_PUBLIC_URL: 'https://bindery.localhost' }, contentServices);
  acme = await createOrganization(gateway);
  globex = await createOrganization(gateway, 'Globex');
});
afterEach(() => gateway.close());

const open = (who: TestOrganization, body: object) =>
  gateway.app.inject({ method: 'PUT', url: '/v1/domains/docs/site', headers: bearer(who.adminKey), payload: body });
const close = (who: TestOrganization) =>
  gateway.app.inject({ method: 'DELETE', url: '/v1/domains/docs/site', headers: bearer(who.adminKey) });
const claimant = ({ id }: TestOrganization) => ({ organization: id, domain: 'docs' });
const holder = async (host: string) => (await gateway.bus.siteHosts.get(host))?.document;
const passHour = () => {
  gateway.clock.time = new Date(gateway.clock.time.getTime() + 60 * 60_000);
};
const shared = 'docs.shared.test';

test('of many organizations that claim one name at the same time exactly one has it, and the others keep nothing', async () => {
  const others = [];
  for (let at = 0; at < 10; at += 1) others.push(await createOrganization(gateway, `Org ${at}`));
  const answers = await Promise.all(
    others.map((each, at) => open(each, { name: `site-${at}`, hosts: [`own-${at}.test`, shared] })),
  );
  const opened = answers.filter(({ statusCode }) => statusCode === 200);
  expect(opened).toHaveLength(1);
  for (const answer of answers)
    if (answer.statusCode !== 200) expect(['in_use', 'unavailable']).toContain(answer.json().code);
  const winner = others[answers.findIndex(({ statusCode }) => statusCode === 200)];
  expect(await holder(shared)).toMatchObject({ organization: winner?.id });
  for (const [at, each] of others.entries()) {
    if (each === winner) continue;
    expect([await holder(`own-${at}.test`), await holder(`site-${at}.localhost`)]).toEqual([undefined, undefined]);
  }
});

describe('a name in another spelling', () => {
  const spellings = [
    'Docs.Shared.Test',
    'docs.shared.test.',
    'docs.shared.test:443',
    'docs..shared.test',
    '.docs.shared.test',
    'https://docs.shared.test',
    'docs.shared.test/x',
    'x@docs.shared.test',
    '*.shared.test',
    'dócs.shared.test',
    'docs。shared。test',
    'docs.shared.test\u200b',
    ' docs.shared.test',
    '-docs.shared.test',
    `${'a'.repeat(64)}.test`,
    `${'a.'.repeat(126)}test`,
    'test',
    // Addresses: health checks of a load balancer would be answered by the site.
    '10.0.0.7',
    '127.0.0.1',
    'docs.127',
    'docs.0x7f',
    '[::1]',
  ];
  test.each(spellings)('%j is refused, and nothing is claimed', async (host) => {
    const answer = await open(acme, { name: 'acme', hosts: [host] });
    expect(answer.json()).toMatchObject({ code: 'invalid_request', fields: [{ path: 'hosts.0' }] });
    expect(await gateway.bus.siteHosts.keys()).toEqual([]);
  });

  test.each(['xn--dcs-0na.shared.test', 'a.test', 'docs-2.shared.test', `${'a'.repeat(63)}.test`])(
    '%j is a name of its own',
    async (host) => {
      expect((await open(acme, { name: 'acme', hosts: [host, host] })).json()).toMatchObject({ hosts: [host] });
      expect((await open(globex, { name: 'globex', hosts: [host] })).json()).toMatchObject({ code: 'in_use' });
    },
  );
});

test('the host name of the platform belongs to no site', async () => {
  expect((await open(acme, { name: 'bindery' })).json()).toMatchObject({
    code: 'invalid_request',
    fields: [{ path: 'name', message: expect.stringContaining('platform') as string }],
  });
  const other = await gatewayHarness({ BINDERY_PUBLIC_URL: 'https://bindery.example:8443' }, contentServices);
  try {
    const organization = await createOrganization(other);
    const answer = await other.app.inject({
      method: 'PUT',
      url: '/v1/domains/docs/site',
      headers: bearer(organization.adminKey),
      payload: { hosts: ['bindery.example'] },
    });
    expect(answer.json()).toMatchObject({ code: 'invalid_request', fields: [{ path: 'hosts.0' }] });
  } finally {
    await other.close();
  }
});

test('a released name waits an hour, also if its last site claims it once more in vain', async () => {
  await open(globex, { name: 'globex', hosts: ['taken.test'] });
  await open(acme, { name: 'acme', hosts: [shared] });
  await open(acme, { name: 'acme' });
  expect((await open(acme, { name: 'acme', hosts: [shared, 'taken.test'] })).json()).toMatchObject({ code: 'in_use' });
  expect((await open(globex, { name: 'globex', hosts: [shared] })).json()).toMatchObject({ code: 'in_use' });
  gateway.clock.time = new Date(gateway.clock.time.getTime() + 59 * 60_000);
  expect((await open(globex, { name: 'globex', hosts: [shared] })).json()).toMatchObject({ code: 'in_use' });
  gateway.clock.time = new Date(gateway.clock.time.getTime() + 60_000);
  expect((await open(globex, { name: 'globex', hosts: [shared] })).statusCode).toBe(200);
});

test('a name that a closed site kept, because its gateway died before the release, is free after an hour', async () => {
  await open(acme, { name: 'acme', hosts: [shared] });
  const claim = await gateway.bus.siteHosts.get(shared);
  await close(acme);
  await gateway.bus.siteHosts.put(shared, claim?.document ?? claimant(acme));
  expect((await open(globex, { name: 'globex', hosts: [shared] })).json()).toMatchObject({ code: 'in_use' });
  passHour();
  expect((await open(globex, { name: 'globex', hosts: [shared] })).statusCode).toBe(200);
});

test('a claim of a gateway that died before it opened the site ends after an hour, and until then its site may go on', async () => {
  await claimHosts(gateway.context, claimant(acme), [shared]);
  expect((await open(globex, { name: 'globex', hosts: [shared] })).json()).toMatchObject({ code: 'in_use' });
  passHour();
  expect((await open(globex, { name: 'globex', hosts: [shared] })).statusCode).toBe(200);
  expect((await open(acme, { name: 'acme', hosts: [shared] })).json()).toMatchObject({ code: 'in_use' });
  await claimHosts(gateway.context, claimant(acme), ['next.test']);
  expect((await open(acme, { name: 'acme', hosts: ['next.test'] })).statusCode).toBe(200);
});

test('a name that an open site lists is never free, whatever its document says', async () => {
  await open(acme, { name: 'acme', hosts: [shared] });
  const document = { ...claimant(acme), releasedAt: '2020-01-01T00:00:00.000Z' };
  await gateway.bus.siteHosts.put(shared, document);
  expect((await open(globex, { name: 'globex', hosts: [shared] })).json()).toMatchObject({ code: 'in_use' });
});

describe('of two commands about one site that cross', () => {
  test('a release does not take a name that the site lists by now', async () => {
    await open(acme, { name: 'acme', hosts: [shared] });
    // Another command removed the name and is about to release it; this one has listed it again.
    await releaseHosts(gateway.context, claimant(acme), [shared]);
    expect(await holder(shared)).not.toHaveProperty('releasedAt');
  });

  test('a release that has read the site before it listed the name comes to nothing', async () => {
    const { bus } = gateway;
    await open(acme, { name: 'acme', hosts: [shared] });
    await open(acme, { name: 'acme' });
    await claimHosts(gateway.context, claimant(acme), [shared]);
    let isListed = false;
    const crossing: typeof bus.sites.last = async (subject, options) => {
      const before = await bus.sites.last(subject, options);
      if (!isListed && subject === siteLogSubject(acme.id, 'docs')) {
        isListed = true;
        expect((await open(acme, { name: 'acme', hosts: [shared] })).statusCode).toBe(200);
      }
      return before;
    };
    await releaseHosts(
      { ...gateway.context, bus: { ...bus, sites: { ...bus.sites, last: crossing } } },
      claimant(acme),
      [shared],
    );
    expect(isListed).toBe(true);
    expect(await holder(shared)).not.toHaveProperty('releasedAt');
  });

  test('a failed one gives back no name that the other one has listed', async () => {
    const claimed = await claimHosts(gateway.context, claimant(acme), [shared]);
    await open(acme, { name: 'acme', hosts: [shared] });
    await dropHosts(gateway.context, claimant(acme), claimed);
    expect(await holder(shared)).toMatchObject(claimant(acme));
    await confirmHosts(gateway.context, claimant(acme), [shared]);
    await expect(confirmHosts(gateway.context, claimant(globex), [shared])).rejects.toMatchObject({ code: 'in_use' });
  });
});

test('a preview has a name that browsers and certificate authorities accept, and that no site can claim', async () => {
  for (const label of ['xn', 'v1', 'pr-12', 'PR/12', 'xn--docs', 'a'.repeat(60), '--', 'ö']) {
    const name = previewName(label, 'docs');
    expect([label, name]).toEqual([label, expect.stringMatching(/^(?!..--)[a-z0-9][a-z0-9-]{0,61}--docs$/)]);
    expect(name.length).toBeLessThanOrEqual(63);
    expect((await open(globex, { name })).json()).toMatchObject({ code: 'invalid_request' });
    expect((await open(globex, { name: 'globex', hosts: [`${name}.localhost`] })).json()).toMatchObject({
      code: 'invalid_request',
      fields: [{ path: 'hosts.0' }],
    });
  }
});
