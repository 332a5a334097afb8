import { expect, test } from 'vitest';
import { withChunk } from './chunk-bitmap.ts';
import type { Fact } from '#shared/contracts/export-facts.ts';
import { decide, type ExportCommand, type Knowledge, needsPlan } from './decide.ts';
import {
  exportJobAggregate,
  type ExportEvent,
  type ExportEventOf,
  type ExportJobState,
  exportEventSchema,
  exportJobStateSchema,
  attemptOf,
  isActive,
  shownExportEventSchema,
  waitsForRenderers,
} from './export-job.ts';

const at = { time: '2026-03-01T10:00:00.000Z', actor: { kind: 'service' as const, id: 'orchestrator' } };
const organization = 'acme';
const jobId = `se_${'a'.repeat(22)}`;
const sha256 = 'b'.repeat(64);
const otherSha256 = 'c'.repeat(64);
const rendererVersion = 'r-0123456789ab';

const requested = (changes: Partial<ExportEventOf<'ExportRequested'>['data']> = {}): ExportEvent => ({
  type: 'ExportRequested',
  version: 1,
  data: {
    jobId,
    organization,
    organizationPlan: 'enterprise',
    domain: 'docs',
    contentVersion: `cv_${'1'.repeat(32)}`,
    options: { groups: [], deployment: 'cloud', onPageError: 'fail', allowTenantScripts: true },
    requestDigest: sha256,
    ...changes,
  },
});
const planned = (chunkCount: number, pageTotal = chunkCount * 10): ExportEvent => ({
  type: 'PagesPlanned',
  version: 1,
  data: { planHash: sha256, rendererVersion, chunkCount, pageTotal },
});

const fact = <T extends Fact['type']>(type: T, data: Extract<Fact, { type: T }>['data']): Fact =>
  ({
    type,
    version: 1,
    id: `f-${type}`,
    source: 'page-renderer-1',
    time: at.time,
    organization,
    jobId,
    data,
  }) as Fact;
const rendered = (chunk: number, attempt = 1): Fact =>
  fact('ChunkRendered', { chunk, attempt, pageCount: 10, reused: false, durationMs: 80 });
const pageFailed = (chunk: number, path: string): Fact =>
  fact('ChunkFailed', {
    chunk,
    attempt: 1,
    cause: 'pages',
    reason: 'a page failed',
    failedPages: [{ path, reason: 'It has more than 50000 nodes.' }],
  });
const rendererFailed = (chunk: number, attempt: number): Fact =>
  fact('ChunkFailed', {
    chunk,
    attempt,
    cause: 'renderer',
    reason: 'the object store is unavailable',
    failedPages: [],
  });
const closing = fact('ClosingRendered', { attempt: 1, reused: false, manifestSha256: otherSha256 });
const stored = { bundleKey: 'bundles/acme/docs/x.tar.gz', sizeBytes: 9, sha256 };
const joined = fact('BundleJoined', { attempt: 1, ...stored });
const lost = (...chunks: number[]): Fact => fact('SegmentsLost', { chunks, reason: 'segment 1 is missing' });

/** Returns the events of a command after a history and the decisions that are based on it, and the state after them. */
function given(...history: (ExportEvent | ExportCommand)[]) {
  let state: ExportJobState | undefined;
  const take = (command: ExportCommand, known?: Knowledge): ExportEvent[] => {
    const before = state as ExportJobState;
    const events = decide(before, command, at, known);
    for (const event of events) state = exportJobAggregate.evolve(state, event, at);
    expect((state as ExportJobState).progress).toBeGreaterThanOrEqual(before.progress);
    return events;
  };
  for (const item of history) {
    if ('version' in item) state = exportJobAggregate.evolve(state, item, at);
    else take(item);
  }
  return {
    when(command: ExportCommand, known?: Knowledge) {
      const events = take(command, known);
      return { types: events.map(({ type }) => type), events, state: exportJobStateSchema.parse(state) };
    },
  };
}
const facts = (...all: Fact[]): ExportCommand => ({ type: 'FoldFacts', facts: all });

