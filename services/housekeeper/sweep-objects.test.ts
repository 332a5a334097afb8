import { beforeEach, expect, test, vi } from 'vitest';
import type { ContentEvent } from '#shared/aggregates/content/content.ts';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { siteAggregate, type SiteEvent } from '#shared/aggregates/site/site.ts';
import {
  arrivedFilesKey,
  blobKey,
  bundleKey,
  planKey,
  segmentKey,
  selectionKey,
  sidecarKey,
  siteModelKey,
  versionFilesKey,
} from '#shared/contracts/stored-objects.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { contentLogSubject, siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { dayMs, randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { type ObjectStore, ObjectStoreUnavailable } from '#shared/storage/object-store.ts';
import { type AgingStore, agingStore } from '../../test/support/aging-store.ts';
import { housekeeperContext } from '../../test/support/housekeeper-context.ts';
import { contentCommit, exportCommit, exportState } from '../../test/support/make-commit.ts';
import { type MemoryBus, memoryBus } from '../../test/support/memory-bus.ts';
import type { HousekeeperContext } from './context.ts';
import { jobsInLog, keptJobsIn } from './kept-jobs.ts';
import { sweepObjects } from './sweep-objects.ts';

const now = new Date();
const daysAgo = (days: number) => new Date(now.getTime() - days * dayMs).toISOString();
const cv = (name: string) => `cv_${sha256Of(name).slice(0, 32)}`;
const never = new AbortController().signal;

let bus: MemoryBus;
let objects: AgingStore;
let store: ObjectStore;

beforeEach(async () => {
  bus = memoryBus();
  objects = agingStore();
  store = objects.store;
});

const house = (changes: Partial<HousekeeperContext> = {}) =>
  housekeeperContext({
    bus,
    objectStore: store,
    clock: { now: () => now },
    keptJobs: keptJobsIn(bus, store),
    ...changes,
  });
const sweep = (changes?: Partial<HousekeeperContext>) => sweepObjects(house(changes), never);
const put = (...keys: string[]) => Promise.all(keys.map((key) => store.put(key, Buffer.from(key))));

/** A content version with one file of its own and one that all share. */
async function publish(name: string, organization = 'acme'): Promise<string> {
  const contentVersion = cv(name);
  const own = sha256Of(`file of ${name}`);
  const shared = sha256Of('shared file');
  await put(blobKey(organization, own), blobKey(organization, shared));
  const model = { contentVersion, pages: [{ sha256: own }], assets: [{ sha256: shared }] };
  await store.put(siteModelKey({ organization, domain: 'docs', contentVersion }), Buffer.from(JSON.stringify(model)));
  await put(`contents/${organization}/docs/${contentVersion}/markdown/index.md`);
  const data = { organization, domain: 'docs', contentVersion, pageCount: 1, fileCount: 2, sizeBytes: 1 };
  await append({ type: 'ContentPublished', version: 1, data });
  return contentVersion;
}

async function append(event: ContentEvent): Promise<void> {
  const previous = await bus.content.last(contentLogSubject(event.data.organization, event.data.domain));
  await bus.content.append(contentCommit(event, previous), { sequence: previous?.sequence ?? 0 });
}
const endContent = (contentVersion: string) =>
  append({ type: 'ContentDeleted', version: 1, data: { organization: 'acme', domain: 'docs', contentVersion } });

/** A job with a plan of one segment and a closing one, all stored; returns the keys that it needs. */
async function job(name: string, contentVersion: string, state: Partial<ExportJobState>): Promise<string[]> {
  const planHash = sha256Of(`plan of ${name}`);
  const segments = [sha256Of(`segment of ${name}`), sha256Of(`closing of ${name}`)];
  const selection = selectionKey('acme', sha256Of(`pages of ${name}`));
  const plan = { chunks: [{ kind: 'site', key: segments[0] }], closingKey: segments[1] };
  await store.put(planKey('acme', planHash), Buffer.from(JSON.stringify(plan)));
  const keys = [
    selection,
    bundleKey('acme', 'docs', planHash),
    ...segments.flatMap((segment) => [segmentKey('acme', segment), sidecarKey('acme', segment)]),
  ];
  await put(...keys);
  await request(name, { contentVersion, planHash, phase: 'completed', ...state }, selection);
  return [planKey('acme', planHash), ...keys].toSorted();
}

async function request(name: string, state: Partial<ExportJobState>, selection?: string): Promise<void> {
  const initial = exportState({ jobId: `se_${sha256Of(name).slice(0, 22)}`, ...state });
  const options = { ...initial.options, ...(selection === undefined ? {} : { selectionKey: selection }) };
  await bus.exports.append(exportCommit({ ...initial, options }), { sequence: 0 });
}
const isThere = async (keys: string[]) => {
  const all = new Set(await objects.keys());
  return keys.map((key) => all.has(key));
};
const allOf = (keys: string[], value: boolean) => keys.map(() => value);

