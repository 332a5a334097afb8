import { expect, test } from 'vitest';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { exportState } from '../../test/support/make-commit.ts';
import { measureExports } from './measure-exports.ts';

const clock = { now: () => new Date('2026-03-01T11:00:00.000Z') };

function measuring() {
  const metrics = serviceMetrics('orchestrator');
  const workers = { 'page-renderer': { liveSlots: () => 4 }, bundler: { liveSlots: () => 1 } };
  const measures = measureExports(metrics, workers, clock);
  const inUseBy = (service: string) => (service === 'bundler' ? 0 : 6);
  const lead = (...states: Partial<ExportJobState>[]) =>
    measures.leads(() => states.map((state) => exportState(state)), { inUseBy });
  /** Samples whose names and labels match, without the label of the service. */
  const samples = async (names: RegExp): Promise<string[]> =>
    (await metrics.text())
      .split('\n')
      .filter((line) => names.test(line) && !line.startsWith('#'))
      .map((line) => line.replace(/,?service="orchestrator"/, '').replace('{}', ''));
  return { measures, lead, samples };
}

test('pages of exports under way are the backlog of renderers; those that are rendered or cannot be are none', async () => {
  const { lead, samples } = measuring();
  lead(
    { phase: 'rendering', pageTotal: 100, pageCount: 30, failedPageCount: 2 },
    { phase: 'rendering', pageTotal: 40, pageCount: 0 },
    { phase: 'closing', pageTotal: 50, pageCount: 50 },
    { phase: 'requested' },
  );
  expect(await samples(/backlog_pages|exports_active|credits|tasks_out/)).toEqual([
    'bindery_exports_active{phase="requested"} 1',
    'bindery_exports_active{phase="rendering"} 2',
    'bindery_exports_active{phase="closing"} 1',
    'bindery_exports_active{phase="joining"} 0',
    'bindery_render_backlog_pages 108',
    'bindery_task_credits{workers="page-renderer"} 7',
    'bindery_task_credits{workers="bundler"} 2',
    'bindery_tasks_out{workers="page-renderer"} 6',
    'bindery_tasks_out{workers="bundler"} 0',
  ]);
});

test('the oldest export of each phase has an age', async () => {
  const { lead, samples } = measuring();
  const at = (time: string) => ({ phase: 'rendering' as const, createdAt: `2026-03-01T${time}.000Z` });
  lead(at('10:59:00'), at('10:30:00'), at('10:59:59'), { ...at('10:59:58'), phase: 'joining' });
  expect(await samples(/oldest/)).toEqual([
    'bindery_exports_oldest_seconds{phase="requested"} 0',
    'bindery_exports_oldest_seconds{phase="rendering"} 1800',
    'bindery_exports_oldest_seconds{phase="closing"} 0',
    'bindery_exports_oldest_seconds{phase="joining"} 2',
  ]);
});

test('a spare, and one that leads no more, says 0', async () => {
  const { lead, samples } = measuring();
  const quiet = ['bindery_orchestrator_leads 0', 'bindery_render_backlog_pages 0'];
  expect(await samples(/leads|backlog/)).toEqual(quiet);
  const leadsNoMore = lead({ phase: 'rendering', pageTotal: 9, pageCount: 0 });
  expect(await samples(/leads|backlog/)).toEqual(['bindery_orchestrator_leads 1', 'bindery_render_backlog_pages 9']);
  leadsNoMore();
  expect(await samples(/leads|backlog/)).toEqual(quiet);
});

test('exports that ended are counted by their outcome, and completed ones by their time', async () => {
  const { measures, samples } = measuring();
  const [createdAt, completedAt] = ['2026-03-01T10:00:00.000Z', '2026-03-01T10:00:20.000Z'];
  measures.ended(exportState({ phase: 'completed', createdAt, completedAt }));
  measures.ended(exportState({ phase: 'failed', createdAt, completedAt }));
  expect(await samples(/ended_total|export_seconds_(sum|count)/)).toEqual([
    'bindery_exports_ended_total{outcome="completed"} 1',
    'bindery_exports_ended_total{outcome="failed"} 1',
    'bindery_exports_ended_total{outcome="cancelled"} 0',
    'bindery_export_seconds_sum 20',
    'bindery_export_seconds_count 1',
  ]);
});
