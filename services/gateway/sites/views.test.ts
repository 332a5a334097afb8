import { afterEach, beforeEach, expect, test } from 'vitest';
import { siteAggregate, type SiteEvent } from '#shared/aggregates/site/site.ts';
import type { CountedDay, SiteViewsDocument } from '#shared/contracts/site-views.ts';
import { generateApiKey } from '#shared/http/api-key.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';

import { viewSums } from './sum-views.ts';
import { addDays } from './view-routes.ts';

const siteKey = generateApiKey('site');
const source = 'a'.repeat(16);

let gateway: GatewayHarness;
let acme: TestOrganization;
let globex: TestOrganization;

beforeEach(async () => {
  gateway = await gatewayHarness({ BINDERY_SITES_KEYS: siteKey });
  [acme, globex] = [await createOrganization(gateway), await createOrganization(gateway, 'Globex')];
  await openSite(acme, 'acme');
  await openSite(globex, 'globex');
  await waitUntil(async () => (await gateway.context.sitesFeed.liveSite(globex.id, 'docs')) !== undefined);
});

afterEach(() => gateway.close());

async function openSite({ id, adminKey }: TestOrganization, name: string, body: object = {}): Promise<void> {
  const url = '/v1/domains/docs/site';
  await gateway.app.inject({ method: 'PUT', url, headers: bearer(adminKey), payload: { name, ...body } });
  const site = { organization: id, domain: 'docs' };
  const deployment = { ...site, deployment: 1 };
  const events: SiteEvent[] = [
    {
      type: 'DeploymentRequested',
      version: 1,
      data: {
        ...deployment,
        contentVersion: `cv_${'1'.repeat(32)}`,
        jobId: `se_${'1'.repeat(22)}`,
        cause: 'published',
      },
    },
    { type: 'DeploymentLive', version: 1, data: { ...deployment, sha256: 'a'.repeat(64), sizeBytes: 1 } },
  ];
  const { bus, clock } = gateway;
  await handleCommand({ log: bus.sites, clock, random: randomBase62 }, siteAggregate, {
    subject: siteLogSubject(id, 'docs'),
    decide: () => events,
    origin: { source: 'deployer', actor: { kind: 'service', id: 'deployer' }, causationId: 'c', correlationId: 'c' },
  });
  await bus.projected();
}

const dayOf = (site: string, changes: Partial<CountedDay> = {}) => ({
  site,
  day: '2026-03-01',
  ...{
    views: 5,
    paths: [
      ['/', 3],
      ['/guides/x', 1],
    ],
    referred: 2,
    referrers: [['news.example', 1]],
  },
  ...{
    searches: 2,
    emptySearches: 1,
    queries: [
      ['install', 1, 0],
      ['sso', 1, 1],
    ],
  },
  ...changes,
});
const send = (days: object[], sequence = 1, key = siteKey) =>
  gateway.app.inject({
    method: 'POST',
    url: '/v1/sites/views',
    headers: bearer(key),
    payload: { source, sequence, days },
  });
async function read(path: string, { adminKey }: TestOrganization = acme) {
  await gateway.bus.projected();
  return (await gateway.app.inject({ url: `/v1/domains/docs/${path}`, headers: bearer(adminKey) })).json();
}

test('what a host counted is read by day, path and referrer, by the organization of the site alone', async () => {
  expect((await send([dayOf(`${acme.id}/docs`), dayOf(`${globex.id}/docs`, { views: 9 })])).json()).toEqual({
    accepted: 2,
    refused: 0,
  });
  await send([dayOf(`${acme.id}/docs`, { day: '2026-02-28', views: 4 })], 2);
  const range = { domain: 'docs', from: '2026-01-31', to: '2026-03-01' };
  expect(await read('views')).toEqual({
    ...{ ...range, total: 9, by: 'day', other: 0 },
    entries: [
      { name: '2026-02-28', views: 4 },
      { name: '2026-03-01', views: 5 },
    ],
  });
  expect(await read('views?by=path&limit=1')).toMatchObject({ total: 9, entries: [{ name: '/', views: 6 }], other: 3 });
  expect(await read('views?by=referrer')).toMatchObject({
    ...{ total: 9, direct: 5, other: 2 },
    entries: [{ name: 'news.example', views: 2 }],
  });
  expect(await read('searches?limit=1')).toMatchObject({
    ...{ total: 4, empty: 2, other: 2 },
    queries: [{ query: 'install', searches: 2, empty: 0 }],
    days: [
      { day: '2026-02-28', searches: 2, empty: 1 },
      { day: '2026-03-01', searches: 2, empty: 1 },
    ],
  });
  expect(await read('views', globex)).toMatchObject({ total: 9, entries: [{ name: '2026-03-01', views: 9 }] });
  expect(await read('views?from=2026-03-01')).toMatchObject({ total: 5 });
});

