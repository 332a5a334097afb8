import { expect, test } from 'vitest';
import { projectionPointerSchema } from '#shared/interfaces/read-models.ts';
import * as pointer from './projection-pointer.ts';

const noon = new Date('2026-03-01T12:00:00.000Z');
const same = { comparison: { documentCount: 3, different: [] }, shape: 1 };

test('a rebuild goes from asked over filling to the other generation, which is read while the old one is kept a day', () => {
  const begun = pointer.beginRebuild(pointer.firstPointer, 'r1', noon);
  expect(begun).toEqual({
    live: 'blue',
    rebuild: { id: 'r1', startedAt: '2026-03-01T12:00:00.000Z', state: 'asked' },
  });
  const after = pointer.flip(pointer.beginFilling(begun), same, noon);
  expect(after).toMatchObject({ live: 'green', keptUntil: '2026-03-02T12:00:00.000Z', lastRebuild: { id: 'r1' } });
  expect(after.rebuild).toBeUndefined();
  expect(projectionPointerSchema.parse(after)).toEqual(after);
  expect(pointer.dropKept(after)).toEqual({ live: 'green', shape: 1, lastRebuild: after.lastRebuild });
});

test('the same request is met once; the next one takes the place of the generation that was kept', () => {
  const request = (id: string) => ({ id, askedAt: noon.toISOString() });
  const begun = pointer.beginRebuild(pointer.firstPointer, 'r1', noon);
  expect(pointer.isNew(pointer.firstPointer, request('r1'))).toBe(true);
  expect(pointer.isNew(begun, request('r1'))).toBe(false);
  const after = pointer.flip(pointer.beginFilling(begun), same, noon);
  expect(pointer.isNew(after, request('r1'))).toBe(false);
  expect(pointer.isNew(after, request('r2'))).toBe(true);
  expect(pointer.beginRebuild(after, 'r2', noon).keptUntil).toBeUndefined();
});

test('documents of an older shape are rebuilt once, and the earlier request stays met', () => {
  const request = { id: 'r1', askedAt: noon.toISOString() };
  const before = pointer.flip(pointer.beginFilling(pointer.beginRebuild(pointer.firstPointer, 'r1', noon)), same, noon);
  const id = pointer.rebuildForShape(before, 2) ?? '';
  const after = pointer.flip(pointer.beginFilling(pointer.beginRebuild(before, id, noon)), { ...same, shape: 2 }, noon);
  expect(after).toMatchObject({ shape: 2, lastRebuild: { id } });
  expect(pointer.rebuildForShape(after, 2)).toBeUndefined();
  expect(pointer.isNew(after, request)).toBe(false);
  expect(projectionPointerSchema.parse(after)).toEqual(after);
  // A projector of the previous version does not rebuild on its own, and a rebuild that an operator called off is not started again.
  expect(pointer.rebuildForShape(after, 1)).toBeUndefined();
  expect(
    pointer.rebuildForShape(pointer.callOff(pointer.beginRebuild(before, id, noon), 'r2', noon), 2),
  ).toBeUndefined();
});

test('documents of an older projector among newer ones are rebuilt when a newer one leads again', () => {
  const first = pointer.beginLeading({ ...pointer.firstPointer, shape: 3 }, 'newer', 3);
  expect(pointer.rebuildForShape(first, 3)).toBeUndefined();
  const again = pointer.beginLeading(first, 'its spare', 3);
  expect(pointer.rebuildForShape(again, 3)).toBeUndefined();
  // Previous versions drop a field that they do not know.
  const { leaderShape: _, ...unknown } = { ...again, leader: 'older' };
  for (const older of [unknown, pointer.beginLeading(again, 'older', 2)]) {
    const back = pointer.beginLeading(older, 'newer again', 3);
    expect(pointer.rebuildForShape(back, 3)).toBe('shape-3');
    expect(projectionPointerSchema.parse(back)).toEqual(back);
  }
  // The older projector continues with the existing documents.
  expect(pointer.rebuildForShape(pointer.beginLeading(again, 'older', 2), 2)).toBeUndefined();
});

test('a rebuild that was called off leaves the live generation unchanged, and the request is met', () => {
  const begun = pointer.beginFilling(pointer.beginRebuild(pointer.firstPointer, 'r1', noon));
  const after = pointer.callOff(begun, 'r2', noon);
  expect(after).toEqual({ live: 'blue', calledOff: { id: 'r2', at: noon.toISOString(), rebuildId: 'r1' } });
  expect(pointer.isNew(begun, { id: 'r2', askedAt: noon.toISOString(), callOff: true })).toBe(true);
  expect(pointer.isNew(after, { id: 'r2', askedAt: noon.toISOString(), callOff: true })).toBe(false);
});

test('all differences are counted and the first are named', () => {
  const different = Array.from({ length: 30 }, (_, n) => `jobStatus/${n}`);
  const { lastRebuild } = pointer.flip(
    pointer.beginFilling(pointer.beginRebuild(pointer.firstPointer, 'r1', noon)),
    { ...same, comparison: { documentCount: 40, different } },
    noon,
  );
  expect(lastRebuild).toMatchObject({ documentCount: 40, differentCount: 30 });
  expect(lastRebuild?.different).toHaveLength(20);
  expect(lastRebuild).not.toHaveProperty('setAside');
});

test('a generation that lost a bucket is rebuilt once, also where the new one still counts as lost', () => {
  const [at, later] = ['2026-03-01T10:00:00Z', '2026-03-02T10:00:00Z'];
  expect(pointer.rebuildForLoss(pointer.firstPointer, undefined)).toBeUndefined();
  const id = pointer.rebuildForLoss(pointer.firstPointer, at) ?? '';
  const met = { ...pointer.firstPointer, met: 'r1' };
  // After its clock was set back the bus says that the emptied generation is younger than its reader, too.
  const filling = pointer.beginFilling(pointer.beginRebuild(met, id, noon), at);
  expect(pointer.lacksDocuments(filling, 'green', at)).toBe(false);
  expect(pointer.lacksDocuments(filling, 'green', later)).toBe(true);
  const after = pointer.flip(filling, same, noon);
  expect(after.live).toBe('green');
  expect(pointer.rebuildForLoss(after, at)).toBeUndefined();
  expect(pointer.rebuildForLoss(after, later)).toBe(`lost-${later}`);
  expect(pointer.isNew(after, { id: 'r1', askedAt: noon.toISOString() })).toBe(false);
  expect(projectionPointerSchema.parse(after)).toEqual(after);
  const calledOff = pointer.callOff(pointer.beginRebuild(pointer.firstPointer, id, noon), 'r2', noon);
  expect(pointer.rebuildForLoss(calledOff, at)).toBeUndefined();
});
