/*
 * The reference for an export: renders and packs the pages of an export plan one after the other in this one process, without services, children or
 * messages. `node plain-loop.ts <object folder> <organization> <plan hash> <rounds> [most pages]` prints a JSON line of each round.
 */
import { packRendered } from '#shared/export/bundle/pack-export.ts';
import { blobKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { siteModelSchema } from '#shared/docs/project/site-model.ts';
import { readPlan } from '#shared/export/export-objects.ts';
import { testObjectStore } from '../../support/test-object-store.ts';
import { pageSlice } from '#shared/docs/render/page-slice.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { renderPage } from '#shared/docs/render/render-page.ts';
import type { RenderedText } from '#shared/docs/render/bundle-paths.ts';

export type PlainRound = { pages: number; render: Cost; pack: Cost };
export type Cost = { seconds: number; cpuSeconds: number };

const [folder = '', organization = '', planHash = '', rounds = '1', mostPages = 'Infinity'] = process.argv.slice(2);
const store = testObjectStore(folder);
const read = async (key: string): Promise<Buffer> => Buffer.from((await store.get(key)) ?? '');

const plan = await readPlan(store, organization, planHash);
const key = siteModelKey(plan);
const model = siteModelSchema.parse(JSON.parse((await read(key)).toString()));
const planned = plan.chunks.flatMap((chunk) => (chunk.kind === 'pages' ? [chunk.paths] : []));
const index = indexSite(model, planned.flat());
const interval = Math.max(1, Math.ceil(planned.flat().length / Number(mostPages)));
const chunks = planned.filter((_, at) => at % interval === 0);

const sources = new Map<string, Buffer>();
for (const path of chunks.flat()) {
  const slice = pageSlice(index, path, plan);
  for (const { sha256 } of [slice, ...slice.dependencies])
    if (!sources.has(sha256)) sources.set(sha256, await read(blobKey(organization, sha256)));
}

for (let round = 0; round < Number(rounds); round += 1) {
  const total: PlainRound = {
    pages: chunks.flat().length,
    render: { seconds: 0, cpuSeconds: 0 },
    pack: { seconds: 0, cpuSeconds: 0 },
  };
  for (const paths of chunks) {
    const files = await timed(total.render, async () => paths.flatMap(rendered));
    await timed(total.pack, () => packRendered(plan.domain, files));
  }
  process.stdout.write(`${JSON.stringify(total)}\n`);
}

function rendered(path: string): RenderedText[] {
  const slice = pageSlice(index, path, plan);
  const texts = slice.dependencies.map((file) => [file.path, sources.get(file.sha256)?.toString() ?? '']);
  const dependencies = Object.fromEntries(texts) as Record<string, string>;
  return renderPage({ slice, source: sources.get(slice.sha256) ?? '', dependencies, options: plan }).files;
}

async function timed<T>(cost: Cost, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  cost.seconds += (performance.now() - startedAt) / 1_000;
  cost.cpuSeconds += (user + system) / 1_000_000;
  return result;
}