test('objects of deployments that readers see, or that a rollback can reach, stay however old they are', async () => {
  const content = await publish('one');
  const names = ['live', 'before', 'of a closed site'];
  const objectsOf = await Promise.all(names.map((name) => job(name, content, { completedAt: daysAgo(300) })));
  await deploy('docs', ['before', 'live']);
  await deploy('old', ['of a closed site'], true);
  await objects.age('', 300);
  await sweep();
  const [live = [], before = [], closed = []] = objectsOf;
  expect(await isThere([...live, ...before])).toEqual(allOf([...live, ...before], true));
  expect(await isThere(closed)).toEqual(allOf(closed, false));
});

/** Deploys the jobs of these names one after the other. */
async function deploy(domain: string, names: string[], isClosed = false): Promise<void> {
  const site = { organization: 'acme', domain };
  const settings = { name: domain, hosts: [], previews: true, organizationPlan: 'pro' as const };
  const events = names.flatMap((name, index): SiteEvent[] => {
    const deployment = index + 1;
    const jobId = `se_${sha256Of(name).slice(0, 22)}`;
    return [
      {
        type: 'DeploymentRequested',
        version: 1,
        data: { ...site, deployment, contentVersion: cv('one'), jobId, cause: 'published' },
      },
      { type: 'DeploymentLive', version: 1, data: { ...site, deployment, sha256: 'a'.repeat(64), sizeBytes: 1 } },
    ];
  });
  await handleCommand({ log: bus.sites, clock: systemClock, random: randomBase62 }, siteAggregate, {
    subject: siteLogSubject('acme', domain),
    decide: (): SiteEvent[] => [
      { type: 'SiteOpened', version: 1, data: { ...site, ...settings } },
      ...events,
      ...(isClosed ? [{ type: 'SiteClosed', version: 1, data: site } satisfies SiteEvent] : []),
    ],
    origin: { source: 'test', actor: { kind: 'service', id: 'deployer' }, causationId: 'c', correlationId: 'c' },
  });
}

test('objects of jobs stay until 90 days after their end, and longer while they run', async () => {
  const content = await publish('one');
  const kept = await job('kept', content, { completedAt: daysAgo(89.9) });
  const running = await job('running', content, { phase: 'joining', createdAt: daysAgo(200) });
  const ended = await job('ended', content, { completedAt: daysAgo(90.1) });
  await objects.age('', 200);
  const swept = await sweep();
  expect(await isThere([...kept, ...running])).toEqual(allOf([...kept, ...running], true));
  expect(await isThere(ended)).toEqual(allOf(ended, false));
  expect(swept.get('acme')).toMatchObject({
    plans: { objects: 1 },
    selections: { objects: 1 },
    bundles: { objects: 1, bytes: bundleKey('acme', 'docs', sha256Of('')).length },
    segments: { objects: 4 },
  });
  expect(swept.get('acme')).not.toHaveProperty('contents');
  expect(await sweep()).toEqual(new Map());
});

test('jobs are read once, however many batches of objects there are', async () => {
  const content = await publish('one');
  const jobCount = 20;
  for (let n = 0; n < jobCount; n += 1) await job(`kept ${n}`, content, { completedAt: daysAgo(1) });
  for (const name of ['a', 'b']) await job(`ended ${name}`, content, { completedAt: daysAgo(91) });
  await objects.age('', 200);
  const reads = vi.spyOn(bus.exports, 'last');
  // There are four kinds of objects, so the jobs are requested at least five times.
  expect(Object.keys((await sweep()).get('acme') ?? {})).toHaveLength(4);
  expect(reads).toHaveBeenCalledTimes(jobCount + 2);
});

test('objects that two jobs share stay while one of them is kept', async () => {
  const content = await publish('one');
  const keys = await job('first', content, { completedAt: daysAgo(100) });
  await request('second', { contentVersion: content, planHash: sha256Of('plan of first'), phase: 'rendering' });
  await objects.age('', 100);
  await sweep();
  const selections = keys.filter((key) => key.startsWith('selections/'));
  const others = keys.filter((key) => !selections.includes(key));
  expect(await isThere(selections)).toEqual([false]);
  expect(await isThere(others)).toEqual(allOf(others, true));
});