test('a plan starts the rendering, once', () => {
  const plan: ExportCommand = { type: 'Plan', planHash: sha256, rendererVersion, chunkCount: 3, pageTotal: 20 };
  const { types, state } = given(requested()).when(plan);
  expect(types).toEqual(['PagesPlanned']);
  expect(state).toMatchObject({ phase: 'rendering', chunkCount: 3, pageTotal: 20, progress: 1 });
  expect(given(requested(), plan).when(plan).types).toEqual([]);
});

test('a plan with some stored segments: renderers get the others', () => {
  const present = [0, 2].map((chunk) => ({ chunk, pageCount: 10 }));
  const plan = { type: 'Plan', planHash: sha256, rendererVersion, chunkCount: 3, pageTotal: 30, present } as const;
  const { types, events, state } = given(requested()).when(plan);
  expect(types).toEqual(['PagesPlanned', 'ChunksReused']);
  expect(events[1]?.data).toEqual({ chunks: 'BQ==', pageCount: 20 });
  expect(state).toMatchObject({ phase: 'rendering', pageCount: 20, chunkCount: 3 });
  expect(given(requested(), plan).when(facts(rendered(1))).types).toEqual(['ChunkRendered', 'RenderingFinished']);
});

test('a plan with all segments stored already: the closing segment is next', () => {
  const present = Array.from({ length: 1_200 }, (_, chunk) => ({ chunk, pageCount: 1 }));
  const plan = { type: 'Plan', planHash: sha256, rendererVersion, pageTotal: 1_200, present } as const;
  const { types, state } = given(requested()).when({ ...plan, chunkCount: 1_200 });
  expect(types).toEqual(['PagesPlanned', 'ChunksReused', 'RenderingFinished']);
  expect(state).toMatchObject({ phase: 'closing', pageCount: 1_200 });
});

test('all chunks rendered, in any order and more than once: the closing segment is next', () => {
  const { types, events, state } = given(requested(), planned(3)).when(
    facts(rendered(2), rendered(0), rendered(2, 2), rendered(1)),
  );
  expect(types).toEqual(['ChunkRendered', 'ChunkRendered', 'ChunkRendered', 'RenderingFinished']);
  expect(events.at(-1)?.data).toEqual({ pageCount: 30 });
  expect(state).toMatchObject({ phase: 'closing', pageCount: 30, progress: 90 });
});

test('from the last chunk to the bundle', () => {
  const job = given(requested(), planned(1), facts(rendered(0)), facts(closing));
  const { types, state } = job.when(facts(joined));
  expect(types).toEqual(['ExportCompleted']);
  expect(state).toMatchObject({
    phase: 'completed',
    progress: 100,
    completedAt: at.time,
    manifestSha256: otherSha256,
    bundle: { key: 'bundles/acme/docs/x.tar.gz', sizeBytes: 9, sha256 },
  });
  expect(state.digestMatch).toBeUndefined();
});

test('after its end nothing happens to a job', () => {
  const ended = given(requested(), planned(1), facts(rendered(0)), facts(closing), facts(joined));
  expect(ended.when(facts(lost(0), joined, fact('CancelRequested', { actor: at.actor }))).types).toEqual([]);
  expect(ended.when({ type: 'Fail', error: 'too late' }).types).toEqual([]);
});

test('a failed page fails the job at the end, with its name and reason, when all others are rendered', () => {
  const job = given(requested(), planned(3));
  expect(job.when(facts(pageFailed(1, 'guides/x'))).types).toEqual(['ChunkFailed']);
  const { types, state } = job.when(facts(rendered(0), rendered(2)));
  expect(types).toEqual(['ChunkRendered', 'ChunkRendered', 'ExportFailed']);
  expect(state).toMatchObject({ phase: 'failed', failedPageCount: 1, pageCount: 20 });
  expect(state.error).toBe('1 page could not be rendered: guides/x (It has more than 50000 nodes).');
});

test('an attempt that failed as a whole is counted once and repeated', () => {
  const { types, state } = given(requested(), planned(2)).when(facts(rendererFailed(1, 1), rendererFailed(1, 1)));
  expect(types).toEqual(['ChunkFailed']);
  expect(state).toMatchObject({ phase: 'rendering', timedOutAttempts: { 1: 1 }, failedPageCount: 0 });
});

