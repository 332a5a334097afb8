import { relative } from 'node:path';

type Count = { total: number; covered: number };
/** Coverage of one file, in the form of the coverage library's summary. */
export type FileCoverage = { lines: Count; branches: Count };
/** Percentages of a room. A room without branches has all of them covered. */
type RoomCoverage = { lines: number; branches: number };
export type Floors = Record<string, RoomCoverage>;

/** Coverage of each room, the first two parts of a path, sorted by name. A file directly in `services` counts for `services`. */
export function coverageByRoom(
  files: Readonly<Record<string, FileCoverage>>,
  root: string,
): ReadonlyMap<string, RoomCoverage> {
  const sums = new Map<string, FileCoverage>();
  for (const [file, { lines, branches }] of Object.entries(files)) {
    const room = relative(root, file).split('/').slice(0, -1).slice(0, 2).join('/');
    const sum = sums.get(room) ?? { lines: { total: 0, covered: 0 }, branches: { total: 0, covered: 0 } };
    sums.set(room, { lines: added(sum.lines, lines), branches: added(sum.branches, branches) });
  }
  const sorted = [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(
    sorted.map(([room, { lines, branches }]) => [room, { lines: percentOf(lines), branches: percentOf(branches) }]),
  );
}

const added = (a: Count, b: Count): Count => ({ total: a.total + b.total, covered: a.covered + b.covered });
const percentOf = ({ total, covered }: Count): number => (total === 0 ? 100 : (100 * covered) / total);

/** Floors in whole percent, rounded down, so that a small change of a file does not fail. */
export function floorsOf(rooms: ReadonlyMap<string, RoomCoverage>): Floors {
  return Object.fromEntries(
    [...rooms].map(([room, { lines, branches }]) => [
      room,
      { lines: Math.floor(lines), branches: Math.floor(branches) },
    ]),
  );
}

/** A sentence for each room that is below its floor or has none, and for each floor without a room. */
export function fallen(rooms: ReadonlyMap<string, RoomCoverage>, floors: Floors): string[] {
  const ofRooms = [...rooms].flatMap(([room, now]) => {
    const floor = floors[room];
    if (floor === undefined) return [`${room} has no floor. Write one with \`npm run test:coverage -- --write\`.`];
    return (['lines', 'branches'] as const).flatMap((what) =>
      now[what] < floor[what]
        ? [
            `${room}: ${now[what].toFixed(1)} % of the ${what} are covered, below the floor of ${floor[what]} %. Add tests.`,
          ]
        : [],
    );
  });
  const gone = Object.keys(floors).filter((room) => !rooms.has(room));
  return [...ofRooms, ...gone.map((room) => `${room} has a floor, but no files. Remove it from coverage-floors.json.`)];
}
