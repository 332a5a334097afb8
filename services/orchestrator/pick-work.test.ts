import { expect, test } from 'vitest';
import { pickWork, type WaitingJob } from './fair-share.ts';

type Job = WaitingJob & { id: string };
const job = (id: string, organization: string, servedAt: number, lastStep = false): Job => ({
  id,
  organization,
  organizationPlan: 'enterprise',
  servedAt,
  lastStep,
});

test('jobs of one organization take turns', () => {
  expect(pickWork([job('first', 'acme', 5), job('second', 'acme', 3)], [])?.job.id).toBe('second');
});

test('a job at its last step goes first, and its organization keeps its place in the round', () => {
  const round = [{ organization: 'globex', due: 4, opening: 0 }];
  const picked = pickWork([job('large', 'globex', 0), job('small', 'acme', 7, true)], round);
  expect(picked).toEqual({ job: job('small', 'acme', 7, true), round });
});

test('nobody waits: nothing is picked', () => {
  expect(pickWork([], [])).toBeUndefined();
});