test('a late success of an attempt that was given up counts', () => {
  const job = given(requested(), planned(2), { type: 'TimeOutChunk', chunk: 1, attempt: 1 });
  const { state } = job.when(facts(rendered(1, 1), rendered(0)));
  expect(state).toMatchObject({ phase: 'closing', timedOutAttempts: {} });
});

test('pages that cannot be rendered have failed, whichever attempt reports them', () => {
  const job = () => given(requested(), planned(2), { type: 'TimeOutChunk', chunk: 1, attempt: 1 });
  expect(job().when(facts(pageFailed(1, 'guides/x'))).state).toMatchObject({
    failedPageCount: 1,
    timedOutAttempts: {},
  });
});

test('after four attempts the pages of a chunk have failed', () => {
  const known = { pagesOf: () => ['a', 'b'] };
  const job = given(requested(), planned(2), facts(rendered(0)), facts(rendererFailed(1, 1)));
  expect(job.when({ type: 'TimeOutChunk', chunk: 1, attempt: 1 }).types).toEqual([]);
  expect(job.when({ type: 'TimeOutChunk', chunk: 1, attempt: 2 }).types).toEqual(['ChunkTimedOut']);
  expect(job.when({ type: 'TimeOutChunk', chunk: 1, attempt: 3 }).types).toEqual(['ChunkTimedOut']);
  const last: ExportCommand = { type: 'TimeOutChunk', chunk: 1, attempt: 4 };
  expect(needsPlan(last)).toBe(true);
  const { types, events, state } = job.when(last, known);
  expect(types).toEqual(['ChunkTimedOut', 'ChunkFailed', 'ExportFailed']);
  expect(events[1]?.data).toMatchObject({ renderer: 'orchestrator', cause: 'pages' });
  expect(state.error).toBe(
    '2 pages could not be rendered: a (its renderer was lost in the last of 4 attempts), b (its renderer was lost in the last of 4 attempts).',
  );
});

test("the site's own files failing permanently fails the job", () => {
  const attempts = [1, 2, 3].map((attempt) => facts(rendererFailed(0, attempt)));
  const { types, state } = given(requested(), planned(2), ...attempts).when(facts(rendererFailed(0, 4)), {
    pagesOf: () => [],
  });
  expect(types).toEqual(['ChunkFailed', 'ExportFailed']);
  expect(state.error).toBe(
    "The site's own files could not be rendered: the object store is unavailable in the last of 4 attempts.",
  );
});

test('lost segments are rendered again, and the job completes', () => {
  const job = given(requested(), planned(2), facts(rendered(0), rendered(1)), facts(closing));
  const { types, state } = job.when(facts(lost(1, -1), lost(1)), { pagesOf: () => Array.from({ length: 10 }, String) });
  expect(types).toEqual(['SegmentLost']);
  expect(state).toMatchObject({ phase: 'rendering', pageCount: 10, progress: 95, lostSegments: 1 });
  expect(job.when(facts(rendered(1))).state).toMatchObject({ phase: 'closing', pageCount: 20, progress: 95 });
  expect(job.when(facts(closing)).state).toMatchObject({ phase: 'joining' });
  expect(job.when(facts(joined)).state).toMatchObject({ phase: 'completed' });
});

test('the loss of all segments of a huge site is recorded in commits that the log accepts', () => {
  const chunks = Array.from({ length: 16_000 }, (_, chunk) => chunk);
  const rendering = given(requested(), planned(chunks.length)).when(facts()).state;
  const doneChunks = Buffer.alloc(chunks.length / 8, 255).toString('base64');
  const events = decide({ ...rendering, phase: 'closing', doneChunks }, facts(lost(...chunks)), at);
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['SegmentLost']));
  // The server accepts messages of up to a megabyte.
  expect(JSON.stringify(events).length).toBeLessThan(200_000);
});

test('a segment that is lost while others are rendered is rendered again', () => {
  const { types, state } = given(requested(), planned(2), facts(rendered(0))).when(facts(lost(0)));
  expect(types).toEqual(['SegmentLost']);
  expect(state).toMatchObject({ phase: 'rendering', lostSegments: 1 });
});

