import { expect, test } from 'vitest';
import type { Fact } from '#shared/contracts/export-facts.ts';
import { exportState } from '../../../test/support/make-commit.ts';
import { decide } from './decide.ts';
import { exportJobAggregate, type ExportJobState } from './export-job.ts';

const at = { time: '2026-03-01T10:00:00.000Z', actor: { kind: 'service' as const, id: 'orchestrator' } };
const chunkCount = 12;

/** A linear congruential generator (Numerical Recipes), so that each run has the same order. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed;
  const keyed = items.map((item) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return { item, key: state };
  });
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

function fact(chunk: number): Fact {
  const { jobId, organization } = exportState();
  const common = { version: 1, id: `f${chunk}`, source: 'r', time: at.time, organization, jobId } as const;
  if (chunk === 5) {
    const failedPages = [{ path: 'x', reason: 'too deep' }];
    const data = { chunk, attempt: 1, cause: 'pages', reason: 'a page', failedPages } as const;
    return { ...common, type: 'ChunkFailed', data: { ...data, failedPages } };
  }
  const data = { chunk, attempt: 1, pageCount: chunk, reused: false, durationMs: 1 };
  return { ...common, type: 'ChunkRendered', data };
}

/** Folds facts in batches of `size`, as the orchestrator receives them. */
function fold(facts: readonly Fact[], size: number): ExportJobState {
  let state = exportState({ phase: 'rendering', chunkCount, pageTotal: 100, planHash: 'a'.repeat(64) });
  for (let start = 0; start < facts.length; start += size) {
    const command = { type: 'FoldFacts', facts: facts.slice(start, start + size) } as const;
    for (const event of decide(state, command, at)) state = exportJobAggregate.evolve(state, event, at);
  }
  return state;
}

test('order, repetition and batches of facts do not matter', () => {
  const facts = Array.from({ length: chunkCount }, (_, chunk) => fact(chunk));
  const expected = fold(facts, 20);
  expect(expected).toMatchObject({ phase: 'failed', pageCount: 61, failedPageCount: 1 });
  for (let seed = 1; seed <= 50; seed += 1) {
    const repeated = shuffled([...facts, ...facts.slice(0, 8)], seed);
    expect(fold(repeated, 1 + (seed % 5))).toEqual(expected);
  }
});
