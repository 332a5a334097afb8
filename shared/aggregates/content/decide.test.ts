import { expect, test } from 'vitest';
import type { ContentState } from './content.ts';
import { markIndexed, versionToIndex } from './decide.ts';

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