test('a lost closing segment is rendered again', () => {
  const job = given(requested(), planned(1), facts(rendered(0)), facts(closing));
  expect(job.when(facts(lost(-1))).state).toMatchObject({ phase: 'closing', pageCount: 10 });
});

test('closing segment and bundle have three attempts', () => {
  const closingFailed = (attempt: number) => fact('ClosingFailed', { attempt, reason: 'a sidecar cannot be read' });
  const job = given(requested(), planned(1), facts(rendered(0)));
  const first = job.when(facts(closingFailed(1), closingFailed(1)));
  expect(first).toMatchObject({ types: ['ClosingFailed'], state: { timedOutAttempts: { closing: 1 } } });
  expect(job.when({ type: 'TimeOutClosing', attempt: 2 }).types).toEqual(['ClosingFailed']);
  const { state } = job.when(facts(closingFailed(3)));
  expect(state.error).toBe('The files that need all pages could not be made in 3 attempts: a sidecar cannot be read.');
  const bundle = given(requested(), planned(1), facts(rendered(0)), facts(closing));
  const bundleFailed = (attempt: number) => fact('BundleFailed', { attempt, reason: 'disk full' });
  const twice = bundle.when(facts(bundleFailed(1), bundleFailed(1), bundleFailed(3), bundleFailed(2)));
  expect(twice).toMatchObject({ types: ['BundleFailed', 'BundleFailed'], state: { timedOutAttempts: { bundle: 2 } } });
  expect(bundle.when({ type: 'TimeOutBundle', attempt: 3 }).state.error).toBe(
    'The bundle could not be joined in 3 attempts: no worker reported it, and none works on it.',
  );
});

const replan: ExportCommand = {
  type: 'Replan',
  replacedVersion: rendererVersion,
  planHash: otherSha256,
  rendererVersion: 'r-ba9876543210',
  chunkCount: 3,
  pageTotal: 20,
};
const onPlan = (planHash: string, reported: Fact): Fact => ({ ...reported, planHash });

test('a job without renderers of its version is planned again, and rendered by others from the start', () => {
  const before = [requested(), planned(2, 20), facts(rendered(0), rendererFailed(1, 1))];
  const { types, state } = given(...before).when(replan);
  expect(types).toEqual(['PagesReplanned']);
  expect(state).toMatchObject({
    ...{ phase: 'rendering', planHash: otherSha256, rendererVersion: 'r-ba9876543210', chunkCount: 3, pageCount: 0 },
    ...{ doneChunks: '', timedOutAttempts: {}, replans: 1 },
  });
  const done = given(...before, replan).when(facts(rendered(0), rendered(1), rendered(2)));
  expect(done.types.at(-1)).toBe('RenderingFinished');
});

test('a job that waits for its closing segment is planned again, too; one in the joining phase needs no renderer', () => {
  const all = [requested(), planned(1), facts(rendered(0))];
  expect(given(...all).when(replan).state).toMatchObject({ phase: 'rendering', doneChunks: '' });
  expect(given(...all, facts(closing)).when(replan)).toMatchObject({ types: [], state: { phase: 'joining' } });
});

test('a job is planned again once for each version that is gone, however often this is requested', () => {
  expect(given(requested(), planned(2), replan).when(replan).types).toEqual([]);
  const further: ExportCommand = { ...replan, replacedVersion: 'r-ba9876543210', rendererVersion: 'r-000000000000' };
  expect(given(requested(), planned(2), replan).when(further).state).toMatchObject({ replans: 2, phase: 'rendering' });
});

test('reports about a replaced plan are not folded', () => {
  const replanned = [requested(), planned(2), replan];
  const late = facts(onPlan(sha256, rendered(0)), onPlan(sha256, closing), onPlan(sha256, joined));
  expect(given(...replanned).when(late).types).toEqual([]);
  expect(given(...replanned).when(facts(onPlan(otherSha256, rendered(0)))).types).toEqual(['ChunkRendered']);
});

test('cancelled: the job ends and names the key that cancelled it', () => {
  const actor = { kind: 'key' as const, id: 'key_0000000000000001' };
  const { types, state } = given(requested(), planned(2)).when(facts(fact('CancelRequested', { actor }), rendered(0)));
  expect(types).toEqual(['ExportCancelled']);
  expect(state).toMatchObject({ phase: 'cancelled', error: 'The export was cancelled by key_0000000000000001.' });
});

