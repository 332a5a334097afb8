import { expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import {
  contentAggregate,
  type ContentEvent,
  type ContentState,
  contentStateSchema,
  mostLabels,
  mostVersions,
} from './content.ts';
import { deleteContent, promoteContent, publishContent, removeLabel } from './decide.ts';

const identity = { organization: 'a'.repeat(63), domain: 'd'.repeat(63) };
const versionOf = (n: number) => `cv_${sha256Of(String(n)).slice(0, 32)}`;
/** A label of the maximum length. */
const labelOf = (n: number) => `build-${n}`.padEnd(100, '-');
/** Limit of the size of a state in every history. */
const mostBytes = 150_000;

function after(state: ContentState | undefined, events: readonly ContentEvent[], n: number): ContentState {
  const time = new Date(Date.parse('2026-03-01T10:00:00Z') + n * 1000).toISOString();
  const actor = { kind: 'service' as const, id: 'publisher' };
  const next = events.reduce<ContentState | undefined>(
    (before, event) => contentAggregate.evolve(before, event, { time, actor }),
    state,
  );
  if (next === undefined) throw new Error('No event was decided.');
  return next;
}
const publish = (state: ContentState | undefined, n: number, label?: string) =>
  publishContent(state, {
    ...identity,
    contentVersion: versionOf(n),
    ...(label === undefined ? {} : { label }),
    pageCount: 200_000,
    fileCount: 200_000,
    sizeBytes: 2e9,
  });
const indexed = (n: number): ContentEvent => ({
  type: 'ContentIndexed',
  version: 1,
  data: { ...identity, contentVersion: versionOf(n), passageCount: 1 },
});
const sizeOf = (value: unknown) => JSON.stringify(value).length;

test('given 6,000 publications, with and without labels, then state and decisions stay small', () => {
  let state: ContentState | undefined;
  let largest = 0;
  for (let n = 0; n < 6_000; n += 1) {
    const label = n % 10 === 0 ? labelOf(n) : undefined;
    const oldest = n - mostLabels * 10;
    if (label !== undefined && oldest >= 0) {
      state = after(state, removeLabel(state, { ...identity, label: labelOf(oldest) }), n);
    }
    const events = publish(state, n, label);
    state = after(state, events, n);
    if (n % 3 === 0) state = after(state, [indexed(n)], n);
    if (n % 100 === 0 || n > 5_900) largest = Math.max(largest, sizeOf({ events, state }));
  }
  expect(state?.versions).toHaveLength(mostVersions);
  expect(Object.keys(state?.labels ?? {})).toHaveLength(mostLabels);
  expect(largest).toBeLessThan(mostBytes);
  expect(contentStateSchema.parse(state)).toEqual(state);
});

test('given too many versions, then the oldest end, except those that are latest, searched or labelled', () => {
  let state: ContentState | undefined;
  state = after(state, publish(state, 0, 'stable'), 0);
  state = after(state, publish(state, 1), 1);
  state = after(state, [indexed(1)], 1);
  for (let n = 2; n < mostVersions; n += 1) state = after(state, publish(state, n), n);
  const events = publish(state, mostVersions);
  expect(events[1]).toEqual({
    type: 'ContentsEnded',
    version: 1,
    data: { ...identity, contentVersions: [versionOf(2)] },
  });
  state = after(state, events, mostVersions);
  expect(state).toMatchObject({ labels: { stable: versionOf(0) }, searched: versionOf(1), ended: [versionOf(2)] });
  expect(state.versions).toHaveLength(mostVersions);
  // An ended version can be deleted permanently, and published again.
  expect(after(state, deleteContent(state, { ...identity, contentVersion: versionOf(2) }), 1)).not.toHaveProperty(
    'ended',
  );
  expect(() => promoteContent(state, { ...identity, contentVersion: versionOf(2) })).toThrow(/no content version/);
  const again = after(state, publish(state, 2), 501);
  expect(again).toMatchObject({ latest: versionOf(2), ended: [versionOf(3)] });
});

test('given an existing label, then it may move although there is no room for another', () => {
  let state: ContentState | undefined;
  for (let n = 0; n < mostLabels; n += 1) state = after(state, publish(state, n, labelOf(n)), n);
  expect(() => publish(state, 1_000, 'one-more')).toThrow(/has 250 labels, and 250 is the maximum.*--unlabel/);
  expect(after(state, publish(state, 1_000, labelOf(7)), 1_000).labels[labelOf(7)]).toBe(versionOf(1_000));
  expect(publish(state, 1_001)).toHaveLength(1);
});

test('given a label that is removed, then its version stays and can be deleted; an unknown label is not found', () => {
  const first = after(undefined, publish(undefined, 1, 'v1'), 1);
  const second = after(first, publish(first, 2), 2);
  const without = after(second, removeLabel(second, { ...identity, label: 'v1' }), 3);
  expect(without.labels).toEqual({});
  expect(without.versions).toHaveLength(2);
  expect(deleteContent(without, { ...identity, contentVersion: versionOf(1) })).toHaveLength(1);
  expect(() => removeLabel(without, { ...identity, label: 'v1' })).toThrow(/no label "v1"/);
  expect(() => removeLabel(without, { ...identity, label: 'constructor' })).toThrow(/no label/);
});

test('given a domain from before the limits, then its next commits are smaller than the one before', () => {
  const versions = Array.from({ length: 7_000 }, (_, n) => ({
    contentVersion: versionOf(n),
    publishedAt: '2026-03-01T10:00:00.000Z',
    pageCount: 1_234,
    indexed: true,
  }));
  const large: ContentState = {
    ...identity,
    versions,
    labels: {},
    latest: versionOf(6_999),
    searched: versionOf(6_999),
  };
  const events = publish(large, 7_000);
  expect(sizeOf({ events, state: after(large, events, 1) })).toBeLessThan(sizeOf(large) / 2);
  const labels = Object.fromEntries(
    versions.slice(0, 5_000).map(({ contentVersion }, n) => [labelOf(n), contentVersion]),
  );
  const labelled = { ...large, labels };
  const unlabelled = removeLabel(labelled, { ...identity, label: labelOf(0) });
  expect(sizeOf(after(labelled, unlabelled, 1))).toBeLessThan(sizeOf(labelled));
});
