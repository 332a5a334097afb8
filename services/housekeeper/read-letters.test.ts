import { beforeEach, describe, expect, test } from 'vitest';
import type { DeadLetter } from '#shared/contracts/dead-letters.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { type MemoryBus, memoryBus } from '../../test/support/memory-bus.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { type LetterStores, listLetters, readLetter } from './read-letters.ts';

const time = '2026-03-01T10:00:00.000Z';
const jobId = `se_${'a'.repeat(22)}`;
const subject = exportLogSubject('acme', jobId);

const letterOf = (sequence: number, changes: Partial<DeadLetter> = {}): DeadLetter => ({
  ...{ service: 'projector', stream: 'EXPORTS', subject, sequence, reason: 'It is too large.' },
  ...{ isOrdered: true, setAsideAt: time, state: 'aside', cause: 'poison' },
  ...changes,
});

let bus: MemoryBus;
let stores: LetterStores;
beforeEach(() => {
  bus = memoryBus();
  stores = { letters: bus.deadLetters, logs: bus.storedMessages };
});

const put = async (...letters: DeadLetter[]) => {
  for (const letter of letters)
    await bus.deadLetters.put(`${letter.service}.${letter.stream}.${letter.sequence}`, letter);
};

describe('the list', () => {
  const ids = async (state: 'aside' | 'dropped' | 'all', limit = 100, cursor?: string) => {
    const page = await listLetters(stores, { state, limit, cursor });
    return { ids: page.deadLetters.map(({ id }) => id), next: page.nextCursor };
  };

  test('is by service, stream and sequence, page by page, and has only what was asked for', async () => {
    await put(letterOf(10), letterOf(9), letterOf(1, { service: 'indexer' }), letterOf(11, { state: 'dropped' }));
    expect(await ids('aside')).toEqual({
      ids: ['indexer.EXPORTS.1', 'projector.EXPORTS.9', 'projector.EXPORTS.10'],
      next: undefined,
    });
    expect((await ids('dropped')).ids).toEqual(['projector.EXPORTS.11']);
    const first = await ids('all', 2);
    expect(first).toEqual({ ids: ['indexer.EXPORTS.1', 'projector.EXPORTS.9'], next: 'projector.EXPORTS.9' });
    expect(await ids('all', 2, first.next)).toEqual({
      ids: ['projector.EXPORTS.10', 'projector.EXPORTS.11'],
      next: undefined,
    });
    // A letter that was settled meanwhile is as good a place to read on.
    expect((await ids('all', 2, 'projector.EXPORTS.10000')).ids).toEqual([]);
  });

  test('names a letter that cannot be read, and has the others', async () => {
    await put(letterOf(1), letterOf(2));
    const getMany: LetterStores['letters']['getMany'] = async (keys) =>
      (await bus.deadLetters.getMany(keys)).map((read) =>
        read.key === 'projector.EXPORTS.1' ? { key: read.key, revision: 1, problem: 'It is wrong at "state".' } : read,
      );
    const page = await listLetters(
      { letters: { ...bus.deadLetters, getMany } },
      { state: 'aside', limit: 1, cursor: undefined },
    );
    expect(page).toEqual({
      deadLetters: [],
      unreadable: [{ id: 'projector.EXPORTS.1', reason: 'It is wrong at "state".' }],
      nextCursor: 'projector.EXPORTS.1',
    });
  });
});

describe('one letter', () => {
  const id = 'projector.EXPORTS.1';

  test('has its message, its history and the number of messages that wait', async () => {
    const first = await bus.exports.append(exportCommit(exportState({ jobId })), { sequence: 0 });
    await bus.exports.append(exportCommit(exportState({ jobId, phase: 'rendering' }), first), { sequence: 1 });
    const failed = { id: 'dd_1', action: 'retry' as const, by: 'ada', why: 'perhaps', at: time };
    await put(letterOf(1, { failed: { ...failed, reason: 'again' } }));
    const record = {
      service: 'projector',
      stream: 'EXPORTS',
      subject,
      sequence: 1,
      reason: 'It is too large.',
      at: time,
    };
    await bus.deadLetterLog.record({ ...record, outcome: 'set-aside' });
    await bus.deadLetterLog.record({ ...record, sequence: 2, outcome: 'set-aside' });
    await bus.deadLetterLog.record({ ...record, outcome: 'failed-again', decision: failed });
    const letter = await readLetter(stores, id);
    expect(letter).toMatchObject({
      ...{ id, state: 'aside', attempts: 2, waiting: 1, problems: [] },
      failed: { by: 'ada', why: 'perhaps' },
      message: { isCut: false, text: expect.stringContaining(`"subject": "${subject}"`) },
      history: [{ outcome: 'set-aside' }, { outcome: 'failed-again', decision: { by: 'ada' } }],
    });
    expect(letter.failed).not.toHaveProperty('id');
  });

  test('is there after it was settled, and its message may be gone', async () => {
    const record = {
      service: 'projector',
      stream: 'EXPORTS',
      subject,
      sequence: 1,
      reason: 'It is too large.',
      at: time,
    };
    await bus.deadLetterLog.record({ ...record, outcome: 'set-aside' });
    await bus.deadLetterLog.record({ ...record, outcome: 'retried' });
    expect(await readLetter(stores, id)).toMatchObject({
      ...{ state: 'settled', subject, reason: 'It is too large.' },
      problems: [{ part: 'message', reason: 'It is no longer in EXPORTS: it expired or was removed.' }],
    });
  });

  test('shows no message of another subject that has its sequence, and none of conversations', async () => {
    await bus.exports.append(exportCommit(exportState({ jobId: `se_${'b'.repeat(22)}` })), { sequence: 0 });
    await put(letterOf(1), letterOf(1, { stream: 'CONVERSATIONS' }));
    const reused = await readLetter(stores, id);
    expect([reused.message, reused.problems[0]?.part]).toEqual([undefined, 'message']);
    const asked = await readLetter(stores, 'projector.CONVERSATIONS.1');
    expect(asked.problems).toEqual([{ part: 'message', reason: 'Messages of CONVERSATIONS are not shown here.' }]);
  });

  test('that cannot be read says why, and parts that cannot be read do not hide the others', async () => {
    await put(letterOf(1));
    const unreadable = { ...bus.deadLetters, get: () => Promise.reject(new Poison('It is wrong at "state".')) };
    expect(await readLetter({ ...stores, letters: unreadable }, id)).toMatchObject({
      ...{ state: 'aside', reason: 'It is wrong at "state".' },
      problems: expect.arrayContaining([{ part: 'letter', reason: 'It is wrong at "state".' }]),
    });
    const logs = { ...bus.storedMessages, stored: () => new Promise<never>(() => {}) };
    expect(await readLetter({ ...stores, logs }, id)).toMatchObject({
      ...{ state: 'aside', attempts: 1, history: [] },
      problems: expect.arrayContaining([{ part: 'history', reason: 'It could not be read within 1 s.' }]),
    });
  });

  test('that nobody set aside is not found', async () => {
    await expect(readLetter(stores, id)).rejects.toMatchObject({ code: 'not_found' });
  });
});
