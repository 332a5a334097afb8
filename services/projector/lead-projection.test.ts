import pino from 'pino';
import { expect, test } from 'vitest';
import { testAuditKey } from '../../test/support/make-commit.ts';
import { memoryBus } from '../../test/support/memory-bus.ts';
import { exportProjection } from './export-projection.ts';
import { projectionPointerSchema } from '#shared/contracts/read-models.ts';
import {
  beginFilling,
  beginRebuild,
  callOff,
  dropKept,
  firstPointer,
  flip,
  isNew,
  rebuildForShape,
} from './projection-pointer.ts';
import { leadProjection } from './lead-projection.ts';

const noon = new Date('2026-03-01T12:00:00.000Z');
const same = { comparison: { documentCount: 3, different: [] }, shape: 1 };

test('a rebuild goes from asked over filling to the other generation, which is read while the old one is kept a day', () => {
  const begun = beginRebuild(firstPointer, 'r1', noon);
  expect(begun).toEqual({
    live: 'blue',
    rebuild: { id: 'r1', startedAt: '2026-03-01T12:00:00.000Z', state: 'asked' },
  });
  const after = flip(beginFilling(begun), same, noon);
  expect(after).toMatchObject({ live: 'green', keptUntil: '2026-03-02T12:00:00.000Z', lastRebuild: { id: 'r1' } });
  expect(after.rebuild).toBeUndefined();
  expect(projectionPointerSchema.parse(after)).toEqual(after);
  expect(dropKept(after)).toEqual({ live: 'green', shape: 1, lastRebuild: after.lastRebuild });
});

test('the same request is met once; the next one takes the place of the generation that was kept', () => {
  const request = (id: string) => ({ id, askedAt: noon.toISOString() });
  const begun = beginRebuild(firstPointer, 'r1', noon);
  expect(isNew(firstPointer, request('r1'))).toBe(true);
  expect(isNew(begun, request('r1'))).toBe(false);
  const after = flip(beginFilling(begun), same, noon);
  expect(isNew(after, request('r1'))).toBe(false);
  expect(isNew(after, request('r2'))).toBe(true);
  expect(beginRebuild(after, 'r2', noon).keptUntil).toBeUndefined();
});

test('what has an older shape is rebuilt once, and the request before it stays met', () => {
  const request = { id: 'r1', askedAt: noon.toISOString() };
  const before = flip(beginFilling(beginRebuild(firstPointer, 'r1', noon)), same, noon);
  const id = rebuildForShape(before, 2) ?? '';
  const after = flip(beginFilling(beginRebuild(before, id, noon)), { ...same, shape: 2 }, noon);
  expect(after).toMatchObject({ shape: 2, lastRebuild: { id } });
  expect(rebuildForShape(after, 2)).toBeUndefined();
  expect(isNew(after, request)).toBe(false);
  expect(projectionPointerSchema.parse(after)).toEqual(after);
  // A projector of the version before does not go back by itself, and what an operator called off is not begun again.
  expect(rebuildForShape(after, 1)).toBeUndefined();
  expect(rebuildForShape(callOff(beginRebuild(before, id, noon), 'r2', noon), 2)).toBeUndefined();
});

test('a rebuild that was called off leaves what is read as it was, and the request is met', () => {
  const begun = beginFilling(beginRebuild(firstPointer, 'r1', noon));
  const after = callOff(begun, 'r2', noon);
  expect(after).toEqual({ live: 'blue', calledOff: { id: 'r2', at: noon.toISOString(), rebuildId: 'r1' } });
  expect(isNew(begun, { id: 'r2', askedAt: noon.toISOString(), callOff: true })).toBe(true);
  expect(isNew(after, { id: 'r2', askedAt: noon.toISOString(), callOff: true })).toBe(false);
});

test('of many differences all are counted and the first are named', () => {
  const different = Array.from({ length: 30 }, (_, n) => `jobStatus/${n}`);
  const { lastRebuild } = flip(
    beginFilling(beginRebuild(firstPointer, 'r1', noon)),
    { ...same, comparison: { documentCount: 40, different } },
    noon,
  );
  expect(lastRebuild).toMatchObject({ documentCount: 40, differentCount: 30 });
  expect(lastRebuild?.different).toHaveLength(20);
  expect(lastRebuild).not.toHaveProperty('setAside');
});

test('a projector that gives up still ends its step, so that the next leader has the generation to itself', async () => {
  const bus = memoryBus();
  await bus.projections.pointers.put('exports', beginRebuild(firstPointer, 'r1', noon));
  const happened: string[] = [];
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  bus.projectionReaders.exports = () => failed;
  bus.projections.startOver = async () => {
    fail(new Error('The follower cannot read.'));
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
    happened.push('emptied');
  };
  const run = {
    bus,
    instance: 'test',
    clock: { now: () => noon },
    auditKey: testAuditKey,
    logger: pino({ level: 'silent' }),
    source: exportProjection,
  };
  await leadProjection(run, new AbortController().signal).catch((error: Error) => happened.push(error.message));
  expect(happened).toEqual(['emptied', 'The follower cannot read.']);
});
