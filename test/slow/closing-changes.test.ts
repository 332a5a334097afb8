import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import {
  type ExportPlan,
  partFactsKey,
  partPrefix,
  partTextsKey,
  planKey,
  segmentKey,
  sidecarKey,
} from '#shared/contracts/stored-objects.ts';
import { handleRenderRequest } from '#shared/docs/render/render-request.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import { fitting } from '#shared/docs/sandbox/child-messages.ts';
import { readWholeSidecar } from '#shared/export/export-objects.ts';
import { type KeptPart, keptPartKeys, readPart, storePart } from '#shared/export/kept-parts.ts';
import { segmentRuns } from '#shared/export/segment-runs.ts';
import { canonicalJson, sha256Of } from '#shared/runtime/canonical-json.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { makePlan } from '#services/orchestrator/make-plan.ts';
import { plannedSites, projectTexts, type PlannedSite } from '#services/page-renderer/planned-sites.ts';
import { renderClosing } from '#services/page-renderer/render-closing.ts';
import { renderChunk } from '#services/page-renderer/render-segment.ts';
import { digestStates } from '#services/page-renderer/running-digest.ts';
import { workOnTask } from '#services/page-renderer/work-on-task.ts';
import { memoryProject } from '../support/memory-project.ts';
import { storeProject } from '../support/stored-project.ts';
import { testLogger } from '../support/test-logger.ts';
import { testObjectStore } from '../support/test-object-store.ts';

const organization = 'acme';
const { signal } = new AbortController();

