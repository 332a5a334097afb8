import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blobKey, type ExportPlan, segmentKey, sidecarKey } from '#shared/contracts/stored-objects.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { testOptions, testProject } from '#shared/docs/render/test-project.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { withSnapshot } from '#shared/docs/sandbox/child-snapshot.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { testObjectStore } from '../support/test-object-store.ts';
import type { RendererContext } from '#services/page-renderer/context.ts';
import { type PlannedSite, projectTexts } from '#services/page-renderer/planned-sites.ts';
import { type ChunkOutcome, renderChunk } from '#services/page-renderer/render-segment.ts';

const entry = new URL('../../services/page-renderer/test-children/dishonest-renderer.ts', import.meta.url);
const mustWork = {
  info: () => undefined,
  warn(line: string) {
    throw new Error(line);
  },
};
const program = { ...(await withSnapshot({ entry, addons: true }, mustWork)), warmSpares: 0 };
const pool = childPool({ ...program, slots: 2 });
const { signal } = new AbortController();
let objectStore: ObjectStore;
beforeAll(async () => {
  objectStore = testObjectStore();
});
afterAll(() => pool.close());

/** Renders a chunk of these pages as the service does. Returns its outcome, and whether it was stored. */
async function rendered(
  organization: string,
  files: Record<string, string>,
  onPageError: ExportPlan['onPageError'],
): Promise<{ outcome: ChunkOutcome; stored: boolean }> {
  const sources = Object.values(files);
  for (const text of sources) await objectStore.put(blobKey(organization, sha256Of(text)), Buffer.from(text));
  const { model } = await testProject(files);
  const paths = Object.keys(files).map((path) => path.slice(0, -'.mdx'.length));
  const key = sha256Of(JSON.stringify([organization, files, onPageError]));
  const plan: ExportPlan = {
    version: 1,
    organization,
    contentVersion: model.contentVersion,
    rendererVersion: 'r-000000000000',
    ...testOptions,
    domain: 'docs',
    groups: [],
    onPageError,
    pageTotal: paths.length,
    chunks: [{ kind: 'pages', key, paths }],
    closingKey: key,
  };
  const site: PlannedSite = { plan, exported: paths, index: indexSite(model, paths), files: new Map() };
  const context = {
    objectStore,
    pool,
    freshPool: () => childPool({ ...program, slots: 1, requestsPerChild: 1 }),
    texts: projectTexts(objectStore),
    logger: pino({ level: 'silent' }),
    pageDeadlineMs: 20_000,
    retry: { firstPauseMs: 1, longestPauseMs: 1, giveUpAfterMs: 0 },
  } as unknown as RendererContext;
  const outcome = await renderChunk(context, site, { kind: 'pages', key, paths }, { alone: false, signal });
  const names = [segmentKey(organization, key), sidecarKey(organization, key)];
  const found = await Promise.all(names.map((name) => objectStore.head(name)));
  return { outcome, stored: found.every((object) => object !== undefined) };
}

const twoOf = (name: string) => ({ 'a.mdx': `# A of ${name}\n`, 'c.mdx': `# C of ${name}\n` });

test.each([
  'says null',
  'says a message of an unknown kind',
  'says what Node says of handles',
  'says what Node says to itself',
  'promises four gigabytes',
  'sends lists in lists',
  'sends bytes for a prototype',
  'answers a request of somebody else',
  'asks hundreds of questions at once',
  'writes megabytes of errors',
])(
  'a page whose child %s fails alone, and another organization has its chunk',
  async (name) => {
    const [own, other] = await Promise.all([
      rendered('acme', { ...twoOf(name), 'b.mdx': `dishonest: ${name};\n` }, 'fail'),
      rendered('globex', twoOf(name), 'fail'),
    ]);
    expect(own).toEqual({
      outcome: {
        kind: 'pages-failed',
        failedPages: [
          { path: 'b', reason: expect.stringMatching(/^its process was ended because it [a-z].*, twice$/) },
        ],
      },
      stored: false,
    });
    expect(other).toEqual({ outcome: { kind: 'rendered', pageCount: 2, reused: false }, stored: true });
  },
  60_000,
);

test('a page that takes over each child that sees it has failed, also where the source of such pages is shown', async () => {
  const pages = { ...twoOf('x'), 'b.mdx': 'dishonest: says null;\n' };
  expect((await rendered('acme', pages, 'report')).outcome).toMatchObject({ failedPages: [{ path: 'b' }] });
}, 60_000);
