import { expect, test } from 'vitest';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { activeJob } from './job-registry.ts';
import { pinnedJobs } from './pinned-jobs.ts';

const [old, other] = ['r-0123456789ab', 'r-ba9876543210'];

/** Jobs beside renderers of the given versions, one slot each. */
function watching() {
  const alive = new Set<string>();
  const pinned = pinnedJobs({
    liveSlots: (version) => (version === undefined ? alive.size : Number(alive.has(version))),
  });
  const add = (name: string, changes: Partial<ExportJobState> = {}) => {
    const state = exportState({
      jobId: `se_${name.padEnd(22, '0')}`,
      phase: 'rendering',
      rendererVersion: old,
      ...changes,
    });
    const job = activeJob({ commit: exportCommit(state), sequence: 1 });
    pinned.changed(job);
    return job;
  };
  return { alive, pinned, add, stranded: (ms: number) => pinned.stranded(ms, 30_000) };
}

test('jobs of a version that is gone for long enough are stranded while another lives', () => {
  const { alive, add, stranded } = watching();
  const [job, closing] = [add('a'), add('b', { phase: 'closing' })];
  add('c', { rendererVersion: other });
  add('d', { phase: 'joining' });
  add('e', { phase: 'requested', rendererVersion: undefined });
  alive.add(other);
  expect(stranded(29_000)).toEqual([]);
  expect(stranded(1_000)).toEqual([job, closing]);
});

test('while no renderer lives, there is nobody to plan for', () => {
  const { alive, add, stranded } = watching();
  add('a');
  expect(stranded(60_000)).toEqual([]);
  alive.add(other);
  expect(stranded(1_000)).toEqual([]);
});

test('a version that comes back begins anew', () => {
  const { alive, add, stranded } = watching();
  add('a');
  alive.add(other);
  stranded(29_000);
  alive.add(old);
  stranded(1_000);
  alive.delete(old);
  expect(stranded(29_000)).toEqual([]);
});

test('a job that ended or has another version now is not stranded', () => {
  const { alive, pinned, add, stranded } = watching();
  const [ended, replanned] = [add('a'), add('b')];
  alive.add(other);
  pinned.ended(ended);
  const state = exportState({ jobId: replanned.jobId, phase: 'rendering', rendererVersion: other });
  replanned.stored = { commit: exportCommit(state, replanned.stored), sequence: 2 };
  pinned.changed(replanned);
  expect(stranded(60_000)).toEqual([]);
});
