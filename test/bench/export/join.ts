import { spawn } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { joinBundle, segmentSources } from '#services/bundler/join-bundle.ts';
import { type ExportPlan, segmentKey, sidecarKey } from '#shared/contracts/stored-objects.ts';
import { joinSegments } from '#shared/export/bundle/join-segments.ts';
import { packSegment } from '#shared/export/bundle/segment-writer.ts';
import { segmentsDigest } from '#shared/export/export-objects.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import { testObjectStore } from '../../support/test-object-store.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { type Bench, type Measurement, medianOf, ratio, shown, table, temporaryFolder } from './measurement.ts';
import { exportPlan } from '../../support/make-commit.ts';

const organization = 'bench';
const cases = [
  { name: '64 segments of 8 MB', segments: 64, bytes: 8_000_000 },
  { name: '2,000 segments of 128 kB', segments: 2_000, bytes: 128_000 },
];
const planHash = sha256Of('bench');

/** Joins segments on the folder store, compared with copying the same bytes to a file. Every variant syncs the bytes to disk. */
export const join: Measurement = {
  name: 'join',
  about: 'joining segments in MB/s, against a plain copy of the same bytes and `cat`',
  async run(bench) {
    for (const { name, segments, bytes } of cases) {
      await bench.using(temporaryFolder(), ({ path }) => measured(bench, path, { name, segments, bytes }));
    }
  },
};

async function measured(
  bench: Bench,
  folder: string,
  { name, segments, bytes }: (typeof cases)[number],
): Promise<void> {
  const store = testObjectStore(folder);
  const plan = await storedPlan(store, segments, bytes);
  const found = await segmentSources(store, plan);
  if (found.kind === 'lost') throw new Error(`The segments of the benchmark are not there: ${found.reason}.`);
  const files = [...plan.chunks.map(({ key }) => key), plan.closingKey].map((key) =>
    joinPath(folder, 'stored', `${segmentKey(organization, key)}#`),
  );
  const target = joinPath(folder, 'copy');
  let bundleKey = '';
  const ways: Record<string, () => Promise<unknown>> = {
    'plain stream copy': () => written(target, (file) => copyEach(files, file)),
    '`cat` of the segments': () => written(target, (file) => cat(files, file)),
    'join alone, to a file': () => written(target, (file) => file.writeFile(joinSegments(found.sources))),
    'bundler: check, join, store': async () => {
      const outcome = await joinBundle(store, plan, planHash, {
        clock: systemClock,
        signal: new AbortController().signal,
      });
      if (outcome.kind === 'lost') throw new Error(`The segments of the benchmark are damaged: ${outcome.reason}.`);
      bundleKey = outcome.bundleKey;
    },
  };
  const rates = new Map<string, number[]>(Object.keys(ways).map((way) => [way, []]));
  // The first round fills the file cache and compiles; it is not counted.
  for (let run = -1; run < bench.runs; run += 1) {
    for (const [way, work] of Object.entries(ways)) {
      const startedAt = performance.now();
      await work();
      const seconds = (performance.now() - startedAt) / 1_000;
      if (run >= 0) rates.get(way)?.push((segments * bytes) / 1e6 / seconds);
      await rm(target, { force: true });
      if (bundleKey !== '') await store.remove(bundleKey);
    }
  }
  const copy = medianOf(rates.get('plain stream copy') ?? []);
  bench.print(`Joining ${name}, folder store; medians of ${bench.runs}\n`);
  bench.print(
    table(
      ['', 'MB/s', 'to the copy'],
      [...rates].map(([way, all]) => [way, shown(medianOf(all)), ratio(medianOf(all), copy)]),
    ),
  );
  bench.print('  Each ends when the disk has the bytes (fsync); the segments are in the file cache.\n');
}

/** Identical segments of incompressible bytes: joining reads only their digests. */
async function storedPlan(store: ObjectStore, count: number, bytes: number): Promise<ExportPlan> {
  const { bytes: packed, ...summary } = await packSegment([
    { path: 'docs/file', body: randomFillSync(Buffer.alloc(bytes)) },
  ]);
  const put = async (name: string, details: object = {}) => {
    const key = sha256Of(name);
    const sidecar = { version: 1, ...summary, pages: [], diagnostics: [], ...details };
    await store.put(segmentKey(organization, key), packed);
    await store.put(sidecarKey(organization, key), Buffer.from(JSON.stringify(sidecar)));
    return key;
  };
  const chunks: ExportPlan['chunks'] = [];
  for (let at = 0; at < count - 1; at += 1) {
    chunks.push({ kind: 'assets', key: await put(`segment ${at}`), paths: ['file'] });
  }
  const closingKey = await put('closing', { madeFrom: segmentsDigest(chunks.map(() => summary)) });
  return exportPlan({ organization, chunks, closingKey });
}

async function written(target: string, write: (file: FileHandle) => Promise<unknown>): Promise<void> {
  const file = await open(target, 'w');
  try {
    await write(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function copyEach(files: readonly string[], target: FileHandle): Promise<void> {
  for (const file of files) await target.writeFile(createReadStream(file, { highWaterMark: 256 * 1024 }));
}

async function cat(files: readonly string[], target: FileHandle): Promise<void> {
  const [code] = await once(spawn('cat', files, { stdio: ['ignore', target.fd, 'inherit'] }), 'exit');
  if (code !== 0) throw new Error(`cat ended with code ${String(code)}.`);
}
