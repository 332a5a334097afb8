import { expect, test } from 'vitest';
import { commitHash, nextCommit } from './commit-chain.ts';

const origin = {
  id: 'c1',
  source: 'gateway',
  actor: { kind: 'key' as const, id: 'key_1' },
  time: new Date('2026-01-01T00:00:00.000Z'),
  causationId: 'r1',
  correlationId: 'r1',
};
const event = { type: 'Happened', version: 1, data: { n: 1 } };

test('the first commit of an aggregate has revision 1 and no predecessor', () => {
  const commit = nextCommit('a.log', undefined, [event], { n: 1 }, origin);
  expect(commit).toMatchObject({ revision: 1, previousSequence: 0, previousHash: '' });
});

test('a commit is chained to the one before by its hash and sequence', () => {
  const first = nextCommit('a.log', undefined, [event], { n: 1 }, origin);
  const second = nextCommit('a.log', { commit: first, sequence: 17 }, [event], { n: 2 }, { ...origin, id: 'c2' });
  expect(second).toMatchObject({ revision: 2, previousSequence: 17, previousHash: first.hash });
});

test('the hash survives a way through JSON and shows a changed byte', () => {
  const commit = nextCommit('a.log', undefined, [event], { n: 1, gone: undefined }, origin);
  const read = JSON.parse(JSON.stringify(commit));
  expect(commitHash(read)).toBe(commit.hash);
  read.data.events[0].data.n = 2;
  expect(commitHash(read)).not.toBe(commit.hash);
});
