import { expect, test } from 'vitest';
import type { Commit } from '#shared/contracts/commit.ts';
import { type ChainFold, commitHash, nextCommit, verifyChain } from './commit-chain.ts';
import type { StoredCommit, StoredText } from './event-log.ts';

type Added = { type: 'Added'; version: 1; data: { n: number } };
type Sum = { sum: number };
type SumCommit = Commit<Added, Sum>;

const subject = 'sums.acme.log';
const fold: ChainFold<Sum, Added> = {
  read: (stored) => stored as SumCommit,
  evolve: (state, event) => ({ sum: (state?.sum ?? 0) + event.data.n }),
};

/** Five commits of one aggregate. The sequences in between belong to other aggregates. */
function history(): StoredText[] {
  const messages: StoredText[] = [];
  let previous: StoredCommit<SumCommit> | undefined;
  for (let n = 1; n <= 5; n += 1) {
    const event: Added = { type: 'Added', version: 1, data: { n } };
    const state = { sum: (previous?.commit.data.state.sum ?? 0) + n };
    const commit = nextCommit<Added, Sum>(subject, previous, [event], state, {
      id: `c${n}`,
      source: 'test',
      actor: { kind: 'service', id: 'test' },
      time: new Date('2026-01-01T00:00:00.000Z'),
      causationId: 'r1',
      correlationId: 'r1',
    });
    previous = { commit, sequence: n * 10 };
    messages.push({ subject, sequence: n * 10, text: JSON.stringify(commit) });
  }
  return messages;
}

const verify = (messages: StoredText[]) => verifyChain(subject, messages, fold);
const at = (messages: StoredText[], revision: number): StoredText => {
  const found = messages[revision - 1];
  if (found === undefined) throw new Error(`The history has no revision ${revision}.`);
  return found;
};
const change = (message: StoredText, edit: (commit: SumCommit) => void, seal: boolean) => {
  const commit = JSON.parse(message.text) as SumCommit;
  edit(commit);
  message.text = JSON.stringify(seal ? { ...commit, hash: commitHash(commit) } : commit);
};

test('a whole history has no problems, nor has an empty one', () => {
  expect(verify(history())).toEqual([]);
  expect(verify([])).toEqual([]);
});

test('a missing commit is a hole before the next one', () => {
  const messages = history().filter((_, index) => index !== 2);
  expect(verify(messages)).toEqual([
    { problem: 'hole', subject, sequence: 40, revision: 4, message: 'Revision 3 is missing before it.' },
  ]);
});

test('a missing beginning is a hole, however long', () => {
  expect(verify(history().slice(2))).toMatchObject([
    { problem: 'hole', sequence: 30, revision: 3, message: 'Revisions 1 to 2 are missing before it.' },
  ]);
});

test('a hole that was closed by renumbering the rest shows in the chain', () => {
  const messages = history().slice(1);
  messages.forEach((message, index) => {
    change(message, (commit) => void (commit.revision = index + 1), true);
    message.sequence = (index + 1) * 10;
  });
  const problems = verify(messages);
  expect(problems[0]).toMatchObject({ problem: 'moved', sequence: 10, revision: 1 });
  expect(problems.map(({ problem }) => problem)).toContain('hole');
});

test('two messages that changed places are swapped', () => {
  const messages = history();
  [at(messages, 2).text, at(messages, 3).text] = [at(messages, 3).text, at(messages, 2).text];
  expect(verify(messages)).toEqual([
    { problem: 'swapped', subject, sequence: 30, revision: 2, message: 'The revision comes after revision 3.' },
  ]);
});

test('a commit that is there twice is named where it is repeated', () => {
  const messages = history();
  messages.push({ ...at(messages, 2), sequence: 60 });
  expect(verify(messages)).toMatchObject([{ problem: 'swapped', sequence: 60, revision: 2 }]);
});

test.each([1, 3, 5])('one changed byte of revision %i is found', (revision) => {
  const { text } = at(history(), revision);
  const [from, to] = [text.indexOf('"data":{"events"') + 8, text.lastIndexOf(',"hash"')];
  for (const place of [text.indexOf('"actor"') + 1, Math.floor((from + to) / 2), to - 2, text.length - 3]) {
    const messages = history();
    at(messages, revision).text = `${text.slice(0, place)}${text[place] === '7' ? '8' : '7'}${text.slice(place + 1)}`;
    const problems = verify(messages);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems[0]?.sequence).toBe(revision * 10);
    expect(['changed', 'unreadable']).toContain(problems[0]?.problem);
  }
});

test('a byte that changes no value is found, too', () => {
  const messages = history();
  at(messages, 4).text += ' ';
  expect(verify(messages)).toMatchObject([{ problem: 'changed', sequence: 40, revision: 4 }]);
});

test('a changed commit whose hash was recomputed is found by its successor, and named itself', () => {
  const messages = history();
  change(at(messages, 3), (commit) => void (commit.actor.id = 'somebody'), true);
  expect(verify(messages)).toEqual([
    {
      problem: 'changed',
      subject,
      sequence: 30,
      revision: 3,
      message: 'Its hash differs from the one that revision 4 was chained to.',
    },
  ]);
});

test('a commit of another aggregate is found, whether its subject was changed or its place', () => {
  const messages = history();
  change(at(messages, 5), (commit) => void (commit.subject = 'sums.other.log'), true);
  expect(verify(messages)).toMatchObject([{ problem: 'wrong-subject', sequence: 50 }]);
  const moved = history();
  at(moved, 5).subject = 'sums.other.log';
  expect(verify(moved)).toMatchObject([{ problem: 'wrong-subject', sequence: 50, revision: 5 }]);
});

test('a commit at another place of the stream is found', () => {
  const messages = history();
  at(messages, 3).sequence = 31;
  expect(verify(messages)).toMatchObject([{ problem: 'moved', sequence: 40, revision: 4 }]);
});

test('a state that differs from the fold of its events is found once, also when all hashes are right', () => {
  const messages: StoredText[] = [];
  let previous: SumCommit | undefined;
  for (const message of history()) {
    change(
      message,
      (commit) => {
        commit.data.state.sum += commit.revision >= 3 ? 100 : 0;
        commit.previousHash = previous?.hash ?? '';
      },
      true,
    );
    previous = JSON.parse(message.text) as SumCommit;
    messages.push(message);
  }
  expect(verifyChain(subject, messages)).toEqual([]);
  expect(verify(messages)).toMatchObject([{ problem: 'wrong-state', sequence: 30, revision: 3 }]);
});

test('a message that is no commit, or of an unknown version, is unreadable, with its place', () => {
  const messages = history();
  at(messages, 2).text = '[]';
  expect(verify(messages)[0]).toMatchObject({ problem: 'unreadable', sequence: 20 });
  const refused = verifyChain(subject, history(), {
    ...fold,
    read: (stored) => {
      if ((stored as SumCommit).revision === 5) throw new Error('version 9 is not known.');
      return stored as SumCommit;
    },
  });
  expect(refused).toEqual([
    {
      problem: 'unreadable',
      subject,
      sequence: 50,
      revision: 5,
      message: 'The commit cannot be read: version 9 is not known.',
    },
  ]);
});