test('page views and searches together are those of the two routes', async () => {
  await send([dayOf('acme/docs'), dayOf('acme/docs', { day: '2026-02-28', views: 3, paths: [['/', 3]] })]);
  const [paths, byDay, searches] = [await read('views?by=path'), await read('views'), await read('searches')];
  const together = await read('readers');
  expect(together).toMatchObject({
    ...{ views: paths.total, paths: paths.entries, searches: searches.total, queries: searches.queries },
    ...{ from: searches.from, to: searches.to },
  });
  const days: { day: string; views: number; searches: number; empty: number }[] = together.days;
  expect(days.map(({ day, views }) => ({ name: day, views }))).toEqual(byDay.entries);
  expect(days.map(({ views: _, ...day }) => day)).toEqual(searches.days);
});

test('a batch that is sent again, also over another gateway, counts once', async () => {
  const batch = [dayOf(`${acme.id}/docs`)];
  for (let time = 0; time < 3; time += 1) expect((await send(batch)).json()).toMatchObject({ accepted: 1 });
  expect(await read('views')).toMatchObject({ total: 5 });
  await send(batch, 2);
  expect(await read('views')).toMatchObject({ total: 10 });
});

test('sites that are not there, are closed or are not counted, and days long ago or to come, are left out', async () => {
  await openSite(globex, 'globex', { counts: false });
  await waitUntil(async () => (await gateway.context.sitesFeed.liveSite(globex.id, 'docs'))?.counts === undefined);
  const site = `${acme.id}/docs`;
  const wrong = [
    ...['initech/docs', `${acme.id}/other`, `${globex.id}/docs`, `${site}/pr-1`, ''].map((each) => dayOf(each)),
    ...['2026-02-26', '2026-03-03', '1970-01-01', '9999-12-31'].map((day) => dayOf(site, { day })),
  ];
  expect((await send([...wrong, dayOf(site)])).json()).toEqual({ accepted: 1, refused: wrong.length });
  expect(gateway.bus.recorded.views.map(({ organization, days }) => [organization, days.length])).toEqual([
    [acme.id, 1],
  ]);
});

test.each<[string, object[]]>([
  ['a negative count', [dayOf('acme/docs', { views: -1 })]],
  ['a count that overflows', [dayOf('acme/docs', { views: 1e300 })]],
  ['a count that is too large', [dayOf('acme/docs', { paths: [['/', 1_000_001]] })]],
  ['a path with a query', [dayOf('acme/docs', { paths: [['/?token=x', 1]] })]],
  ['a path that is no path', [dayOf('acme/docs', { paths: [['x', 1]] })]],
  ['a long path', [dayOf('acme/docs', { paths: [[`/${'x'.repeat(200)}`, 1]] })]],
  ['an address as a referrer', [dayOf('acme/docs', { referrers: [['https://news.example/x', 1]] })]],
  ['a long query', [dayOf('acme/docs', { queries: [['x'.repeat(81), 1, 0]] })]],
  ['too many paths', [dayOf('acme/docs', { paths: Array.from({ length: 1_001 }, (_, at) => [`/${at}`, 1]) })]],
  ['a day twice', [dayOf('acme/docs'), dayOf('acme/docs')]],
  ['an address of a reader', [{ ...dayOf('acme/docs'), address: '203.0.113.9' }]],
  ['no day', []],
  [
    'too many entries',
    Array.from({ length: 4 }, (_, site) =>
      dayOf(`acme/${site}`, { paths: Array.from({ length: 900 }, (_each, at) => [`/${at}`, 1]) }),
    ),
  ],
])('a batch with %s is refused whole', async (_what, days) => {
  expect((await send(days)).json()).toMatchObject({ code: 'invalid_request' });
  expect(gateway.bus.recorded.views).toEqual([]);
});