/** A pool that answers requests in this process, without child processes. */
const pool: ChildPool = {
  async run(request, { expects, answers }) {
    const ask = (question: unknown) =>
      answers?.answer(question) ?? Promise.reject(new Error('the request has no answers'));
    const response = fitting(expects.schema, await handleRenderRequest(structuredClone(request), ask), 'an answer');
    await expects.verify?.(response);
    return response;
  },
  drain: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

const contextOf = (objectStore: ObjectStore, digests = digestStates()) => ({
  ...{ objectStore, pool, digests, freshPool: () => pool, pageDeadlineMs: 60_000, logger: testLogger },
  ...{ sites: plannedSites(objectStore), texts: projectTexts(objectStore) },
  retry: { firstPauseMs: 1, longestPauseMs: 1, giveUpAfterMs: 0 },
  measures: { pages: () => undefined, chunk: () => undefined },
});

/** Stores a project as it is published and exported, up to its closing segment. */
async function renderedSite(
  objectStore: ObjectStore,
  files: Record<string, string>,
  domain = 'docs',
  of = organization,
) {
  const contentVersion = `cv_${sha256Of(JSON.stringify(files)).slice(0, 32)}`;
  const id = { organization: of, domain, contentVersion };
  const model = await storeProject(objectStore, id, memoryProject(files));
  const options = { deployment: 'client-hosted', onPageError: 'report', allowTenantScripts: true, groups: [] } as const;
  const { plan } = await makePlan({
    ...id,
    label: undefined,
    options: { ...options, groups: [] },
    model,
    rendererVersion: 'r-000000000000',
  });
  const exported = plan.chunks.flatMap((chunk) => (chunk.kind === 'pages' ? chunk.paths : []));
  const projectFiles = [...model.assets, ...model.styles, ...model.specs, ...model.scripts];
  const site: PlannedSite = {
    ...{ plan, exported, index: indexSite(model, exported) },
    files: new Map(projectFiles.map((file) => [file.path, file])),
  };
  const context = { ...contextOf(objectStore), facts: undefined as never, clock: undefined as never, renderer: '' };
  for (const chunk of plan.chunks) {
    const outcome = await renderChunk(context as never, site, chunk, { alone: false, signal });
    expect(outcome).toMatchObject({ kind: 'rendered' });
  }
  return site;
}

/** The stored closing segment of a site and its sidecar. */
async function closed(objectStore: ObjectStore, site: PlannedSite, digests = digestStates()): Promise<Buffer> {
  expect(await renderClosing(contextOf(objectStore, digests), site.plan, signal)).toMatchObject({ kind: 'rendered' });
  return storedClosing(objectStore, site);
}

async function storedClosing(objectStore: ObjectStore, { plan }: PlannedSite): Promise<Buffer> {
  const names = [segmentKey(plan.organization, plan.closingKey), sidecarKey(plan.organization, plan.closingKey)];
  const stored = await Promise.all(names.map((name) => objectStore.get(name)));
  return Buffer.concat(stored.map((bytes) => bytes ?? Buffer.of()));
}

/** A store in memory, because a store in a folder would wait for the disk at each of thousands of objects. */
function memoryStore(): ObjectStore {
  const objects = new Map<string, Uint8Array>();
  const read = (key: string, range: { start: number; end?: number } | undefined): Uint8Array | undefined => {
    const bytes = objects.get(key);
    if (range !== undefined && bytes !== undefined && range.start >= bytes.length) throw new RangeError('too far');
    const { start = 0, end = Infinity } = range ?? {};
    return bytes?.subarray(start, end + 1);
  };
  return {
    ...testObjectStore(),
    put: async (key, body) => void objects.set(key, body),
    putStream: async (key, body) => void objects.set(key, await buffer(body)),
    get: async (key, { range } = {}) => read(key, range),
    async getStream(key, { range } = {}) {
      const bytes = read(key, range);
      return bytes && Readable.from([bytes]);
    },
    async head(key) {
      const bytes = objects.get(key);
      return bytes && { sizeBytes: bytes.length, modifiedAt: new Date(), metadata: {} };
    },
    remove: async (key) => void objects.delete(key),
  };
}

/** A store with the same objects, but without parts that are kept from earlier closing segments. */
const withoutParts = (objectStore: ObjectStore): ObjectStore => ({
  ...objectStore,
  get: (key, options) => (key.startsWith(partPrefix) ? Promise.resolve(undefined) : objectStore.get(key, options)),
});

/** Counts the sidecars that are read whole. */
function counting(objectStore: ObjectStore): { store: ObjectStore; count: () => number } {
  let count = 0;
  const store: ObjectStore = {
    ...objectStore,
    get(key, options) {
      if (key.startsWith('segments/')) count += 1;
      return objectStore.get(key, options);
    },
  };
  return { store, count: () => count };
}

function randomFrom(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

type Random = ReturnType<typeof randomFrom>;

/** A page that is so large that it fills a chunk. */
function pageText(random: Random, seed: number): string {
  const links = Array.from({ length: 6 }, () => `[to](/part/page-${random(90)}#h-${random(4)})`).join(' ');
  const lines = Array.from(
    { length: 4_200 },
    (_, at) => `line ${at} of ${(seed * 7_919 + at * at) % 99_991} and more text here`,
  );
  return [
    `---\ntitle: Page ${seed}\ndescription: About ${seed}\n---\n`,
    ...(seed % 5 === 0 ? ['import Note from "/snippets/note.mdx"\n\n<Note />\n'] : []),
    ...(seed % 9 === 0 ? [`<Update label="Week ${seed}">New ${seed}</Update>\n`] : []),
    `## H ${random(4)}\n\n<div className="mt-${random(90)} p-${random(40)}">${links}</div>\n\n## H ${random(4)}\n`,
    `\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`,
  ].join('\n');
}

const specOf = (operations: number): string =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1' },
    paths: Object.fromEntries(
      Array.from({ length: operations }, (_, at) => [
        `/items-${at}`,
        { get: { summary: `Items ${at}`, responses: { 200: { description: `All ${operations}` } } } },
      ]),
    ),
  });

/** A project whose export has so many chunks that its closing segment keeps parts. */
function firstFiles(random: Random): { files: Record<string, string>; pages: string[] } {
  const pages = Array.from({ length: 75 }, (_, at) => `part/page-${at}`);
  const files: Record<string, string> = { 'snippets/note.mdx': 'The first note.', 'openapi.json': specOf(4) };
  for (const [at, page] of pages.entries()) files[`${page}.mdx`] = pageText(random, at);
  return { files, pages };
}

const docsJson = (name: string, pages: readonly string[]): string =>
  JSON.stringify({
    ...{ name, theme: 'mint', colors: { primary: '#0f766e' } },
    navigation: {
      groups: [
        { group: 'Pages', pages },
        { group: 'API', openapi: 'openapi.json' },
      ],
    },
  });

const changes = ['edit', 'add', 'remove', 'rename', 'navigation', 'snippet', 'settings', 'api'] as const;

