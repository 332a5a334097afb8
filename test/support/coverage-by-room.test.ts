import { expect, test } from 'vitest';
import { coverageByRoom, fallen, floorsOf } from './coverage-by-room.ts';

const file = (covered: number, total: number, coveredBranches = 1, totalBranches = 1) => ({
  lines: { total, covered },
  branches: { total: totalBranches, covered: coveredBranches },
});
const rooms = coverageByRoom(
  {
    '/clone/shared/docs/render/a.ts': file(90, 100, 1, 3),
    '/clone/shared/docs/b.ts': file(9, 20),
    '/clone/shared/http/c.ts': file(5, 5, 0, 0),
    '/clone/services/errors.ts': file(0, 5),
  },
  '/clone',
);

test('a room has the sum of its files', () => {
  expect(Object.fromEntries(rooms)).toEqual({
    services: { lines: 0, branches: 100 },
    'shared/docs': { lines: 82.5, branches: 50 },
    'shared/http': { lines: 100, branches: 100 },
  });
});

test('floors are whole percents that the rooms reach', () => {
  expect(floorsOf(rooms)['shared/docs']).toEqual({ lines: 82, branches: 50 });
  expect(fallen(rooms, floorsOf(rooms))).toEqual([]);
});

test('a room below its floor, a room without one, and a floor without a room are named', () => {
  const floors = {
    'shared/docs': { lines: 83, branches: 50 },
    'shared/http': { lines: 0, branches: 0 },
    gone: { lines: 1, branches: 1 },
  };
  expect(fallen(rooms, floors)).toEqual([
    'services has no floor. Write one with `npm run test:coverage -- --write`.',
    'shared/docs: 82.5 % of the lines are covered, below the floor of 83 %. Add tests.',
    'gone has a floor, but no files. Remove it from coverage-floors.json.',
  ]);
});
