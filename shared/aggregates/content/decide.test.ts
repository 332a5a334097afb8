import { describe, expect, test } from 'vitest';
import type { ContentState } from './content.ts';
import {
  deleteContent,
  hasEnded,
  isKnown,
  markIndexed,
  promoteContent,
  publishContent,
  removeLabel,
  versionToIndex,
} from './decide.ts';

const state = (latest: string | undefined, searched?: string): ContentState => ({
  organization: 'acme',
  domain: 'docs',
  versions: [],
  labels: {},
  ...(latest === undefined ? {} : { latest }),
  ...(searched === undefined ? {} : { searched }),
});

test('the latest version is the one to be searched', () => {
  expect(versionToIndex(state('cv_2', 'cv_1'))).toBe('cv_2');
  expect(versionToIndex(state('cv_1'))).toBe('cv_1');
  expect(versionToIndex(state('cv_2', 'cv_2'))).toBeUndefined();
  expect(versionToIndex(state(undefined))).toBeUndefined();
});

test('a version that is no longer the latest when it is indexed does not become the searched one', () => {
  expect(markIndexed(state('cv_2', 'cv_1'), 'cv_2', 7)).toEqual([
    {
      type: 'ContentIndexed',
      version: 1,
      data: { organization: 'acme', domain: 'docs', contentVersion: 'cv_2', passageCount: 7 },
    },
  ]);
  expect(markIndexed(state('cv_3', 'cv_1'), 'cv_2', 7)).toEqual([]);
  expect(markIndexed(state('cv_2', 'cv_2'), 'cv_2', 7)).toEqual([]);
});

const identity = { organization: 'acme', domain: 'docs' };
const version = (contentVersion: string) => ({
  contentVersion,
  publishedAt: '2026-03-01T10:00:00.000Z',
  pageCount: 3,
  indexed: false,
});
const withTwo: ContentState = {
  ...state('cv_2'),
  versions: [version('cv_1'), version('cv_2')],
  labels: { v1: 'cv_1' },
  ended: ['cv_0'],
};
const notFound = (message: string) => expect.objectContaining({ code: 'not_found', message });

describe('publishing', () => {
  const publish = (before: ContentState | undefined, contentVersion: string, label?: string) => {
    const counts = { pageCount: 3, fileCount: 5, sizeBytes: 100 };
    const published = { ...identity, contentVersion, ...counts, ...(label === undefined ? {} : { label }) };
    return publishContent(before, published);
  };

  test('the latest version again changes nothing, unless a label is elsewhere', () => {
    expect(publish(withTwo, 'cv_2')).toEqual([]);
    expect(publish({ ...withTwo, labels: { v2: 'cv_2' } }, 'cv_2', 'v2')).toEqual([]);
    expect(publish(withTwo, 'cv_2', 'v2')).toHaveLength(1);
    expect(publish(withTwo, 'cv_2', 'v1')).toHaveLength(1);
    expect(publish(withTwo, 'cv_1')).toHaveLength(1);
    expect(publish({ ...withTwo, versions: [] }, 'cv_2')).toHaveLength(1);
  });

  test('says what was published', () => {
    expect(publish(undefined, 'cv_1', 'constructor')).toEqual([
      {
        type: 'ContentPublished',
        version: 1,
        data: { ...identity, contentVersion: 'cv_1', label: 'constructor', pageCount: 3, fileCount: 5, sizeBytes: 100 },
      },
    ]);
  });

  test('more than 500 versions ends the oldest that nothing uses', () => {
    const versions = Array.from({ length: 500 }, (_, n) => version(`cv_${n}`));
    const full = { ...state('cv_499', 'cv_1'), versions, labels: { v1: 'cv_0' } };
    const ended = (before: ContentState, published: string, label?: string) =>
      publish(before, published, label).slice(1);
    const end = (...contentVersions: string[]) => [
      { type: 'ContentsEnded', version: 1, data: { ...identity, contentVersions } },
    ];
    expect(ended(full, 'cv_new')).toEqual(end('cv_2'));
    expect(ended(full, 'cv_new', 'v1')).toEqual(end('cv_0'));
    expect(ended(full, 'cv_3')).toEqual([]);
    expect(ended({ ...full, versions: versions.slice(1) }, 'cv_new')).toEqual([]);
    expect(ended({ ...full, versions: [version('cv_a'), version('cv_b'), ...versions] }, 'cv_new')).toEqual(
      end('cv_a', 'cv_b', 'cv_2'),
    );
    expect(ended({ ...state('cv_499'), versions, labels: {} }, 'cv_new')).toEqual(end('cv_0'));
  });

  test('under the last free label is possible, and without a label also beyond it', () => {
    const labels = Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`v${n}`, 'cv_1']));
    expect(publish({ ...withTwo, labels: { ...labels, v0: 'cv_2' } }, 'cv_1', 'v0')).toHaveLength(1);
    expect(publish({ ...withTwo, labels }, 'cv_1')).toHaveLength(1);
    const { v0: _, ...room } = labels;
    expect(publish({ ...withTwo, labels: room }, 'cv_1', 'new')).toHaveLength(1);
    expect(() => publish({ ...withTwo, labels }, 'cv_1', 'new')).toThrow(
      expect.objectContaining({
        code: 'too_many_labels',
        message:
          'The domain "docs" has 250 labels, and 250 is the maximum. Remove one that nobody needs (DELETE /v1/domains/docs/content/labels/<label>, or "bindery contents docs --unlabel <label>"), or publish under an existing label.',
      }),
    );
  });
});

