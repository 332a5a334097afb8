/*
 * Measures the coverage of the unit tests by room, which is a folder of `services`, `shared` or `infra`. It fails if a test fails, or if the lines or
 * branches of a room fall below its floor in `coverage-floors.json`.
 *
 *   npm run test:coverage               compare with the floors
 *   npm run test:coverage -- --write    write the floors of today, in whole percent
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { coverageByRoom, fallen, type FileCoverage, type Floors, floorsOf } from './support/coverage-by-room.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const floorsFile = join(root, 'test/coverage-floors.json');
const folder = mkdtempSync(join(tmpdir(), 'coverage-'));
try {
  const program = join(root, 'node_modules/vitest/vitest.mjs');
  const coverage = ['--coverage.enabled', '--coverage.reportOnFailure', `--coverage.reportsDirectory=${folder}`];
  const { status } = spawnSync(process.execPath, [program, 'run', '--project', 'unit', ...coverage], {
    cwd: root,
    stdio: 'inherit',
  });
  const { total: _, ...files } = JSON.parse(readFileSync(join(folder, 'coverage-summary.json'), 'utf8')) as Record<
    string,
    FileCoverage
  >;
  const rooms = coverageByRoom(files, root);
  for (const [room, { lines, branches }] of rooms)
    process.stdout.write(`${room.padEnd(28)} lines ${lines.toFixed(1)} %   branches ${branches.toFixed(1)} %\n`);
  if (process.argv.includes('--write')) writeFileSync(floorsFile, `${JSON.stringify(floorsOf(rooms), null, 2)}\n`);
  const messages =
    status === 0 ? [] : ['A unit test failed; see above. Code that it did not reach counts as not covered.'];
  messages.push(...fallen(rooms, JSON.parse(readFileSync(floorsFile, 'utf8')) as Floors));
  for (const message of messages) process.stderr.write(`${message}\n`);
  process.exitCode = messages.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