test('contents that the log has stay; those that ended go when no kept job needs them, with the files that no other has', async () => {
  const [ended, needed, current] = [await publish('ended'), await publish('needed'), await publish('current')];
  await put(`contents/acme/docs/${cv('never published')}/site-model.json`, blobKey('acme', sha256Of('nobody')));
  await endContent(ended);
  await endContent(needed);
  await request('kept', { contentVersion: needed, phase: 'failed', completedAt: daysAgo(10) });
  await objects.age('', 91);
  await sweep();
  const left = await objects.keys();
  expect(left.filter((key) => key.startsWith('contents/'))).toEqual(
    [needed, current]
      .flatMap((version) =>
        ['markdown/index.md', 'site-model.json'].map((file) => `contents/acme/docs/${version}/${file}`),
      )
      .toSorted(),
  );
  const files = ['shared file', 'file of needed', 'file of current'].map((text) => blobKey('acme', sha256Of(text)));
  expect(left.filter((key) => key.startsWith('blobs/'))).toEqual(files.toSorted());
});

test('files that only the list of a content names stay, and what arrived and was never used goes', async () => {
  const contentVersion = await publish('one');
  const [read, arrived] = ['docs.json', 'half of an upload'].map((text) => sha256Of(text)) as [string, string];
  const files = JSON.stringify({ version: 1, files: [['docs.json', read, 9, true]] });
  await store.put(versionFilesKey({ organization: 'acme', domain: 'docs', contentVersion }), Buffer.from(files));
  const record = arrivedFilesKey({ organization: 'acme', domain: 'docs' }, sha256Of('record'));
  await store.put(record, Buffer.from(JSON.stringify({ version: 1, files: [[arrived, 17]] })));
  await put(blobKey('acme', read), blobKey('acme', arrived));
  await objects.age('', 91);
  await sweep();
  const left = await objects.keys();
  expect(left).toContain(blobKey('acme', read));
  expect(left).not.toContain(blobKey('acme', arrived));
  expect(left).not.toContain(record);
});

test('young objects stay, needed or not: a publication in progress is not in the log yet', async () => {
  await publish('one');
  const orphan = blobKey('acme', sha256Of('orphan'));
  await put(orphan);
  await objects.age('', 89);
  expect(await sweep()).toEqual(new Map());
  await objects.age('', 91);
  await sweep();
  expect(await isThere([orphan])).toEqual([false]);
});

test("ages count by the store's clock", async () => {
  await publish('one');
  await put(blobKey('acme', sha256Of('orphan')));
  await objects.age('', 91);
  expect(await sweep({ objectStore: { ...store, clockSkewMs: async () => -2 * dayMs } })).toEqual(new Map());
});

test('without the site model of a content version every file stays, and other objects are removed', async () => {
  await publish('one');
  const broken = await publish('two');
  const orphans = [blobKey('acme', sha256Of('orphan')), segmentKey('acme', sha256Of('orphan'))];
  await put(...orphans);
  await store.remove(siteModelKey({ organization: 'acme', domain: 'docs', contentVersion: broken }));
  await objects.age('', 100);
  await sweep();
  expect(await isThere(orphans)).toEqual([true, false]);
});

test.each([
  ['a content version', async () => publish('two')],
  [
    'a kept job whose content ended',
    async () => {
      const ended = await publish('two');
      await endContent(ended);
      await request('kept', { contentVersion: ended, phase: 'failed', completedAt: daysAgo(10) });
      return ended;
    },
  ],
])(
  'with half of the site model of %s every file stays: a copy of the whole may be put back',
  async (_of, published) => {
    await publish('one');
    const key = siteModelKey({ organization: 'acme', domain: 'docs', contentVersion: await published() });
    const whole = Buffer.from((await store.get(key)) ?? []);
    await store.put(key, whole.subarray(0, whole.length / 2));
    await objects.age('', 91);
    await sweep();
    const file = blobKey('acme', sha256Of('file of two'));
    expect(await isThere([file])).toEqual([true]);
  },
);

test('other objects and organizations that no log knows are left alone', async () => {
  await publish('one');
  const others = ['archive/acme/se_x.json', 'plans/stranger/x.json', 'other/acme/x'];
  await put(...others);
  await objects.age('', 1000);
  await sweep();
  expect(await isThere(others)).toEqual(allOf(others, true));
});

test('an organization that cannot be judged keeps what it has, the others are swept, and the chore says so', async () => {
  await publish('one');
  await publish('one', 'beta');
  const orphans = ['acme', 'beta'].map((organization) => segmentKey(organization, sha256Of('orphan')));
  await put(...orphans);
  await objects.age('', 100);
  const log = jobsInLog(bus.exports);
  const unreadable = async function* (...[organization, ...rest]: Parameters<typeof log>) {
    if (organization === 'acme') throw new Error('an unknown event');
    yield* log(organization, ...rest);
  };
  const notJudged = new Set<string>();
  const preview = await sweepObjects(house({ keptJobs: unreadable, dryRun: true }), never, notJudged);
  expect([[...preview.keys()], [...notJudged]]).toEqual([['beta'], ['acme']]);
  await expect(sweep({ keptJobs: unreadable })).rejects.toThrow('were not swept: acme');
  expect(await isThere(orphans)).toEqual([true, false]);
});