test.each([
  ['same', { sha256, rendererVersion: 'r-000000000000' }],
  ['different', { sha256: otherSha256, rendererVersion }],
  ['renderer-changed', { sha256: otherSha256, rendererVersion: 'r-000000000000' }],
  [undefined, { sha256: undefined, rendererVersion: undefined }],
])('a replay says %s', (expected, original) => {
  const replay = requested({ replayOf: `se_${'b'.repeat(22)}` });
  const job = given(replay, planned(1), facts(rendered(0)), facts(closing));
  expect(job.when(facts(joined), { original }).state.digestMatch).toBe(expected);
});

test('the state of 20,000 pages stays below 4 KB, also when many of them fail', () => {
  const chunkCount = 1250;
  const job = given(requested({ label: 'x'.repeat(100), replayOf: jobId }), planned(chunkCount, 20_000));
  const reason = 'A reason as long as reasons may be. '.repeat(8);
  for (let chunk = 0; chunk < chunkCount; chunk += 1) {
    const path = `a/rather/deep/path/of/a/page/${chunk}`;
    const failedPages = [{ path, reason }];
    const failed = fact('ChunkFailed', { chunk, attempt: 1, cause: 'pages', reason, failedPages });
    const { state } = job.when(facts(chunk % 2 === 0 ? rendered(chunk) : failed));
    expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThan(4096);
    if (chunk === chunkCount - 1) {
      expect(state).toMatchObject({ phase: 'failed', failedPageCount: 625 });
      expect(state.error).toMatch(/^625 pages could not be rendered: a\/rather.* and \d+ more, which the history/);
    }
  }
});

test('a plan is needed for lost segments, and for a last attempt that failed as a whole', () => {
  const needed = (...reported: Fact[]) => needsPlan(facts(...reported));
  expect([needed(), needed(rendered(0)), needed(rendered(0), lost(0))]).toEqual([false, false, true]);
  expect([needed(rendererFailed(0, 3)), needed(rendererFailed(0, 4))]).toEqual([false, true]);
  expect(needed(fact('ChunkFailed', { chunk: 0, attempt: 4, cause: 'pages', reason: '', failedPages: [] }))).toBe(
    false,
  );
  const commands: ExportCommand[] = [
    { type: 'TimeOutChunk', chunk: 0, attempt: 3 },
    { type: 'TimeOutClosing', attempt: 4 },
    { type: 'Fail', error: '' },
  ];
  expect(commands.map(needsPlan)).toEqual([false, false, false]);
});

test('a job is active until it ends, and waits for renderers while pages or the closing segment are missing', () => {
  const phases = exportJobStateSchema.shape.phase.options;
  expect(phases.filter(isActive)).toEqual(['requested', 'rendering', 'closing', 'joining']);
  expect(phases.filter((phase) => waitsForRenderers({ phase }))).toEqual(['rendering', 'closing']);
});

test('an event about a chunk has the report of its worker', () => {
  const { events } = given(requested(), planned(2)).when(facts(rendered(1, 2), rendererFailed(0, 1)));
  expect(events).toEqual([
    {
      type: 'ChunkRendered',
      version: 1,
      data: { chunk: 1, attempt: 2, pageCount: 10, reused: false, durationMs: 80, renderer: 'page-renderer-1' },
    },
    {
      type: 'ChunkFailed',
      version: 1,
      data: {
        ...{ chunk: 0, attempt: 1, cause: 'renderer', reason: 'the object store is unavailable', failedPages: [] },
        renderer: 'page-renderer-1',
      },
    },
  ]);
});

