import { expect, test } from 'vitest';
import { projectionPointerSchema } from '#shared/contracts/read-models.ts';
import { asked, filling, firstPointer, flipped, givenUp, isNew } from './lead-projection.ts';

const noon = new Date('2026-03-01T12:00:00.000Z');
const same = { documentCount: 3, different: [] };

test('a rebuild goes from asked over filling to the other generation, which is read while the old one is kept a day', () => {
  const begun = asked(firstPointer, 'r1', noon);
  expect(begun).toEqual({
    live: 'blue',
    rebuild: { id: 'r1', startedAt: '2026-03-01T12:00:00.000Z', state: 'asked' },
  });
  const after = flipped(filling(begun), same, noon);
  expect(after).toMatchObject({ live: 'green', keptUntil: '2026-03-02T12:00:00.000Z', lastRebuild: { id: 'r1' } });
  expect(after.rebuild).toBeUndefined();
  expect(projectionPointerSchema.parse(after)).toEqual(after);
  expect(givenUp(after)).toEqual({ live: 'green', lastRebuild: after.lastRebuild });
});

test('the same wish is fulfilled once; the next one takes the place of the generation that was kept', () => {
  const request = (id: string) => ({ id, askedAt: noon.toISOString() });
  const begun = asked(firstPointer, 'r1', noon);
  expect(isNew(firstPointer, request('r1'))).toBe(true);
  expect(isNew(begun, request('r1'))).toBe(false);
  const after = flipped(filling(begun), same, noon);
  expect(isNew(after, request('r1'))).toBe(false);
  expect(isNew(after, request('r2'))).toBe(true);
  expect(asked(after, 'r2', noon).keptUntil).toBeUndefined();
});

test('of many differences all are counted and the first are named', () => {
  const different = Array.from({ length: 30 }, (_, n) => `jobStatus/${n}`);
  const { lastRebuild } = flipped(filling(asked(firstPointer, 'r1', noon)), { documentCount: 40, different }, noon);
  expect(lastRebuild).toMatchObject({ documentCount: 40, differentCount: 30 });
  expect(lastRebuild?.different).toHaveLength(20);
});
