import { expect, test } from 'vitest';
import {
  countedQueryOf,
  type CountedDay,
  type SiteDayRecord,
  type SiteViewsDocument,
  siteViewsKey,
  type ViewsRecord,
} from '#shared/contracts/site-views.ts';
import type { ReadModels } from '#shared/messaging/read-models.ts';
import { siteViewsRecord } from '../../test/support/make-commit.ts';
import { type MemoryDocuments, memoryDocuments } from '../../test/support/memory-documents.ts';
import { expireViews, viewsProjection, withCounted } from './views-projection.ts';

type Stores = Parameters<typeof viewsProjection.into>[0];

async function folded(...records: ViewsRecord[]): Promise<MemoryDocuments<SiteViewsDocument>> {
  const siteViews = memoryDocuments<SiteViewsDocument>(async () => {});
  const batch = viewsProjection.into({ siteViews } as unknown as Stores, undefined as never, undefined as never);
  for (const record of records) await batch.fold(record);
  await batch.finish();
  return siteViews;
}
const key = siteViewsKey('acme', 'docs', '2026-03-01');
const sums = async (...records: ViewsRecord[]) => (await (await folded(...records)).get(key))?.document;

const day = (changes: Partial<CountedDay> = {}): CountedDay => ({
  ...{ day: '2026-03-01', views: 0, paths: [], referred: 0, referrers: [], searches: 0, emptySearches: 0, queries: [] },
  ...changes,
});
const empty = (): SiteViewsDocument => {
  const { day: _, ...sums } = day();
  return { ...sums, sources: [] };
};
const source = 'a'.repeat(16);

test('batches are summed by path, referrer and query, and one that comes again changes nothing', async () => {
  const [one, two] = [siteViewsRecord(), siteViewsRecord({ sequence: 2 })];
  const expected = {
    views: 4,
    paths: [
      ['/', 2],
      ['/guides/x', 2],
    ],
    referred: 2,
    referrers: [['news.example', 2]],
    searches: 2,
    emptySearches: 2,
    queries: [['install', 2, 2]],
    sources: [{ source, after: 0, sequences: [1, 2] }],
  };
  expect(await sums(one, two)).toEqual(expected);
  expect(await sums(one, two, one, { ...two, id: 'sv_again' }, one)).toEqual(expected);
  // Redeliveries change the order.
  expect(await sums(two, one)).toEqual(expected);
});

test('each source is counted apart, and another day and domain have documents of their own', async () => {
  const other = siteViewsRecord({ source: 'b'.repeat(16) });
  const [first] = other.days;
  const later = {
    ...other,
    sequence: 2,
    days: [
      { ...first!, day: '2026-03-02' },
      { ...first!, domain: 'blog' },
    ],
  };
  const store = await folded(siteViewsRecord(), other, later);
  expect((await store.get(key))?.document).toMatchObject({ views: 4, sources: [{ source }, { source: other.source }] });
  expect((await store.keys()).toSorted()).toEqual([
    'acme.blog.2026-03-01',
    'acme.docs.2026-03-01',
    'acme.docs.2026-03-02',
  ]);
});

test('a document has limits, whatever hosts send, and its sums stay whole', () => {
  let document = empty();
  for (let sequence = 1; sequence <= 60; sequence += 1) {
    const names = Array.from({ length: 200 }, (_, at) => `${sequence}-${at}`);
    const counted = day({
      views: 202,
      paths: [['/often', 2], ...names.map((name): [string, number] => [`/${name}`, 1])],
      referred: 200,
      referrers: names.map((name) => [name, 1]),
      searches: 200,
      queries: names.map((name) => [name, 1, 0]),
    });
    // Each batch claims to be of a new host.
    const batch = { source: String(sequence).padStart(16, '0'), sequence: 1 };
    document = withCounted(document, batch, counted) ?? document;
  }
  expect([document.views, document.referred, document.searches]).toEqual([60 * 202, 60 * 200, 60 * 200]);
  expect(document.paths[0]).toEqual(['/often', 120]);
  expect(document.paths.length).toBeLessThanOrEqual(1_250);
  expect(document.referrers.length).toBeLessThanOrEqual(250);
  expect(document.queries.length).toBeLessThanOrEqual(375);
  expect(document.sources).toHaveLength(32);
});

