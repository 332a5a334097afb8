import { expect, test } from 'vitest';
import { siteViewsBodySchema } from '#shared/interfaces/http/site-views.ts';
import { siteCounts } from './site-counts.ts';

const noon = Date.parse('2026-03-01T12:00:00.000Z');

function counting() {
  let at = noon;
  const counts = siteCounts(() => at);
  return {
    viewed: (...seen: Parameters<typeof counts.viewed>) => counts.viewed(...seen),
    searched: (...seen: Parameters<typeof counts.searched>) => counts.searched(...seen),
    take: (options: { isLast?: boolean } = {}) => counts.take(options),
    wait: (ms: number) => void (at += ms),
  };
}
const nothing = {
  ...{ views: 0, paths: [], referred: 0, referrers: [] },
  ...{ searches: 0, emptySearches: 0, queries: [] },
};

test('page views are counted by site, day, path and referrer, and taken once', () => {
  const { viewed, take, wait } = counting();
  viewed('acme/docs', '/', undefined);
  viewed('acme/docs', '/', 'news.example');
  viewed('acme/docs', '/guides/x', undefined);
  viewed('globex/docs', '/', undefined);
  wait(12 * 3_600_000);
  viewed('acme/docs', '/', undefined);
  expect(take()).toEqual([
    [
      {
        ...nothing,
        ...{ site: 'acme/docs', day: '2026-03-01', views: 3, referred: 1, referrers: [['news.example', 1]] },
        paths: [
          ['/', 2],
          ['/guides/x', 1],
        ],
      },
      { ...nothing, site: 'globex/docs', day: '2026-03-01', views: 1, paths: [['/', 1]] },
      { ...nothing, site: 'acme/docs', day: '2026-03-02', views: 1, paths: [['/', 1]] },
    ],
  ]);
  expect(take()).toEqual([]);
});

test('a reader who types searches once, and other readers and words count by themselves', () => {
  const { searched, take, wait } = counting();
  const queries = () => take().flatMap(([day]) => day?.queries ?? []);
  for (const query of ['in', 'inst', 'Install', 'instal']) {
    searched('acme/docs', query, query === 'in', 'anna');
    wait(300);
  }
  searched('acme/docs', 'install', false, 'bert');
  searched('acme/docs', 'sso', true, 'anna');
  // The search that may not be complete is held back.
  expect(queries()).toEqual([['instal', 1, 0]]);
  wait(5_000);
  expect(queries()).toEqual([
    ['install', 1, 0],
    ['sso', 1, 1],
  ]);
  searched('acme/docs', 'sso', true, 'anna');
  wait(5_000);
  searched('acme/docs', 'sso', true, 'anna');
  expect(take({ isLast: true })).toMatchObject([[{ searches: 2, emptySearches: 2, queries: [['sso', 2, 2]] }]]);
});

test('whatever readers send, memory has limits, and each batch is one that the platform takes', () => {
  const { viewed, searched, take } = counting();
  for (let site = 0; site < 60; site += 1)
    for (let at = 0; at < 1_200; at += 1) viewed(`acme/${site}`, `/${at}`, `host-${at}.example`);
  viewed('acme/0', '/with space', 'not a host');
  for (let at = 0; at < 8_000; at += 1) searched('acme/0', `word${at}`, false, `reader ${at}`);
  const batches = take({ isLast: true });
  for (const days of batches)
    expect(siteViewsBodySchema.safeParse({ source: 'a'.repeat(16), sequence: 1, days }).error).toBeUndefined();
  const days = batches.flat();
  expect(
    days.reduce((sum, { paths, referrers, queries }) => sum + paths.length + referrers.length + queries.length, 0),
  ).toBe(50_000);
  expect(Math.max(...days.map(({ paths }) => paths.length))).toBe(1_000);
  // Every view and search is counted once.
  expect(days.reduce((sum, { views }) => sum + views, 0)).toBe(60 * 1_200 + 1);
  expect(days.reduce((sum, { searches }) => sum + searches, 0)).toBe(8_000);
});