test('the closing segment after each of 50 random changes is that of a first export, byte for byte', {
  timeout: 1_200_000,
}, async () => {
  const random = randomFrom(34);
  const objectStore = memoryStore();
  const digests = digestStates();
  const { files, pages } = firstFiles(random);
  let name = 'Test';
  let added = 100;
  const fewReads: string[] = [];
  for (let round = 0; round <= 50; round += 1) {
    const change = changes[round % 4 === 0 ? random(changes.length) : random(4)] ?? 'edit';
    const at = random(pages.length);
    const page = pages[at] ?? '';
    if (change === 'edit') files[`${page}.mdx`] = pageText(random, (added += 1));
    if (change === 'add') {
      const path = `part/page-${(added += 1)}`;
      pages.splice(at, 0, path);
      files[`${path}.mdx`] = pageText(random, added);
    }
    if (change === 'remove' || change === 'rename') {
      const text = files[`${page}.mdx`] ?? '';
      delete files[`${page}.mdx`];
      pages.splice(at, 1);
      if (change === 'rename') files[`part/moved-${(added += 1)}.mdx`] = text;
      if (change === 'rename') pages.splice(at, 0, `part/moved-${added}`);
    }
    if (change === 'navigation') pages.reverse();
    if (change === 'snippet') files['snippets/note.mdx'] = `A note of round ${round}.`;
    if (change === 'settings') name = `Test ${round}`;
    if (change === 'api') files['openapi.json'] = specOf(2 + random(5));
    files['docs.json'] = docsJson(name, pages);
    const site = await renderedSite(objectStore, files);
    const { store, count } = counting(objectStore);
    const changed = await closed(store, site, digests);
    if (count() < site.plan.chunks.length) fewReads.push(change);
    expect(changed.equals(await closed(withoutParts(objectStore), site)), `round ${round}: ${change}`).toBe(true);
  }
  // Most changes affect one page, so most closing segments read few sidecars.
  expect(fewReads.length).toBeGreaterThan(25);
});

test('a kept part that is missing, damaged or that of another site is made again', { timeout: 600_000 }, async () => {
  const objectStore = memoryStore();
  const { files, pages } = firstFiles(randomFrom(1));
  files['docs.json'] = docsJson('Test', pages);
  const site = await renderedSite(objectStore, files);
  const others = [
    await renderedSite(objectStore, files, 'docs', 'other'),
    await renderedSite(objectStore, files, 'guides'),
    await renderedSite(objectStore, { ...files, 'snippets/note.mdx': 'Another note.' }),
  ];
  for (const other of others) await closed(objectStore, other);
  const cold = await closed(objectStore, site);
  const keysOf = ({ plan }: { plan: ExportPlan }) => keptPartKeys(plan);
  expect(keysOf(site).length).toBeGreaterThan(2);
  const key = keysOf(site)[1] ?? '';
  const names = [partFactsKey(organization, key), partTextsKey(organization, key)];
  const own = await Promise.all(names.map(async (name) => Buffer.from((await objectStore.get(name)) ?? '')));
  expect(own.every(({ length }) => length > 0)).toBe(true);
  const of = async ({ plan }: PlannedSite, keyOf: (org: string, key: string) => string) =>
    Buffer.from((await objectStore.get(keyOf(plan.organization, keptPartKeys(plan)[1] ?? ''))) ?? '');
  const flipped = (bytes: Buffer, at: number): Buffer =>
    Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 1 : byte)));
  const damages: [string, number, Buffer | undefined][] = [];
  for (const [at, bytes] of own.entries()) {
    damages.push(['missing', at, undefined], ['empty', at, Buffer.of()], ['cut', at, bytes.subarray(0, -1)]);
    for (const place of [3, bytes.length >> 1, bytes.length - 1])
      damages.push([`flipped at ${place}`, at, flipped(bytes, place)]);
    for (const other of others)
      damages.push(['of another site', at, await of(other, at === 0 ? partFactsKey : partTextsKey)]);
  }
  for (const [what, at, bytes] of damages) {
    const name = names[at] ?? '';
    if (bytes === undefined) await objectStore.remove(name);
    else await objectStore.put(name, bytes);
    expect((await closed(objectStore, site)).equals(cold), `${what}: ${name}`).toBe(true);
    // The closing segment that reads the texts of a part finds that they are wrong, and the next one makes the part again.
    expect((await closed(objectStore, site)).equals(cold)).toBe(true);
    expect(Buffer.from((await objectStore.get(name)) ?? '').equals(own[at] ?? Buffer.of()), `${what}: ${name}`).toBe(
      true,
    );
  }
});

