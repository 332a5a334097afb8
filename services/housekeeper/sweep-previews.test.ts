import { expect, test, vi } from 'vitest';
import type { SweepPreview } from './preview-sweep.ts';
import { countedOf, sweepPreviews } from './sweep-previews.ts';

const found: SweepPreview = {
  objects: new Map([
    ['globex', { bundles: { objects: 1, bytes: 10 } }],
    ['acme', { bundles: { objects: 2, bytes: 20 }, plans: { objects: 3, bytes: 1 } }],
  ]),
  contents: [{ organization: 'initech', domain: 'docs', contentVersion: `cv_${'1'.repeat(32)}` }],
  notJudged: ['umbrella'],
};

test('figures are by organization and in total', () => {
  expect(countedOf(found)).toEqual({
    totals: {
      objects: [
        { kind: 'bundles', objects: 3, bytes: 30 },
        { kind: 'plans', objects: 3, bytes: 1 },
      ],
      contents: 1,
    },
    organizations: [
      {
        organization: 'acme',
        objects: [
          { kind: 'bundles', objects: 2, bytes: 20 },
          { kind: 'plans', objects: 3, bytes: 1 },
        ],
        contents: 0,
      },
      { organization: 'globex', objects: [{ kind: 'bundles', objects: 1, bytes: 10 }], contents: 0 },
      { organization: 'initech', objects: [], contents: 1 },
    ],
    notJudged: ['umbrella'],
  });
});

function counter(preview: () => Promise<SweepPreview>) {
  const clock = { time: new Date('2026-03-01T10:00:00.000Z'), now: () => clock.time };
  const counted = vi.fn(preview);
  const previews = sweepPreviews(counted, clock, new AbortController().signal);
  return { clock, counted, read: (limit = 50, cursor?: string) => previews.read({ limit, cursor }), previews };
}

test('a count is used for a minute, and read page by page', async () => {
  const { clock, counted, read } = counter(async () => found);
  const first = await read(2);
  expect(first).toMatchObject({ countedAt: '2026-03-01T10:00:00.000Z', nextCursor: 'globex' });
  expect(first).not.toHaveProperty('countingSince');
  expect((await read(2, 'globex')).organizations.map(({ organization }) => organization)).toEqual(['initech']);
  expect(counted).toHaveBeenCalledTimes(1);
  clock.time = new Date('2026-03-01T10:01:00.000Z');
  expect(await read()).toMatchObject({ countedAt: '2026-03-01T10:01:00.000Z' });
  expect(counted).toHaveBeenCalledTimes(2);
});

test('a count that takes long is not waited for, and runs once', async () => {
  const counting = Promise.withResolvers<SweepPreview>();
  const { counted, read, previews } = counter(() => counting.promise);
  const early = await Promise.all([read(), read()]);
  for (const each of early) {
    expect(each).toMatchObject({ countingSince: '2026-03-01T10:00:00.000Z', organizations: [] });
    expect(each).not.toHaveProperty('totals');
  }
  expect(counted).toHaveBeenCalledTimes(1);
  counting.resolve(found);
  await previews.ended();
  expect(await read()).toMatchObject({ totals: { contents: 1 } });
});

test('a count that fails says why, and leaves the one before', async () => {
  const results = [async () => found, () => Promise.reject<SweepPreview>(new Error('The store is away.'))];
  const { clock, read } = counter(() => (results.shift() ?? (async () => found))());
  await read();
  clock.time = new Date('2026-03-01T11:00:00.000Z');
  expect(await read()).toMatchObject({
    ...{ problem: 'The store is away.', countedAt: '2026-03-01T10:00:00.000Z' },
    totals: { contents: 1 },
  });
  expect(await read()).not.toHaveProperty('problem');
});