test('when bus or store are away nothing is removed', async () => {
  await publish('one');
  const orphan = segmentKey('acme', sha256Of('orphan'));
  await put(orphan);
  await objects.age('', 100);
  const away = async () => {
    throw new ObjectStoreUnavailable('gone');
  };
  await expect(sweep({ objectStore: { ...store, get: away } })).rejects.toThrow(ObjectStoreUnavailable);
  bus.away = true;
  await expect(sweep()).rejects.toThrow('The bus is unavailable');
  bus.away = false;
  expect(await isThere([orphan])).toEqual([true]);
});

test('a job that begins after the objects were listed is seen', async () => {
  const content = await publish('one');
  const keys = await job('old', content, { completedAt: daysAgo(100) });
  await objects.age('', 100);
  const listing: ObjectStore = {
    ...store,
    async *list(prefix, options) {
      yield* store.list(prefix, options);
      if (prefix !== 'plans/acme/') return;
      await request('new', { contentVersion: content, planHash: sha256Of('plan of old'), phase: 'rendering' });
    },
  };
  await sweep({ objectStore: listing });
  const needed = keys.filter((key) => !key.startsWith('selections/'));
  expect(await isThere(needed)).toEqual(allOf(needed, true));
});

test('an object that is stored again after it was listed stays', async () => {
  await publish('one');
  const orphans = ['a', 'b'].map((name) => blobKey('acme', sha256Of(name)));
  await put(...orphans);
  await objects.age('', 100);
  const listing: ObjectStore = {
    ...store,
    async *list(prefix, options) {
      yield* store.list(prefix, options);
      if (prefix === 'blobs/acme/') await put(orphans[0] ?? '');
    },
  };
  await sweep({ objectStore: listing });
  expect(await isThere(orphans)).toEqual([true, false]);
});

test('a sidecar goes before its segment', async () => {
  await publish('one');
  const keys = Array.from({ length: 20 }, (_, n) => sha256Of(`segment ${n}`));
  await put(...keys.flatMap((key) => [segmentKey('acme', key), sidecarKey('acme', key)]));
  await objects.age('', 100);
  const removed: string[] = [];
  await sweep({
    objectStore: {
      ...store,
      remove: async (key) => {
        removed.push(key);
        await store.remove(key);
      },
    },
  });
  expect(removed).toHaveLength(40);
  for (const key of keys) {
    expect(removed.indexOf(sidecarKey('acme', key))).toBeLessThan(removed.indexOf(segmentKey('acme', key)));
  }
});

test('however much there is to remove, no more than a batch of keys is held', async () => {
  await publish('one');
  const all = 5_000;
  let listed = 0;
  let removed = 0;
  let mostHeld = 0;
  const endless: ObjectStore = {
    ...store,
    async *list(prefix) {
      if (prefix !== 'segments/acme/') return;
      for (; listed < all; listed += 1) {
        mostHeld = Math.max(mostHeld, listed - removed);
        yield { key: segmentKey('acme', sha256Of(String(listed))), sizeBytes: 1, modifiedAt: new Date(1) };
      }
    },
    head: async () => ({ sizeBytes: 1, modifiedAt: new Date(1), metadata: {} }),
    remove: async () => void (removed += 1),
  };
  await sweep({ objectStore: endless });
  expect(removed).toBe(all);
  expect(mostHeld).toBeLessThanOrEqual(2_000);
});

test('a dry run counts and removes nothing', async () => {
  const content = await publish('one');
  await job('old', content, { completedAt: daysAgo(100) });
  await objects.age('', 100);
  const before = await objects.keys();
  const dry = await sweep({ dryRun: true });
  expect(await objects.keys()).toEqual(before);
  expect(await sweep()).toEqual(dry);
});

test('it stops where it is told to', async () => {
  const content = await publish('one');
  await job('old', content, { completedAt: daysAgo(100) });
  await objects.age('', 100);
  const stop = new AbortController();
  const remove = vi.fn(async (key: string) => {
    await store.remove(key);
    stop.abort(new Error('the lease is lost'));
  });
  const stopped = sweepObjects(house({ objectStore: { ...store, remove } }), stop.signal);
  await expect(stopped).rejects.toThrow('the lease is lost');
  expect(remove).toHaveBeenCalledTimes(1);
});