test('a version is promoted if it is known and not the latest', () => {
  const promote = (contentVersion: string) => promoteContent(withTwo, { ...identity, contentVersion });
  expect(promote('cv_1')).toEqual([
    { type: 'ContentPromoted', version: 1, data: { ...identity, contentVersion: 'cv_1' } },
  ]);
  expect(promote('cv_2')).toEqual([]);
  expect(() => promote('cv_9')).toThrow(notFound('There is no content version "cv_9" in the domain "docs".'));
  expect(() => promoteContent(undefined, { ...identity, contentVersion: 'cv_1' })).toThrow('no content version');
});

test('a version is deleted if nothing uses it, also one that ended', () => {
  const remove = (contentVersion: string, before: ContentState | undefined = withTwo) =>
    deleteContent(before, { ...identity, contentVersion });
  const deleted = (contentVersion: string) => [
    { type: 'ContentDeleted', version: 1, data: { ...identity, contentVersion } },
  ];
  expect(remove('cv_0')).toEqual(deleted('cv_0'));
  expect(remove('cv_1', { ...withTwo, labels: { v2: 'cv_2' } })).toEqual(deleted('cv_1'));
  expect(() => remove('cv_9')).toThrow(notFound('There is no content version "cv_9" in the domain "docs".'));
  expect(() => remove('cv_2')).toThrow(
    expect.objectContaining({
      code: 'in_use',
      message: 'cv_2 is the latest content of "docs". Promote another version first.',
    }),
  );
  expect(() => remove('cv_1')).toThrow(
    expect.objectContaining({
      code: 'in_use',
      message: 'cv_1 has the label "v1". Remove the label, or publish another version under it first.',
    }),
  );
});

test('a label is removed with its version named', () => {
  expect(removeLabel(withTwo, { ...identity, label: 'v1' })).toEqual([
    { type: 'LabelRemoved', version: 1, data: { ...identity, label: 'v1', contentVersion: 'cv_1' } },
  ]);
  expect(() => removeLabel(withTwo, { ...identity, label: 'v2' })).toThrow(
    notFound('There is no label "v2" in the domain "docs".'),
  );
  expect(() => removeLabel(undefined, { ...identity, label: 'v1' })).toThrow('There is no label "v1"');
});

test('a version is known, has ended, or neither', () => {
  const of = (contentVersion: string, before?: ContentState) => [
    isKnown(before, contentVersion),
    hasEnded(before, contentVersion),
  ];
  const versions = [
    of('cv_1', withTwo),
    of('cv_0', withTwo),
    of('cv_9', withTwo),
    of('cv_1', state('cv_1')),
    of('cv_1'),
  ];
  expect(versions).toEqual([
    [true, false],
    [false, true],
    [false, false],
    [false, false],
    [false, false],
  ]);
});

test('a publication for a label alone needs the label to move, and never ends the latest version', () => {
  const preview = { ...identity, label: 'pr-1', labelOnly: true as const, pageCount: 1, fileCount: 1, sizeBytes: 1 };
  expect(publishContent(withTwo, { ...preview, contentVersion: 'cv_1' })).toHaveLength(1);
  const labelled = { ...withTwo, labels: { 'pr-1': 'cv_1' } };
  expect(publishContent(labelled, { ...preview, contentVersion: 'cv_1' })).toEqual([]);
  const full: ContentState = {
    ...state('cv_a'),
    versions: ['cv_a', ...Array.from({ length: 499 }, (_, index) => `cv_${index}`)].map(version),
  };
  expect(publishContent(full, { ...preview, contentVersion: 'cv_new' })).toMatchObject([
    { type: 'ContentPublished' },
    { type: 'ContentsEnded', data: { contentVersions: ['cv_0'] } },
  ]);
});