test('of one source, a few batches may be out of order, and numbers do not overflow', () => {
  let document: SiteViewsDocument = { ...empty(), views: Number.MAX_SAFE_INTEGER - 1 };
  for (let sequence = 1; sequence <= 40; sequence += 1)
    document = withCounted(document, { source, sequence }, day({ views: 1 })) ?? document;
  expect(document.views).toBe(Number.MAX_SAFE_INTEGER);
  expect(document.sources).toEqual([{ source, after: 24, sequences: Array.from({ length: 16 }, (_, at) => at + 25) }]);
  expect(withCounted(document, { source, sequence: 24 }, day({ views: 1 }))).toBeUndefined();
  expect(withCounted(document, { source, sequence: 7 }, day({ views: 1 }))).toBeUndefined();
  expect(withCounted(document, { source, sequence: 41 }, day({ views: 1 }))).toBeDefined();
});

test('sums of a day are removed when the first of its batches may be gone from the log', async () => {
  const siteViews = await folded(siteViewsRecord(), siteViewsRecord({ day: '2026-03-02', sequence: 2 }));
  const after = (days: number) => new Date(Date.parse('2026-03-01T00:00:00.000Z') + days * 86_400_000);
  await expireViews({ siteViews }, new Date(after(398).getTime() + 86_399_999));
  expect(await siteViews.keys()).toHaveLength(2);
  await expireViews({ siteViews }, after(399));
  expect(await siteViews.keys()).toEqual(['acme.docs.2026-03-02']);
});

test.each([
  ['  How do I\n Install?  ', 'how do i install?'],
  ['mail to anna.smith@acme.com please', 'mail to … please'],
  ['order 4111 1111-1111', 'order 4111 …'],
  ['svc_dsc_0123456789abcdefghijklm', undefined],
  ['ÀÉ', 'àé'],
  ['   ', undefined],
  ['x'.repeat(200), 'x'.repeat(80)],
  [`${'x'.repeat(79)}😀`, `${'x'.repeat(79)}\ufffd`],
])('the query %j is counted as %j', (text, counted) => {
  expect(countedQueryOf(text)).toBe(counted);
});

test('the recorded sums of a day replace its batches, whatever comes before and after them', async () => {
  const { sources: _, ...counted } = { ...empty(), views: 7 };
  const recorded: SiteDayRecord = {
    ...{ type: 'SiteDayCounted', version: 1, id: 'sd_1', time: '2026-03-05T00:00:00.000Z' },
    ...{ organization: 'acme', domain: 'docs', day: '2026-03-01', sums: counted },
  };
  const expected = { ...counted, isRecorded: true, sources: [] };
  const batch = siteViewsRecord();
  for (const order of [[recorded], [batch, recorded], [recorded, batch], [batch, recorded, batch, recorded]]) {
    expect(await sums(...order)).toEqual(expected);
  }
});

test('days are recorded when four days have passed, by each leader and again, and the first record stays', async () => {
  const siteViews = await folded(
    ...['2026-02-01', '2026-02-25', '2026-02-26', '2026-03-01'].map((of) => siteViewsRecord({ day: of })),
  );
  const kept: { day: string; keptDays: number }[] = [];
  const bus = {
    views: {
      record: async () => {},
      recordDay: async ({ day: of }: SiteDayRecord, keptDays: number) => void kept.push({ day: of, keptDays }),
    },
  };
  let confirmed = 0;
  const record = async (before?: Date) =>
    viewsProjection.record?.({ siteViews } as unknown as ReadModels, {
      ...{ bus, until: new Date('2026-03-02T10:00:00.000Z'), before, signal: new AbortController().signal },
      confirm: async () => void (confirmed += 1),
    });
  await record();
  expect(kept).toEqual([
    { day: '2026-02-01', keptDays: 371 },
    { day: '2026-02-25', keptDays: 395 },
    { day: '2026-02-26', keptDays: 396 },
  ]);
  expect(confirmed).toBe(3);
  const since = async (before: string) => {
    kept.length = 0;
    await record(new Date(before));
    return kept.map(({ day: of }) => of);
  };
  expect(await since('2026-03-02T09:00:00.000Z')).toEqual(['2026-02-25', '2026-02-26']);
  // A dead letter kept this leader from recording for weeks.
  expect(await since('2026-02-04T23:00:00.000Z')).toEqual(['2026-02-01', '2026-02-25', '2026-02-26']);
});