test('reports about chunks that are not of the plan, or in the wrong phase, change nothing', () => {
  const rendering = () => given(requested(), planned(2));
  expect(rendering().when(facts(rendered(2), pageFailed(2, 'x'), closing, joined)).types).toEqual([]);
  expect(rendering().when(facts(fact('ClosingFailed', { attempt: 1, reason: '' }))).types).toEqual([]);
  expect(rendering().when(facts(fact('BundleFailed', { attempt: 1, reason: '' }))).types).toEqual([]);
  expect(given(requested()).when(facts(rendered(0))).types).toEqual([]);
  const isClosing = () => given(requested(), planned(1), facts(rendered(0)));
  expect(isClosing().when(facts(rendered(0), pageFailed(0, 'x'), joined, lost(-1))).types).toEqual([]);
  expect(rendering().when(facts(lost(0))).types).toEqual([]);
});

test('an attempt that is not the current one changes nothing', () => {
  const job = given(requested(), planned(2), facts(rendererFailed(0, 1)));
  expect(job.when(facts(rendererFailed(0, 1), rendererFailed(0, 3))).types).toEqual([]);
  expect(job.when({ type: 'TimeOutChunk', chunk: 0, attempt: 2 }).state.timedOutAttempts).toEqual({ 0: 2 });
  const { state } = job.when(facts(rendererFailed(1, 1)));
  expect(state.timedOutAttempts).toEqual({ 0: 2, 1: 1 });
  expect([attemptOf(state, 0), attemptOf(state, 1), attemptOf(state, 'closing')]).toEqual([3, 2, 1]);
  expect(job.when(facts(rendered(0))).state.timedOutAttempts).toEqual({ 1: 1 });
});

test('failed pages of a last attempt have its reason, and the chunk has failed', () => {
  const attempts = [1, 2, 3].map((attempt) => facts(rendererFailed(1, attempt)));
  const job = given(requested(), planned(2), ...attempts);
  const reason = 'the object store is unavailable in the last of 4 attempts';
  const { events, state } = job.when(facts(rendererFailed(1, 4)), { pagesOf: (chunk) => [`page of ${chunk}`] });
  expect(events[1]).toEqual({
    type: 'ChunkFailed',
    version: 1,
    data: {
      ...{ chunk: 1, attempt: 4, renderer: 'page-renderer-1', cause: 'pages', reason },
      failedPages: [{ path: 'page of 1', reason }],
    },
  });
  expect(state).toMatchObject({ failedPageCount: 1, timedOutAttempts: {}, progress: 45.5 });
});

test('a long reason is cut to what an event may hold', () => {
  const reason = 'r'.repeat(500);
  const failed = (attempt: number) =>
    facts(fact('ChunkFailed', { chunk: 0, attempt, cause: 'renderer', reason, failedPages: [] }));
  const job = given(requested(), planned(1), failed(1), failed(2), failed(3));
  const [, event] = job.when(failed(4), { pagesOf: () => ['a'] }).events;
  if (event?.type !== 'ChunkFailed') throw new Error('the chunk has not failed');
  expect([event.data.reason.length, event.data.failedPages[0]?.reason.length]).toEqual([500, 300]);
});

test('losing the closing segment is recorded only when no chunk is lost, and each chunk once', () => {
  const all = () => given(requested(), planned(3), facts(rendered(0), rendered(1), rendered(2)), facts(closing));
  const { events, state } = all().when(facts(lost(-1)));
  expect(events).toEqual([{ type: 'SegmentLost', version: 1, data: { chunk: -1, reason: 'segment 1 is missing' } }]);
  expect(state).toMatchObject({ phase: 'closing', lostSegments: 1 });
  const known = { pagesOf: (chunk: number) => Array.from({ length: chunk * 7 }, String) };
  const both = all().when(facts(lost(2, -1, 0, 2, 9)), known);
  expect(both.events.map(({ data }) => data)).toEqual([
    { chunk: 2, reason: 'segment 1 is missing', pageCount: 14 },
    { chunk: 0, reason: 'segment 1 is missing', pageCount: 0 },
  ]);
  expect(both.state).toMatchObject({ phase: 'rendering', lostSegments: 2, pageCount: 16 });
  expect(all().when(facts(lost(1))).events[0]?.data).toMatchObject({ pageCount: 0 });
  expect(
    all()
      .when(facts(lost(-1, 0)))
      .events.map(({ data }) => data),
  ).toMatchObject([{ chunk: 0 }]);
});

