import { expect, test } from 'vitest';
import type { StoredReport } from '#shared/export/read-report.ts';
import type { ExportReport } from '#shared/interfaces/http/exports.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { memoryBus } from '../../test/support/memory-bus.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import { answerFrom, reportsOf } from './export-reports.ts';

const of = (severity: 'error' | 'warning' | 'info', message: string) => ({
  ...{ severity, message, code: 'some-code', file: 'a.mdx' },
});
const report: StoredReport = {
  formatVersion: 1,
  summary: { pages: 4, failedPages: 1, errors: 1, warnings: 3, infos: 1, brokenLinks: 1 },
  byCode: [],
  failedPages: [{ path: 'd', reason: 'It has a loop.' }],
  brokenLinks: [{ page: 'c', target: '/nowhere', reason: 'no such page or file', line: 3 }],
  site: [of('info', 'about the project')],
  pages: { a: [of('error', 'first'), of('warning', 'second')], b: [of('warning', 'third')] },
};
const query = { limit: 200 };
const lines = ({ pages }: ExportReport) =>
  pages.flatMap(({ path, findings }) => findings.map(({ message }) => `${path ?? '-'}: ${message}`));
const all = [
  '-: about the project',
  'a: first',
  'a: second',
  'b: third',
  'c: There is no page or file "/nowhere" in this export.',
  'd: It has a loop.',
];

test('findings are listed by page: those of the project, diagnostics, broken links and failed pages', () => {
  const answer = answerFrom('se_x', report, query);
  expect(lines(answer)).toEqual(all);
  expect(answer).not.toHaveProperty('nextCursor');
  expect(answer.pages.at(-2)?.findings).toEqual([
    { severity: 'warning', code: 'broken-link', message: expect.any(String), line: 3 },
  ]);
});

test.each([1, 2, 3, 5, 6])('answers of %i findings together have each finding once', (limit) => {
  const seen: string[] = [];
  for (let cursor: string | undefined = '0'; cursor !== undefined; ) {
    const answer: ExportReport = answerFrom('se_x', report, { limit, cursor });
    expect(lines(answer).length).toBeLessThanOrEqual(limit);
    seen.push(...lines(answer));
    cursor = answer.nextCursor;
  }
  expect(seen).toEqual(all);
});

test('findings of one page, severity or code are counted alone', () => {
  expect(lines(answerFrom('se_x', report, { ...query, page: '/a' }))).toEqual(['a: first', 'a: second']);
  expect(lines(answerFrom('se_x', report, { ...query, page: 'constructor' }))).toEqual([]);
  expect(lines(answerFrom('se_x', report, { ...query, code: 'broken-link' }))).toEqual([all[4]]);
  expect(lines(answerFrom('se_x', report, { limit: 1, severity: 'warning', cursor: '1' }))).toEqual(['b: third']);
  expect(answerFrom('se_x', report, { limit: 1, cursor: '999999999' }).pages).toEqual([]);
});

test.each([
  ['a job that runs', { phase: 'rendering' }, 'acme', 'not_completed', 'is not completed'],
  ['a failed job', { phase: 'failed', error: 'Page x.' }, 'acme', 'not_completed', 'failed, so it has no bundle'],
  ['a job of another organization', {}, 'other', 'not_found', 'There is no export job'],
  ['a job whose bundle was removed', {}, 'acme', 'not_found', 'has been removed. Replay the job to make it again.'],
] as const)('%s has no report, and the answer says why', async (_, changes, organization, code, sentence) => {
  const bus = memoryBus();
  const state = exportState({
    phase: 'completed',
    bundle: { key: 'bundles/acme/docs/x.tar.gz', sizeBytes: 7, sha256: 'ab'.repeat(32) },
    manifestSha256: 'cd'.repeat(32),
    ...changes,
  });
  await bus.exports.append(exportCommit(state), { sequence: 0 });
  const reports = reportsOf({ bus, objectStore: testObjectStore(newFolder()) });
  const answer = reports.answer(organization, state.jobId, query, new AbortController().signal);
  await expect(answer).rejects.toMatchObject({ code, message: expect.stringContaining(sentence) });
});
