import { expect, test } from 'vitest';
import type { Fact } from '#shared/contracts/export-facts.ts';
import type { ExportCommit, ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { ObjectStoreUnavailable } from '#shared/storage/object-store.ts';
import { orchestratorContext } from '../../test/support/leading-orchestrator.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { memoryBus } from '../../test/support/memory-bus.ts';
import { takeAgain } from './job-intake.ts';
import { type ActiveJob, jobRegistry, stateOf } from './job-registry.ts';

const fail = { type: 'Fail', error: 'It took too long.' } as const;

/** A registry with one job, whose appends go to `append`. */
async function withJob(
  append: (commit: ExportCommit) => void,
  changes: Partial<ExportJobState> = {},
  isUnreadable: (subject: string) => boolean = () => false,
  readObject: () => Promise<Buffer> = async () => Buffer.from('{ damaged'),
) {
  const bus = memoryBus();
  const state = exportState({ jobId: `se_${'a'.repeat(22)}`, organization: 'acme', phase: 'rendering', ...changes });
  const stored = await bus.exports.append(exportCommit(state), { sequence: 0 });
  const context = orchestratorContext({
    bus: {
      ...bus,
      exports: {
        ...bus.exports,
        last: async (subject) => {
          if (isUnreadable(subject)) throw new Poison(`The history of ${subject} is damaged.`);
          return bus.exports.last(subject);
        },
        append: async (commit, after) => {
          append(commit);
          return bus.exports.append(commit, after);
        },
      },
    },
    readObject,
  });
  const stop = new AbortController();
  const left: Promise<void>[] = [];
  const registry = jobRegistry(
    context,
    {
      added: () => {},
      changed: () => {},
      ended: () => {},
      setAside: (job) => {
        left.push(takeAgain(context, registry, job, stop.signal, 1));
      },
    },
    stop.signal,
  );
  return { bus, registry, job: registry.add(stored), stop, left };
}

test('a job that cannot be changed leaves the registry and comes back, though no fact is to come', async () => {
  let refusals = 1;
  const { registry, job, left } = await withJob(() => {
    refusals -= 1;
    if (refusals >= 0) throw new Error('The server refuses it.');
  });
  await expect(registry.change(job, fail, 'cause')).rejects.toThrow('refuses');
  expect(registry.jobs.size).toBe(0);
  await Promise.all(left);
  const back = registry.jobs.get(job.jobId);
  expect(back).toBeDefined();
  await registry.change(back as ActiveJob, fail, 'cause');
  expect(stateOf(back as ActiveJob).phase).toBe('failed');
});

test('a leader that lost its lease decides nothing on the commit of the next one', async () => {
  const { bus, registry, job, stop, left } = await withJob((commit) => {
    if (commit.source !== 'orchestrator-test' || stop.signal.aborted) return;
    stop.abort(new Error('The lease is lost.'));
    const next = exportCommit({ ...stateOf(job), pageCount: 1 }, job.stored);
    bus.exports.append(next, { sequence: job.stored.sequence }).catch(() => {});
  });
  await expect(registry.change(job, fail, 'cause')).rejects.toThrow('The lease is lost.');
  expect((await bus.exports.last(job.stored.commit.subject))?.commit.source).toBe('test');
  expect(left).toEqual([]);
});

test('a job whose plan is damaged fails instead of its facts coming again for ever', async () => {
  const planned = { planHash: 'a'.repeat(64), chunkCount: 1, timedOutAttempts: { 0: 3 } };
  const { registry, job } = await withJob(() => {}, planned);
  await registry.change(job, { type: 'TimeOutChunk', chunk: 0, attempt: 4 }, 'cause');
  expect(stateOf(job).phase).toBe('failed');
});

test('a job whose plan cannot be read now stays as it is, and still ends at its deadline', async () => {
  const planned = { planHash: 'a'.repeat(64), chunkCount: 1, timedOutAttempts: { 0: 3 } };
  const unreadable = () => Promise.reject(new ObjectStoreUnavailable('The disk has an error.'));
  const { registry, job, left } = await withJob(() => {}, planned, undefined, unreadable);
  const lost = registry.change(job, { type: 'TimeOutChunk', chunk: 0, attempt: 4 }, 'cause');
  await expect(lost).rejects.toThrow('The disk has an error.');
  expect([registry.jobs.get(job.jobId), stateOf(job).phase, left]).toEqual([job, 'rendering', []]);
  await registry.change(job, fail, 'cause');
  expect(stateOf(job).phase).toBe('failed');
});

test('a replay whose original nobody can read any more completes without a comparison', async () => {
  const original = `se_${'o'.repeat(22)}`;
  const joining = { phase: 'joining', replayOf: original, manifestSha256: 'b'.repeat(64) } as const;
  const { registry, job } = await withJob(
    () => {},
    joining,
    (subject) => subject.includes(original),
  );
  const joined: Fact = {
    ...{ type: 'BundleJoined', version: 1, id: 'f1', source: 'bundler', time: '2026-03-01T10:59:00.000Z' },
    ...{ organization: job.organization, jobId: job.jobId },
    data: { attempt: 1, bundleKey: 'bundles/acme/docs/x.tar.gz', sizeBytes: 9, sha256: 'c'.repeat(64) },
  };
  await registry.change(job, { type: 'FoldFacts', facts: [joined] }, 'cause');
  expect(stateOf(job).phase).toBe('completed');
  expect(stateOf(job).digestMatch).toBeUndefined();
});
