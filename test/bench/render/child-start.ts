import { readFileSync } from 'node:fs';
import { pageReader } from '#services/indexer/cut-pages.ts';
import { renderChild } from '#services/page-renderer/render-pages.ts';
import { archiveReader } from '#services/publisher/project-files.ts';
import { projectReader } from '#shared/docs/project/analyze-project.ts';
import { type ChildProgram, processorTimeMs, startChild } from '#shared/docs/sandbox/child.ts';
import { withSnapshot } from '#shared/docs/sandbox/child-snapshot.ts';
import { medianOf, ratio, shown, table } from '../export/measurement.ts';

const programs: readonly [string, ChildProgram][] = [
  ['renderer', renderChild],
  ['indexer', pageReader],
  ['publisher: projects', projectReader],
  ['publisher: archives', archiveReader],
];

/** Table of the processor time (user and system) and resident memory of a child until it is ready, with and without a snapshot. */
export async function childStarts(runs: number, print: (text: string) => void): Promise<void> {
  const rows: string[][] = [];
  for (const [name, program] of programs) {
    const from = {
      modules: [] as Start[],
      snapshot: [] as Start[],
    };
    const prepared = await withSnapshot(program, { info: print, warn: print });
    // Alternating runs, so that other load of the machine affects both equally.
    for (let run = 0; run < runs; run += 1) {
      from.modules.push(await started(program));
      from.snapshot.push(await started(prepared));
    }
    const of = (kind: keyof typeof from, field: keyof Start) =>
      medianOf(from[kind].map((start) => start[field])) ?? Number.NaN;
    rows.push([
      name,
      shown(of('modules', 'cpuMs')),
      shown(of('snapshot', 'cpuMs')),
      ratio(of('snapshot', 'cpuMs'), of('modules', 'cpuMs')),
      shown(of('modules', 'memoryMb')),
      shown(of('snapshot', 'memoryMb')),
    ]);
  }
  print(`\n== start of a child; medians of ${runs}\n`);
  print(table(['', 'CPU ms, modules', 'snapshot', 'ratio', 'MB, modules', 'snapshot'], rows));
}

type Start = { cpuMs: number; memoryMb: number };

async function started(program: ChildProgram): Promise<Start> {
  const ready = Promise.withResolvers<void>();
  const child = startChild({ ...program, memoryLimitMb: 512 }, () => ready.resolve());
  void child.ended.then(ready.reject);
  await ready.promise;
  const cpuMs = processorTimeMs(child.pid()) ?? Number.NaN;
  const status = readFileSync(`/proc/${child.pid()}/status`, 'utf8');
  const memoryMb = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
  child.kill();
  await child.ended;
  return { cpuMs, memoryMb };
}
