import { expect, test } from 'vitest';
import {
  blobKey,
  bundleKey,
  bundlePiecesKey,
  exportPlanSchema,
  partFactsKey,
  partShortTextsKey,
  partTextsKey,
  planKey,
  segmentKey,
  selectionKey,
  sidecarKey,
  siteModelKey,
} from '#shared/contracts/stored-objects.ts';
import { keptPartKeys } from '#shared/export/kept-parts.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { exportState } from '../../test/support/make-commit.ts';
import { keptJob } from './kept-jobs.ts';
import { isMarked, markBlobs, markJob, markParts, markSegments, noMarks } from './mark-objects.ts';

const hash = (letter: string) => letter.repeat(64);
const contentVersion = `cv_${'1'.repeat(32)}`;
const planHash = hash('a');

test('a job needs its plan, its selection, the bundle of its plan and its content, and nothing of another organization', () => {
  const marks = noMarks();
  const selection = selectionKey('acme', hash('b'));
  markJob(marks, 'acme', { domain: 'docs', contentVersion, planHash, selectionKey: selection });
  const needed = [
    planKey('acme', planHash),
    selection,
    bundleKey('acme', 'docs', planHash),
    bundlePiecesKey(bundleKey('acme', 'docs', planHash)),
    siteModelKey({ organization: 'acme', domain: 'docs', contentVersion }),
    `contents/acme/docs/${contentVersion}/markdown/guides/x.md`,
  ];
  expect(needed.filter((key) => !isMarked(marks, key))).toEqual([]);
  const others = [
    planKey('other', planHash),
    planKey('acme', hash('c')),
    bundleKey('acme', 'site', planHash),
    bundlePiecesKey(bundleKey('acme', 'site', planHash)),
    siteModelKey({ organization: 'acme', domain: 'docs', contentVersion: `cv_${'2'.repeat(32)}` }),
    `contents/acme/docs/${contentVersion}x/site-model.json`,
    segmentKey('acme', planHash),
  ];
  expect(others.filter((key) => isMarked(marks, key))).toEqual([]);
});

test('a job that is not planned yet needs its content', () => {
  const marks = noMarks();
  markJob(marks, 'acme', { domain: 'docs', contentVersion });
  expect([...marks.units]).toEqual([`contents/acme/docs/${contentVersion}`]);
});

test('a plan needs its segments with their sidecars, whatever else is in it', () => {
  const marks = noMarks();
  const plan = { version: 9, chunks: [{ kind: 'new', key: hash('1'), paths: ['x'] }], closingKey: hash('2') };
  markSegments(marks, 'acme', JSON.stringify(plan));
  const needed = [segmentKey('acme', hash('1')), sidecarKey('acme', hash('1')), sidecarKey('acme', hash('2'))];
  expect(needed.filter((key) => !isMarked(marks, key))).toEqual([]);
  expect(isMarked(marks, segmentKey('acme', hash('3')))).toBe(false);
});

test('a plan needs the parts that are kept for its closing segment, and not those of another plan', () => {
  const planOf = (changed: string) =>
    exportPlanSchema.parse({
      ...{ version: 1, organization: 'acme', domain: 'docs', contentVersion, rendererVersion: 'r-000000000000' },
      ...{ groups: [], deployment: 'cloud', onPageError: 'fail', allowTenantScripts: true, pageTotal: 100 },
      chunks: Array.from({ length: 100 }, (_, at) => ({
        kind: 'pages',
        key: sha256Of(at === 50 ? changed : `chunk ${at}`),
        paths: [`page-${at}`],
      })),
      closingKey: hash('2'),
    });
  const marks = noMarks();
  markParts(marks, 'acme', JSON.stringify(planOf('first')));
  const keys = keptPartKeys(planOf('first'));
  expect(keys.length).toBeGreaterThan(2);
  const named = keys.flatMap((key) =>
    [partFactsKey, partTextsKey, partShortTextsKey].map((keyOf) => keyOf('acme', key)),
  );
  expect(named.filter((key) => !isMarked(marks, key))).toEqual([]);
  const others = keptPartKeys(planOf('second')).filter((key) => !isMarked(marks, partFactsKey('acme', key)));
  expect(others).toHaveLength(1);
  expect(keys.some((key) => isMarked(marks, partFactsKey('other', key)))).toBe(false);
  markParts(marks, 'acme', '{"version":9}');
});

test('a site model needs its files', () => {
  const marks = noMarks();
  markBlobs(marks, 'acme', JSON.stringify({ pages: [{ sha256: hash('1') }], assets: [{ sha256: hash('2') }] }));
  expect([hash('1'), hash('2'), hash('3')].map((sha256) => isMarked(marks, blobKey('acme', sha256)))).toEqual([
    true,
    true,
    false,
  ]);
});

test('when a site model could not be read every file is needed, and nothing else', () => {
  const marks = { ...noMarks(), allBlobs: true };
  expect(isMarked(marks, blobKey('acme', hash('1')))).toBe(true);
  expect(isMarked(marks, planKey('acme', planHash))).toBe(false);
});

test.each([
  ['one that runs, however old', { phase: 'rendering', createdAt: '2020-01-01T00:00:00.000Z' }, true],
  ['one that ended after the time', { phase: 'completed', completedAt: '2026-01-02T00:00:00.000Z' }, true],
  ['one that ended at the time', { phase: 'completed', completedAt: '2026-01-01T00:00:00.000Z' }, true],
  ['one that ended before', { phase: 'completed', completedAt: '2025-12-31T23:59:59.999Z' }, false],
  ['one that failed before', { phase: 'failed', completedAt: '2025-12-31T23:59:59.999Z' }, false],
  ['one that was cancelled after', { phase: 'cancelled', completedAt: '2026-01-01T00:00:00.001Z' }, true],
] as const)('of jobs %s', (_name, state, isKept) => {
  expect(keptJob(exportState(state), new Date('2026-01-01T00:00:00.000Z')) !== undefined).toBe(isKept);
});
