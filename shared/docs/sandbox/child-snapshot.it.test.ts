import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChildProgram } from './child.ts';
import { childPool } from './child-pool.ts';
import { anything } from './child-request.ts';
import { withSnapshot } from './child-snapshot.ts';

describe('a snapshot of a child', () => {
  let folder: string;
  let program: ChildProgram;
  let snapshot: string;
  let made: Buffer;
  let warnings: string[] = [];
  const log = { info: () => undefined, warn: (line: string) => void warnings.push(line) };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bindery-snapshot-'));
    const file = join(folder, 'small-child.ts');
    const server = JSON.stringify(new URL('./child-server.ts', import.meta.url).href);
    await writeFile(file, `import { serveChild } from ${server};\nserveChild(async (value) => value);\n`);
    program = { entry: pathToFileURL(file) };
    ({ snapshot = '' } = await withSnapshot(program, log));
    made = await readFile(snapshot);
  });
  beforeEach(async () => {
    warnings = [];
    await writeFile(snapshot, made);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await rm(snapshot, { force: true });
  });

  function withChangedByte(at: number): Buffer {
    const bytes = Buffer.from(made);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    return bytes;
  }

  it.each([
    ['a byte near its beginning', () => withChangedByte(Math.floor(made.length / 4))],
    ['a byte near its end', () => withChangedByte(Math.floor((made.length * 3) / 4))],
    ['its last byte', () => withChangedByte(made.length - 1)],
    ['half of it', () => made.subarray(0, made.length / 2)],
    ['all of it', () => Buffer.alloc(0)],
  ])('is removed when %s was damaged', async (_what, damaged) => {
    expect(await withSnapshot(program, log)).toEqual({ ...program, snapshot });
    await writeFile(snapshot, damaged());
    expect(await withSnapshot(program, log)).toEqual(program);
    expect(warnings).toEqual([expect.stringContaining('their snapshot is damaged')]);
    expect(existsSync(snapshot)).toBe(false);
  });

  it('that is damaged while its service runs costs no request', async () => {
    const pool = childPool({ ...program, snapshot, slots: 1, warmSpares: 0 });
    try {
      await writeFile(snapshot, 'damaged');
      const answers = [1, 2, 3].map((at) =>
        pool.run(at, { expects: anything, deadlineMs: 20_000, affinity: `organization-${at}` }),
      );
      expect(await Promise.all(answers)).toEqual([1, 2, 3]);
    } finally {
      await pool.close();
    }
  });

  it('is built again when it is gone, and leftovers of interrupted builds are removed with it', async () => {
    await rm(snapshot);
    const left = join(dirname(snapshot), `making-left-${process.pid}`);
    await mkdir(left);
    const anHourAgo = new Date(Date.now() - 60 * 60 * 1000);
    await utimes(left, anHourAgo, anHourAgo);
    expect(await withSnapshot(program, log)).toEqual({ ...program, snapshot });
    expect(existsSync(snapshot)).toBe(true);
    expect(existsSync(left)).toBe(false);
  });
});
