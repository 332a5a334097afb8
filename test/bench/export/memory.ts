import { randomFillSync } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { ServiceName } from '#infra/supervisor/services.ts';
import { blobKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { siteModelSchema } from '#shared/docs/project/site-model.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { generatedProject } from '../../support/docs-projects.ts';
import { forgetSegments, publishArchive } from '../../support/installation-exports.ts';
import type { TestInstallation } from '../../support/start-installation.ts';
import { exportToLink, objectStoreOf, startExportInstallation } from './export-installation.ts';
import { type Bench, type Measurement, ratio, shown, table } from './measurement.ts';
import { peakBytes, resetPeak } from './process-usage.ts';

const MB = 1e6;
const fileBytes = 5 * MB;
const small = 10 * MB;
/** Size of the large project, just below the limit of 2 GB. */
const large = 1_900 * MB;
const services = ['bundler', 'orchestrator', 'page-renderer'] as const satisfies readonly ServiceName[];

type Peaks = { bundleBytes: number; seconds: number; services: Map<ServiceName, number | undefined> };

/** Peak memory of the services for a small bundle and for a very large one: it must not grow with the bundle. */
export const memory: Measurement = {
  name: 'memory',
  about: 'peak memory of bundler and orchestrator over bundles of 10 MB and 2 GB',
  run: (bench) => bench.using(startExportInstallation(), (harness) => measured(bench, harness)),
};

async function measured(bench: Bench, harness: TestInstallation): Promise<void> {
  const { bavail, bsize } = await statfs(harness.folder);
  // The disk needs room for the files, their segments and the bundle.
  const needed = 3.5 * large;
  if (bavail * bsize < needed) {
    bench.print(
      `Memory: not measured, ${harness.folder} has less than ${shown(needed / MB)} MB left. TMPDIR names another folder.`,
    );
    return;
  }
  await publishWithFiles(harness, 'Warm', small);
  // The first exports of fresh processes also load and compile.
  for (let run = 0; run < 3; run += 1) await peaksOf(harness);
  await publishWithFiles(harness, 'Small', small);
  const ofSmall = await peaksOf(harness);
  bench.progress(`a bundle of ${shown(large / MB)} MB`);
  await publishWithFiles(harness, 'Large', large);
  const ofLarge = await peaksOf(harness);
  const rows = services.map((service) => {
    const [before, after] = [ofSmall.services.get(service), ofLarge.services.get(service)];
    const inMb = (bytes: number | undefined) => shown(bytes === undefined ? undefined : bytes / MB);
    return [service, inMb(before), inMb(after), ratio(after, before)];
  });
  const sizes = [ofSmall, ofLarge].map(({ bundleBytes }) => `${shown(bundleBytes / MB)} MB`);
  bench.print(`Peak memory in MB (VmHWM) over one export, by the size of its bundle\n`);
  bench.print(
    table(['', ...sizes, 'ratio'], [...rows, ['seconds', shown(ofSmall.seconds), shown(ofLarge.seconds), '']]),
  );
  bench.print('  page-renderer: without its children, which see pages one by one.');
}

async function peaksOf(harness: TestInstallation): Promise<Peaks> {
  await forgetSegments(harness);
  const pids = services.flatMap((service) => harness.installation.pids(service).map((pid) => ({ service, pid })));
  const wereReset = new Set(pids.filter(({ pid }) => resetPeak(pid)).map(({ pid }) => pid));
  const { link, seconds } = await exportToLink(harness.admin, harness.domain);
  const peaks = pids.map(({ service, pid }) => [service, wereReset.has(pid) ? peakBytes(pid) : undefined] as const);
  return { bundleBytes: link.sizeBytes, seconds, services: new Map(peaks) };
}

/**
 * Publishes a small site, then adds files of random bytes to its model and to the store, without the services. Publication would store the
 * same, but would have to pack and unpack two gigabytes.
 */
async function publishWithFiles(harness: TestInstallation, name: string, bytes: number): Promise<void> {
  const { contentVersion } = await publishArchive(harness, await generatedProject(name, 10));
  const store = objectStoreOf(harness);
  const assets = [];
  for (let at = 0; at < bytes / fileBytes; at += 1) {
    const body = randomFillSync(Buffer.alloc(fileBytes));
    const sha256 = sha256Of(body);
    await store.put(blobKey(harness.organization, sha256), body);
    assets.push({ path: `files/file-${String(at).padStart(4, '0')}.bin`, sha256, sizeBytes: fileBytes });
    await setImmediate();
  }
  const key = siteModelKey({ ...harness, contentVersion });
  const model = siteModelSchema.parse(JSON.parse(Buffer.from((await store.get(key)) ?? '').toString()));
  await store.put(key, Buffer.from(JSON.stringify({ ...model, assets })));
}
