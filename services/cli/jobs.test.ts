import { expect, test } from 'vitest';
import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { exportJob } from '../../test/support/export-job.ts';
import { changedJobs, countsOf, elapsedMs, jobLine, jobPanel, jobTable } from './commands/jobs.ts';
import { drawnOver, noPaint } from './terminal.ts';

const now = new Date('2026-03-01T10:00:12.300Z');
const job = (changes: Partial<ExportJob> = {}) => exportJob({ pageTotal: 1050, ...changes });
const ended = job({
  jobId: 'se_b',
  version: 'v2',
  status: 'failed',
  completedAt: '2026-03-01T10:00:02.000Z',
  error: 'no',
});

test('a table has a head and a line for each job, columns under each other', () => {
  const [head = '', ...lines] = jobTable([job(), ended], now, { width: 140, paint: noPaint });
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line.indexOf('acme')).toBe(head.indexOf('Domain'));
  expect(lines[0]).toMatch(/running .*━+─+ +63 % +664 of 1,050 pages +12.3 s$/);
  expect(lines[1]).toMatch(/v2 +failed .* 2 s$/);
});

test('a narrow table has no bars', () => {
  expect(jobTable([job()], now, { width: 80, paint: noPaint }).join('')).not.toContain('━');
});

test('a panel fits its terminal', () => {
  for (const width of [60, 80, 200]) {
    const lines = jobPanel(job(), now, { width, paint: noPaint });
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
  }
});

test('a job on one line says why it failed, on that line', () => {
  expect(jobLine(job({ status: 'failed', error: 'guides/x:\n\u001b[2Jtoo slow' }))).toMatch(
    /guides\/x: +\[2Jtoo slow$/,
  );
});

test('a job lasts until its end, or until now, and never less than nothing', () => {
  expect(elapsedMs(ended, now)).toBe(2_000);
  expect(elapsedMs(job(), now)).toBe(12_300);
  expect(elapsedMs(job(), new Date(0))).toBe(0);
});

test('lines are drawn over those before, and what is left of them is cleared', () => {
  expect(drawnOver(0, ['a'])).not.toMatch(/\d+A/);
  expect(drawnOver(3, ['a', 'b'])).toMatch(/^\u001b\[3A\r.*\u001b\[2Ka\n\u001b\[2Kb\n\u001b\[J/);
});

test('only what changed is told, oldest first', () => {
  const older = job({ jobId: 'se_o' });
  expect(changedJobs([], [job(), older]).map(({ jobId }) => jobId)).toEqual(['se_o', job().jobId]);
  expect(changedJobs([job(), older], [job({ revision: 8 }), older])).toEqual([job({ revision: 8 })]);
});

test('counts say how many are in which state', () => {
  expect(countsOf([job(), job(), ended])).toBe('2 running, 1 failed');
  expect(countsOf([])).toBe('No export jobs.');
});
