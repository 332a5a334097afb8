import { beforeEach, expect, test } from 'vitest';
import { blobKey, type ExportPlan, segmentKey, sidecarKey } from '#shared/contracts/stored-objects.ts';
import { handleRenderRequest, type RenderRequest } from '#shared/docs/render/render-request.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { testOptions, testProject } from '#shared/docs/render/test-project.ts';
import { ChildDied, ChildRequestFailed, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { DamagedObject, type ObjectStore } from '#shared/storage/object-store.ts';
import { localChildren } from '../../test/support/local-children.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import type { RendererContext } from './context.ts';
import { type PlannedSite, projectTexts } from './planned-sites.ts';
import { renderChunk } from './render-segment.ts';

const organization = 'acme';
const key = 'a'.repeat(64);
const { signal } = new AbortController();
const tooLarge = 'word '.repeat(500_000);
const project = {
  'a.mdx': "import Hint from '/snippets/hint.mdx';\n\n# A\n\n<Hint />\n\n```js\nconst a = 1;\n```\n",
  'b.mdx': '# B\n\n<Note>See [A](/a)</Note>\n',
  'c.mdx': '# C\n\n| x | y |\n| - | - |\n| 1 | 2 |\n\n$e = m$\n',
  'snippets/hint.mdx': 'A hint of *all* pages.\n',
};
let objectStore: ObjectStore;
beforeEach(async () => {
  objectStore = testObjectStore();
});

async function siteOf(files: Record<string, string>, onPageError: ExportPlan['onPageError']) {
  for (const text of Object.values(files)) {
    await objectStore.put(blobKey(organization, sha256Of(text)), Buffer.from(text));
  }
  const { model } = await testProject(files);
  const paths = Object.keys(files).flatMap((path) => (path.startsWith('snippets/') ? [] : [path.slice(0, -4)]));
  const { contentVersion } = model;
  const named = {
    version: 1 as const,
    organization,
    domain: 'docs',
    contentVersion,
    rendererVersion: 'r-000000000000',
  };
  const chunk = { kind: 'pages' as const, key, paths };
  const plan = {
    ...named,
    ...testOptions,
    groups: [],
    onPageError,
    pageTotal: paths.length,
    chunks: [chunk],
    closingKey: key,
  };
  const site: PlannedSite = { plan, exported: paths, index: indexSite(model, paths), files: new Map() };
  return { site, chunk };
}

/** Renders the chunk by a child that fails with `chunkFails` on requests for a chunk; returns the outcome, the stored objects and the requests. */
async function rendered(
  files: Record<string, string>,
  how: { chunkFails?: Error; alone?: boolean; onPageError?: ExportPlan['onPageError'] } = {},
) {
  const asked: string[] = [];
  const pool = localChildren(async (request) => {
    const { kind } = request as RenderRequest;
    asked.push(kind);
    if (kind === 'chunk' && how.chunkFails) throw how.chunkFails;
    return structuredClone(await handleRenderRequest(structuredClone(request), () => Promise.reject(new Error())));
  });
  const context = {
    objectStore,
    pool,
    freshPool: () => pool,
    texts: projectTexts(objectStore),
    logger: createLogger('test', 'test'),
    pageDeadlineMs: 10_000,
    retry: { firstPauseMs: 1, longestPauseMs: 1, giveUpAfterMs: 0 },
  } as unknown as RendererContext;
  const { site, chunk } = await siteOf(files, how.onPageError ?? 'fail');
  const outcome = await renderChunk(context, site, chunk, { alone: how.alone ?? false, signal });
  const stored = [segmentKey(organization, key), sidecarKey(organization, key)];
  const [segment, sidecar] = await Promise.all(stored.map((name) => objectStore.get(name)));
  for (const name of stored) await objectStore.remove(name);
  return { outcome, asked, stored: [segment, sidecar].map((bytes) => bytes && Buffer.from(bytes).toString('base64')) };
}

test('one request renders and packs all pages of a chunk', async () => {
  const { outcome, asked, stored } = await rendered(project);
  expect(outcome).toEqual({ kind: 'rendered', pageCount: 3, reused: false });
  expect(asked).toEqual(['chunk']);
  expect(stored).not.toContain(undefined);
});

test.each([
  ['takes too long', { chunkFails: new ChildTimedOut(1) }],
  ['dies', { chunkFails: new ChildDied(undefined, 'SIGKILL', 'out of memory') }],
  ['fails', { chunkFails: new ChildRequestFailed('TypeError', 'x is undefined') }],
  ['is not asked, because each page wants its own', { alone: true }],
])('when the child of a chunk %s, its pages go one by one, to the same bytes', async (_what, how) => {
  const together = await rendered(project);
  const { outcome, asked, stored } = await rendered(project, how);
  expect(outcome).toEqual(together.outcome);
  expect(asked.filter((kind) => kind !== 'chunk')).toEqual(['page', 'page', 'page']);
  expect(stored).toEqual(together.stored);
});

test('a page that breaks a limit stops nothing, whatever is done with pages that fail', async () => {
  for (const onPageError of ['fail', 'report'] as const) {
    const shown = await rendered({ ...project, 'b.mdx': tooLarge }, { onPageError });
    expect(shown.outcome).toMatchObject({ kind: 'rendered', pageCount: 3 });
    expect(shown.asked).toEqual(['chunk']);
  }
});

test('a page sees only the snippets that it names, whatever its neighbours have', async () => {
  const together = await rendered({ ...project, 'b.mdx': 'export const x = 1;\n\n<Hint />\n' });
  const alone = await rendered({ ...project, 'b.mdx': 'export const x = 1;\n\n<Hint />\n' }, { alone: true });
  expect(together.stored).toEqual(alone.stored);
});

test.each(['a.mdx', 'snippets/hint.mdx'])(
  'nothing is rendered from other bytes of %s than were published',
  async (file) => {
    const { site, chunk } = await siteOf(project, 'report');
    const altered = blobKey(organization, sha256Of(project[file as keyof typeof project]));
    await objectStore.put(altered, Buffer.from('<html>502 Bad Gateway</html>'));
    const pool = localChildren(() => {
      throw new Error('no child is asked');
    });
    const context = {
      objectStore,
      pool,
      freshPool: () => pool,
      texts: projectTexts(objectStore),
      logger: createLogger('test', 'silent'),
      retry: { firstPauseMs: 1, longestPauseMs: 1, giveUpAfterMs: 0 },
      pageDeadlineMs: 1_000,
    } as unknown as RendererContext;
    await expect(renderChunk(context, site, chunk, { alone: false, signal })).rejects.toThrow(DamagedObject);
    expect(await objectStore.head(segmentKey(organization, key))).toBeUndefined();
  },
);
