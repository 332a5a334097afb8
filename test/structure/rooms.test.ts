import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { importsOf } from './broken-rules.ts';
import { sourceFiles } from './source-files.ts';

const sources = [...sourceFiles()].filter(([file]) => !/\.test\.(ts|mjs)$/.test(file));

/** Groups of files that import each other, directly or through others. Imports of types count. */
function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file);
    if (at >= 0) circles.push([...path.slice(at), file]);
    if (at >= 0 || done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return circles;
}

test('there are no circular imports, types included', () => {
  expect(
    circlesIn(
      new Map([
        ['a', ['b']],
        ['b', ['c', 'a']],
        ['c', []],
      ]),
    ),
  ).toEqual([['a', 'b', 'a']]);
  const graph = new Map(
    // A dynamic import at run time makes no circle.
    sources.map(([file, source]) => [
      file,
      importsOf(file, source).flatMap(({ path, dynamic }) => (dynamic ? [] : (path ?? []))),
    ]),
  );
  const advice = 'move what both files need into a third one, or join them';
  expect(
    circlesIn(graph).map((circle) => circle.join(' -> ')),
    advice,
  ).toEqual([]);
});

/** The floors of `shared`, from the ground up. A room imports only rooms of lower floors. */
const floors = [
  ['runtime'],
  ['http', 'storage', 'contracts'],
  ['aggregates', 'export'],
  ['interfaces'],
  ['messaging'],
  ['service', 'login'],
  ['embedding'],
  ['search'],
  ['docs'],
  ['timeline', 'mcp'],
];

const floorsText = floors.map((rooms) => rooms.join(', ')).join(' < ');

test('a room of shared/ imports only rooms of lower floors', () => {
  const floorOf = new Map(floors.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)));
  const wrong = sources.flatMap(([file, source]) => {
    const [top, room = ''] = file.split('/');
    if (top !== 'shared') return [];
    return importsOf(file, source).flatMap(({ path = '' }) => {
      const [, target = ''] = path.split('/');
      if (!path.startsWith('shared/') || target === room) return [];
      const isLower = (floorOf.get(target) ?? Infinity) < (floorOf.get(room) ?? -1);
      return isLower ? [] : [`${file} imports ${path}: shared/${target} is not on a lower floor than shared/${room}`];
    });
  });
  expect(wrong, `move the code to a floor where both may import it; the floors: ${floorsText}`).toEqual([]);
  expect(
    new Set(sources.flatMap(([file]) => (file.startsWith('shared/') ? [file.split('/')[1]] : []))),
    'write a new room of shared/ into `floors` of this file, and one that is gone out of it',
  ).toEqual(new Set(floorOf.keys()));
});

const leastLines = 150;
const mostLines = 5_000;

test(`a folder of shared/ has ${leastLines} lines or more, and sub-folders from ${mostLines} on`, () => {
  const lines = new Map<string, number>();
  const withFolders = new Set<string>();
  for (const [file, source] of sources) {
    // Programs in folders like `test-children` are started only by tests.
    if (!file.startsWith('shared/') || file.includes('/test-')) continue;
    for (let folder = posix.dirname(file); folder !== 'shared'; folder = posix.dirname(folder)) {
      lines.set(folder, (lines.get(folder) ?? 0) + source.split('\n').length - 1);
      withFolders.add(posix.dirname(folder));
    }
  }
  expect(lines.size).toBeGreaterThan(10);
  const wrong = [...lines].flatMap(([folder, count]) => {
    if (count < leastLines) return [`${folder} has ${count} lines: move its files into the folder above`];
    if (count > mostLines && !withFolders.has(folder)) return [`${folder} has ${count} lines: divide it into folders`];
    return [];
  });
  expect(wrong).toEqual([]);
});

test('a test replaces no module unless its file has a process of its own: in a shared process the module may be loaded already', () => {
  const sharing = [...sourceFiles()].filter(
    ([file]) => /\.test\.(ts|mjs)$/.test(file) && !/\.alone\.test\.|^test\/slow\//.test(file),
  );
  expect(
    sharing.filter(([, source]) => source.includes('vi.mock(')).map(([file]) => file),
    'give the code what it needs as an argument, such as an adapter of test/support, or name the file *.alone.test.ts',
  ).toEqual([]);
});
