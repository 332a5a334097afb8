import { expect, test } from 'vitest';
import { exportState } from '../../../test/support/make-commit.ts';
import { memoryBus } from '../../../test/support/memory-bus.ts';
import { jobEventStream } from './job-event-stream.ts';
import type { JobView } from './read-job.ts';

const view = (revision: number, commitId: string, changes: Partial<JobView> = {}): JobView => ({
  revision,
  commitId,
  updatedAt: '2026-03-01T10:00:00.000Z',
  state: exportState({ phase: 'rendering' }),
  ...changes,
});

test('an older update changes nothing, but one that was made after the log lost the newest does', async () => {
  let show: (view: JobView) => void = () => {};
  const jobStatusFeed = {
    watch: (_key: string, listener: (view: JobView) => void) => {
      show = listener;
      return () => {};
    },
    watchAll: () => () => {},
    close: () => {},
  };
  const stop = new AbortController();
  const events = jobEventStream({ bus: memoryBus(), jobStatusFeed }, 'acme', view(5, 'c5'), stop.signal);
  const next = async () => /^id: (\d+)/.exec((await events.next()).value ?? '')?.[1];
  expect(await next()).toBe('5');
  const after = next();
  show(view(4, 'c4'));
  show(view(3, 'c3-again', { lost: [{ revision: 5, commitId: 'c5' }] }));
  expect(await after).toBe('3');
  stop.abort();
  expect(await next()).toBeUndefined();
});
