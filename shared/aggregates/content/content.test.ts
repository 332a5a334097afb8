import { expect, test } from 'vitest';
import { contentAggregate, type ContentEvent, type ContentState } from './content.ts';

const actor = { kind: 'service' as const, id: 'publisher' };
const identity = { organization: 'acme', domain: 'docs' };
const one = `cv_${'1'.repeat(32)}`;
const two = `cv_${'2'.repeat(32)}`;
const published = (contentVersion: string, label?: string): ContentEvent => ({
  type: 'ContentPublished',
  version: 1,
  data: { ...identity, contentVersion, pageCount: 3, fileCount: 5, sizeBytes: 100, ...(label ? { label } : {}) },
});
const event = (type: 'ContentPromoted' | 'ContentDeleted', contentVersion: string): ContentEvent => ({
  type,
  version: 1,
  data: { ...identity, contentVersion },
});
const indexed = (contentVersion: string): ContentEvent => ({
  type: 'ContentIndexed',
  version: 1,
  data: { ...identity, contentVersion, passageCount: 9 },
});
const after = (...events: ContentEvent[]): ContentState | undefined =>
  events.reduce<ContentState | undefined>(
    (state, next, index) =>
      contentAggregate.evolve(state, next, { time: `2026-01-0${index + 1}T00:00:00.000Z`, actor }),
    undefined,
  );

test('the newest publication is the latest, and a label follows it', () => {
  const state = after(published(one, 'v1'), published(two, 'v1'));
  expect(state).toMatchObject({ latest: two, labels: { v1: two } });
  expect(state?.versions.map((version) => version.contentVersion)).toEqual([one, two]);
});

test('publishing a version again moves it to the front and keeps that it is indexed', () => {
  const state = after(published(one), indexed(one), published(two), published(one));
  expect(state?.versions.map((version) => [version.contentVersion, version.indexed])).toEqual([
    [two, false],
    [one, true],
  ]);
  expect(state).toMatchObject({ latest: one, searched: one });
});

test('a promoted version is the latest without becoming searched', () => {
  expect(after(published(one), published(two), indexed(two), event('ContentPromoted', one))).toMatchObject({
    latest: one,
    searched: two,
  });
});

test('a deleted version is no longer searched, and another one still is', () => {
  const state = after(published(one), indexed(one), published(two), event('ContentDeleted', one));
  expect(state?.versions).toHaveLength(1);
  expect(state?.searched).toBeUndefined();
  expect(after(published(one), indexed(one), published(two), event('ContentDeleted', two))?.searched).toBe(one);
});

test('a removed label and ended versions are gone, and the ended ones are remembered up to 500', () => {
  const ended = (...contentVersions: string[]): ContentEvent => ({
    type: 'ContentsEnded',
    version: 1,
    data: { ...identity, contentVersions },
  });
  const labelled = after(published(one, 'v1'), published(two, 'v2'));
  const at = { time: '2026-01-09T00:00:00.000Z', actor };
  const removed: ContentEvent = {
    type: 'LabelRemoved',
    version: 1,
    data: { ...identity, contentVersion: one, label: 'v1' },
  };
  expect(contentAggregate.evolve(labelled, removed, at)).toEqual({ ...labelled, labels: { v2: two } });
  expect(after(published(one), indexed(one), published(two), ended(one))).toEqual({
    ...identity,
    versions: [{ contentVersion: two, publishedAt: '2026-01-03T00:00:00.000Z', pageCount: 3, indexed: false }],
    labels: {},
    ended: [one],
    latest: two,
  });
  const many = Array.from({ length: 500 }, (_, n) => `cv_${n}`);
  expect(after(published(one), published(two), ended(one), ended(...many))?.ended).toEqual(many);
  const again = after(published(one), published(two), ended(one), published(one));
  expect(again).not.toHaveProperty('ended');
  expect(after(published(one), published(two), ended('cv_a', one), published(one))?.ended).toEqual(['cv_a']);
});

test('an indexed version is searched, and the others stay as they are', () => {
  const state = after(published(one), published(two), indexed(two));
  expect(state?.versions.map((version) => version.indexed)).toEqual([false, true]);
  expect(after(published(one), published(two), indexed(two), published(one))).toMatchObject({
    searched: two,
    versions: [
      { contentVersion: two, indexed: true, publishedAt: '2026-01-02T00:00:00.000Z' },
      { contentVersion: one, indexed: false, publishedAt: '2026-01-04T00:00:00.000Z' },
    ],
  });
});

test('a publication for a label alone leaves the latest version, and the searched one', () => {
  const preview = published(two, 'pr-1');
  if (preview.type === 'ContentPublished') preview.data.labelOnly = true;
  const state = after(published(one), indexed(one), preview);
  expect(state).toMatchObject({ latest: one, searched: one, labels: { 'pr-1': two } });
  expect(after(preview)).not.toHaveProperty('latest');
});