test('the largest batch is stored in messages that the bus takes', async () => {
  const letters = 'x'.repeat(190);
  const paths = Array.from({ length: 1_000 }, (_, at): [string, number] => [`/${letters}${at}`, 1_000_000]);
  const days = ['2026-02-28', '2026-03-01'].map((day) => dayOf(`${acme.id}/docs`, { day, paths }));
  expect((await send(days)).json()).toEqual({ accepted: 2, refused: 0 });
  expect(gateway.bus.recorded.views.map((record) => record.days.length)).toEqual([1, 1]);
  for (const record of gateway.bus.recorded.views) expect(JSON.stringify(record).length).toBeLessThan(900_000);
  expect(await read('views?by=path&limit=1000')).toMatchObject({ total: 10, entries: { length: 1_000 } });
});

test('only a host sends counts, and a range of days has limits', async () => {
  for (const key of [acme.adminKey, acme.assistantKey])
    expect((await send([dayOf('acme/docs')], 1, key)).json()).toMatchObject({ code: 'wrong_key_kind' });
  for (const range of ['from=2026-03-02', 'from=2024-01-01', 'from=yesterday', 'from=2026-03-01&to=2026-02-01'])
    expect(await read(`views?${range}`)).toMatchObject({ code: 'invalid_request' });
  expect(await read('views?from=2025-01-26')).toMatchObject({ total: 0, entries: [] });
});

test('a range of many large days is summed with a few of them in memory', async () => {
  const document: SiteViewsDocument = {
    ...{
      views: 2,
      paths: [['/', 2]],
      referred: 0,
      referrers: [],
      searches: 0,
      emptySearches: 0,
      queries: [],
      sources: [],
    },
  };
  let held = 0;
  let mostHeld = 0;
  const siteViews = {
    async get() {
      held += 1;
      mostHeld = Math.max(mostHeld, held);
      return { key: 'acme.docs.day', document, revision: 1 };
    },
  };
  const { clock } = gateway.context;
  const sums = viewSums('path');
  const context = { bus: { readModels: { siteViews } }, clock };
  const range = await addDays(context, 'acme', 'docs', { from: '2025-02-01', to: '2026-03-01' }, (day) => {
    held -= 1;
    sums.add(day);
  });
  expect([range, mostHeld <= 10, held]).toEqual([{ from: '2025-02-01', to: '2026-03-01' }, true, 0]);
  expect(sums.result(5)).toMatchObject({ total: 788, entries: [{ name: '/', views: 788 }], other: 0 });
});

test('other paths each day of a year take no more memory than the most frequent ones', () => {
  const sums = viewSums('path');
  for (let day = 0; day < 50; day += 1) {
    const paths = Array.from({ length: 1_000 }, (_, at): [string, number] => [`/${day}/${at}`, 1]);
    const document = { views: 1_010, paths: [['/', 10], ...paths] as [string, number][], referred: 0, referrers: [] };
    sums.add({ day: '2026-03-01', document: { ...document, searches: 0, emptySearches: 0, queries: [], sources: [] } });
  }
  const { total, entries, other } = sums.result(100_000);
  expect([total, entries[0], entries.length < 40_000]).toEqual([50_500, { name: '/', views: 500 }, true]);
  expect(other + entries.reduce((sum, { views }) => sum + views, 0)).toBe(total);
});

test('while the bus is away a batch is refused, to be sent again', async () => {
  gateway.bus.away = true;
  expect((await send([dayOf(`${acme.id}/docs`)])).statusCode).toBe(503);
  gateway.bus.away = false;
  expect((await send([dayOf(`${acme.id}/docs`)])).json()).toMatchObject({ accepted: 1 });
});
