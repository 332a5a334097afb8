import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stoppable } from './bench.ts';

export async function temporaryFolder(): Promise<Stoppable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'bindery-bench-'));
  return { path, stop: () => rm(path, { recursive: true, force: true }) };
}
