import { beforeEach, expect, test } from 'vitest';
import { blobKey } from '#shared/contracts/stored-objects.ts';
import { handleRenderRequest } from '#shared/docs/render/render-request.ts';
import { ChildDied, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { localChildren } from '../../test/support/local-children.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import { changedFiles } from './changed-files.ts';

const { signal } = new AbortController();
let objectStore: ObjectStore;

beforeEach(async () => {
  objectStore = testObjectStore();
});

const isolating = { allowTenantScripts: false, groups: [], leftOut: new Map<string, readonly string[]>() };

/** The replaced files if children fail in these ways, one after the other, and then work. */
function isolate(files: Parameters<typeof changedFiles>[2], ...failures: Error[]) {
  return change(isolating, files, ...failures);
}

function change(
  rules: Parameters<typeof changedFiles>[3],
  files: Parameters<typeof changedFiles>[2],
  ...failures: Error[]
) {
  const pool = localChildren((request) => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    return handleRenderRequest(request, () => Promise.reject(new Error('nobody answers')));
  });
  const retry = { firstPauseMs: 1, longestPauseMs: 1, giveUpAfterMs: 0 };
  return changedFiles(
    { objectStore, pool, freshPool: () => pool, pageDeadlineMs: 10_000, retry },
    'acme',
    files,
    rules,
    signal,
  );
}

const stored = async (path: string, text: string) => {
  const sha256 = sha256Of(text);
  await objectStore.put(blobKey('acme', sha256), Buffer.from(text));
  return { path, sha256, sizeBytes: Buffer.byteLength(text) };
};
const textOf = (made: Awaited<ReturnType<typeof changedFiles>>, path: string) =>
  Buffer.from(made.get(path)?.body ?? '').toString();

const picture = '<svg onload="x()"><path d="M0 0"/></svg>';

test('pictures and style sheets are changed in a child', async () => {
  const made = await isolate([await stored('a.svg', picture), await stored('a.css', 'a { color: red }')]);
  expect(textOf(made, 'a.svg')).toMatch(/^<svg [^>]*><path d="M0 0"><\/path><\/svg>\n$/);
  expect(textOf(made, 'a.css')).toContain('@scope');
});

test('one that a child cannot read is tried again, then something takes its place', async () => {
  const file = await stored('a.svg', picture);
  const died = new ChildDied(1, undefined, 'out of memory');
  expect(textOf(await isolate([file], died), 'a.svg')).toContain('<path');
  expect(textOf(await isolate([file], died, new ChildTimedOut(10_000)), 'a.svg')).toMatch(/^<svg [^>]*><\/svg>\n$/);
});

test('one that is gone is named', async () => {
  const gone = { path: 'gone.svg', sha256: sha256Of('gone'), sizeBytes: 4 };
  await expect(isolate([gone])).rejects.toThrow('the file gone.svg of the content version is gone');
});

test('an API description that is too large to be read becomes empty if it may have parts that not everybody may read', async () => {
  const large = ' '.repeat(17 * 1024 * 1024);
  const open = await stored('open.json', `{"openapi": "3.1.0"}${large}`);
  const closed = await stored('closed.json', `{"openapi": "3.1.0", "paths":${large}{"/a": {"x-excluded": true}}}`);
  const leftOut = new Map([open, closed].map(({ path }) => [path, []]));
  const made = await change({ allowTenantScripts: true, groups: [], leftOut }, [open, closed]);
  expect([...made].map(([path, { body }]) => [path, Buffer.from(body).toString()])).toEqual([['closed.json', '{}\n']]);
});
