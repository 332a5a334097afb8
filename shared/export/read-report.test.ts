import { beforeEach, expect, test } from 'vitest';
import { planKey, segmentKey, sidecarKey } from '#shared/contracts/stored-objects.ts';
import { DamagedObject, type ObjectStore } from '#shared/storage/object-store.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { storedReport, storeReportedBundle } from '../../test/support/store-reported-bundle.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import { readFindings, readReport } from './read-report.ts';

const organization = 'acme';
const open = new AbortController().signal;

let objectStore: ObjectStore;
let opened: string[];

beforeEach(() => {
  const store = testObjectStore(newFolder());
  opened = [];
  objectStore = {
    ...store,
    getStream: (key, ...options) => {
      opened.push(key);
      return store.getStream(key, ...options);
    },
  };
});

/** Stores a bundle, and forgets which objects were read for it. */
async function stored(what?: Parameters<typeof storeReportedBundle>[1]) {
  const job = await storeReportedBundle(objectStore, what);
  opened = [];
  return job;
}

test('the report comes from the closing segment, without the rest of the bundle', async () => {
  const job = await stored();
  expect((await readReport(objectStore, job, open))?.report).toEqual(storedReport);
  expect(opened).toContain(segmentKey(organization, job.closingKey));
  expect(opened).not.toContain(job.bundle.key);
});

test.each([
  ['the segment is gone', (key: string) => objectStore.remove(segmentKey(organization, key))],
  ['the segment is cut', (key: string) => objectStore.put(segmentKey(organization, key), Buffer.alloc(10))],
  ['the sidecar is gone', (key: string) => objectStore.remove(sidecarKey(organization, key))],
  ['the sidecar cannot be read', (key: string) => objectStore.put(sidecarKey(organization, key), Buffer.from('{'))],
  ['the plan is gone', (_: string, plan: string) => objectStore.remove(planKey(organization, plan))],
  [
    'the plan cannot be read',
    (_: string, plan: string) => objectStore.put(planKey(organization, plan), Buffer.from('{}')),
  ],
])('the bundle has the same report when %s', async (_, lose) => {
  const job = await stored();
  await lose(job.closingKey, job.planHash);
  expect((await readReport(objectStore, job, open))?.report).toEqual(storedReport);
  expect(opened).toContain(job.bundle.key);
});

test('the numbers of findings are known without reading the segment or the bundle', async () => {
  const job = await stored();
  expect(await readFindings(objectStore, job, open)).toEqual({ errors: 0, warnings: 1 });
  expect(opened).toEqual([sidecarKey(organization, job.closingKey)]);
  await objectStore.remove(sidecarKey(organization, job.closingKey));
  expect(await readFindings(objectStore, job, open)).toBeUndefined();
});

test('there is no report once the bundle is removed, also while its segments are kept', async () => {
  const job = await stored();
  await objectStore.remove(job.bundle.key);
  expect(await readReport(objectStore, job, open)).toBeUndefined();
});

test.each([
  ['another export made the manifest', { manifestSha256: 'f'.repeat(64) }, undefined],
  ['the manifest lists another report', {}, 'f'.repeat(64)],
])('a report is not shown if %s', async (_, changes, listed) => {
  const job = await stored({ listed });
  await expect(readReport(objectStore, { ...job, ...changes }, open)).rejects.toBeInstanceOf(DamagedObject);
});

test('a report of another form is not shown', async () => {
  const job = await stored({ report: '{"formatVersion":2}' });
  await expect(readReport(objectStore, job, open)).rejects.toBeInstanceOf(DamagedObject);
});

test('a cut bundle is damage of the store', async () => {
  const job = await stored();
  await objectStore.remove(sidecarKey(organization, job.closingKey));
  const bytes = await objectStore.get(job.bundle.key);
  await objectStore.put(job.bundle.key, bytes?.subarray(0, 100) ?? Buffer.alloc(0));
  await expect(readReport(objectStore, job, open)).rejects.toBeInstanceOf(DamagedObject);
});