test('a completed job has the bundle of the report', () => {
  const { events } = given(requested(), planned(1), facts(rendered(0)), facts(closing)).when(facts(joined));
  expect(events).toEqual([
    {
      type: 'ExportCompleted',
      version: 1,
      data: { bundleKey: 'bundles/acme/docs/x.tar.gz', sizeBytes: 9, sha256, manifestSha256: otherSha256 },
    },
  ]);
});

test('a completed job says that the bundle of an earlier one was reused', () => {
  const closed = () => given(requested(), planned(1), facts(rendered(0)), facts(closing));
  const { events, state } = closed().when(facts(fact('BundleJoined', { attempt: 1, ...stored, reused: true })));
  expect(events[0]?.data).toMatchObject({ sizeBytes: 9, reusedBundle: true });
  expect(exportEventSchema.parse(events[0])).toEqual(events[0]);
  expect(state.reusedBundle).toBe(true);
  const made = closed().when(facts(fact('BundleJoined', { attempt: 1, ...stored, reused: false })));
  expect(made.events[0]?.data).not.toHaveProperty('reusedBundle');
});

const together = (numbers: number[], pageCount: number): ExportEvent => ({
  type: 'ChunksReused',
  version: 1,
  data: { chunks: numbers.reduce((bitmap, chunk) => withChunk(bitmap, chunk, 3), ''), pageCount },
});

test('chunks that are reused together count as rendered, each once', () => {
  const reused = () => given(requested(), planned(3, 30), together([0, 2], 20));
  const last = reused().when(facts(rendered(0), rendered(1)));
  expect(last.types).toEqual(['ChunkRendered', 'RenderingFinished']);
  expect(last.state).toMatchObject({ phase: 'closing', pageCount: 30 });
  expect(reused().when(facts(rendered(2))).types).toEqual([]);
});

test('a job that fails says why, in one sentence', () => {
  const { events, state } = given(requested(), planned(1)).when({ type: 'Fail', error: 'It is too large..' });
  expect(events).toEqual([
    { type: 'ExportFailed', version: 1, data: { error: 'It is too large.', failedPageCount: 0 } },
  ]);
  expect(state).toMatchObject({ phase: 'failed', error: 'It is too large.', completedAt: at.time });
  expect(given(requested()).when({ type: 'Fail', error: 'Gone... or not' }).state.error).toBe('Gone... or not');
});

test('the pages that a state counts are never more than those of the plan', () => {
  expect(given(requested(), planned(2, 15)).when(facts(rendered(0), rendered(1))).state).toMatchObject({
    pageCount: 15,
  });
  expect(given(requested(), planned(3, 15), together([0, 2], 20)).when(facts()).state).toMatchObject({ pageCount: 15 });
});

test('a chunk that a history names twice counts once', () => {
  const { events } = given(requested(), planned(3)).when(facts(rendered(0), pageFailed(1, 'guides/x')));
  const { state } = given(requested(), planned(3), ...events, ...events).when(facts());
  expect(state).toMatchObject({ pageCount: 10, failedPageCount: 1, failedPages: [{ path: 'guides/x' }] });
});

test('a history begins with its request', () => {
  const evolve = () => exportJobAggregate.evolve(undefined, planned(1), at);
  expect(evolve).toThrow('The history of an export begins with ExportRequested, not PagesPlanned.');
  expect(exportJobAggregate.evolve(undefined, requested(), at)).toMatchObject({
    ...{ requestedBy: 'orchestrator', phase: 'requested', createdAt: at.time, chunkCount: 0, pageTotal: 0 },
    ...{ pageCount: 0, doneChunks: '', failedChunks: '', timedOutAttempts: {}, failedPages: [], failedPageCount: 0 },
    progress: 0,
  });
});

test('the public form of events has no keys of the object store and no digest of the request', () => {
  const [completed] = given(requested(), planned(1), facts(rendered(0)), facts(closing)).when(facts(joined)).events;
  const shown = [requested(), completed].map((event) => shownExportEventSchema.parse(event).data);
  expect(shown[0]).not.toHaveProperty('requestDigest');
  expect(shown[1]).toEqual({ sizeBytes: 9, sha256, manifestSha256: otherSha256 });
  expect(shownExportEventSchema.parse(planned(1))).toEqual(planned(1));
});