test('a replay reads no kept part', { timeout: 120_000 }, async () => {
  const objectStore = memoryStore();
  const { files, pages } = firstFiles(randomFrom(1));
  files['docs.json'] = docsJson('Test', pages);
  const site = await renderedSite(objectStore, files);
  const digests = digestStates();
  await closed(objectStore, site, digests);
  const { store, count } = counting(objectStore);
  await renderClosing(contextOf(store, digests), site.plan, signal);
  expect(count()).toBe(0);
  await renderClosing(contextOf(store, digests), site.plan, signal, { anew: true });
  expect(count()).toBe(site.plan.chunks.length);
});

test('the texts of a kept part are read once for all of its segments', { timeout: 120_000 }, async () => {
  const objectStore = memoryStore();
  const { files, pages } = firstFiles(randomFrom(1));
  files['docs.json'] = docsJson('Test', pages);
  const site = await renderedSite(objectStore, files);
  const cold = await closed(objectStore, site);
  const reads = new Map<string, number>();
  const store: ObjectStore = {
    ...objectStore,
    get(key, options) {
      if (options?.range !== undefined) reads.set(key, (reads.get(key) ?? 0) + 1);
      return objectStore.get(key, options);
    },
  };
  expect((await closed(store, site)).equals(cold)).toBe(true);
  const names = keptPartKeys(site.plan).map((key) => partTextsKey(organization, key));
  expect(names.length).toBeGreaterThan(0);
  // Those of the search and those of `llms-full.txt` are read one after the other.
  expect(new Map([...reads].filter(([key]) => names.includes(key)))).toEqual(new Map(names.map((name) => [name, 2])));
});

test('after a segment was lost no kept part is read: it may be made from other bytes of that segment', {
  timeout: 120_000,
}, async () => {
  const objectStore = memoryStore();
  const { files, pages } = firstFiles(randomFrom(1));
  files['docs.json'] = docsJson('Test', pages);
  const site = await renderedSite(objectStore, files);
  const cold = await closed(objectStore, site);
  const { plan } = site;
  const [run] = segmentRuns(plan);
  const [key = ''] = keptPartKeys(plan);
  const part = await readPart(objectStore, { organization, key });
  if (part === undefined || run === undefined) throw new Error('The site has no kept part.');
  const kept: KeptPart = part;
  const sidecars = await Promise.all(run.chunks.map((chunk) => readWholeSidecar(objectStore, organization, chunk.key)));
  const segments = part.segments.map((segment) => ({ ...segment, sha256: sha256Of(segment.sha256) }));
  const behind = sidecars.map((sidecar) => sidecar?.behind ?? new Uint8Array(0));

  /**
   * Runs a task whose closing segment is made from a kept part with other bytes.
   * Returns whether the segment equals one made from sidecars, and the facts that the task reports.
   */
  async function madeBy(segmentsLost?: true): Promise<{ isCold: boolean; facts: unknown[] }> {
    await storePart(objectStore, { organization, key }, { ...kept, segments }, behind, { signal });
    await objectStore.remove(sidecarKey(organization, plan.closingKey));
    const facts: unknown[] = [];
    const context = {
      ...{ ...contextOf(objectStore), sites: async () => site, random: () => 'x', instance: 'test' },
      ...{ clock: systemClock, facts: { record: async (fact: unknown) => void facts.push(fact) } },
    };
    const { domain, rendererVersion } = plan;
    const task: Parameters<typeof workOnTask>[1] = {
      version: 1,
      kind: 'closing',
      taskId: 'job.closing.1',
      jobId: 'job',
      attempt: 1,
      ...{ organization, domain, planHash, rendererVersion, segmentsLost },
    };
    await workOnTask(context, task, 1, signal);
    return { isCold: (await storedClosing(objectStore, site)).equals(cold), facts };
  }
  const planHash = sha256Of(canonicalJson(plan));
  await objectStore.put(planKey(organization, planHash), Buffer.from(canonicalJson(plan)));
  // The bundler finds that this one lists other segments, and reports it as lost.
  expect(await madeBy()).toMatchObject({ isCold: false, facts: [{ type: 'ClosingRendered' }] });
  expect(await madeBy(true)).toMatchObject({ isCold: true, facts: [{ type: 'ClosingRendered' }] });
  expect((await readPart(objectStore, { organization, key }))?.segments).toEqual(part.segments);
});
