import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { type ExportPlan, segmentKey, type SegmentSidecar, sidecarKey } from '#shared/contracts/stored-objects.ts';
import type { StoredText } from '#shared/docs/render/closing-store.ts';
import { closingAnswers, type SidecarFacts } from '#shared/docs/render/expected-response.ts';
import type { ClosingQuestion } from '#shared/docs/render/render-request.ts';
import { ChildMisbehaved } from '#shared/docs/sandbox/child.ts';
import { Misfit } from '#shared/docs/sandbox/frames.ts';
import { archivePath, packTo } from '#shared/export/bundle/pack-export.ts';
import { readTexts, type TextKind } from '#shared/export/bundle/packed-segment.ts';
import type { DeflatedBytes, SegmentWriter } from '#shared/export/bundle/segment-writer.ts';
import { manifestPath } from '#shared/export/bundle/verify-bundle.ts';
import { readSidecar, readWholeSidecar, segmentsDigest } from '#shared/export/export-objects.ts';
import { inOrder } from '#shared/runtime/in-parallel.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { repeatReads } from '#shared/storage/repeat-reads.ts';
import type { RendererContext } from './context.ts';
import type { PlannedSite } from './planned-sites.ts';
import { runChild } from './render-pages.ts';
import { existingSegment, storeSidecar } from './store-segment.ts';

export type ClosingOutcome = { kind: 'rendered'; manifestSha256: string } | { kind: 'lost'; chunks: number[] };

type ClosingContext = Pick<RendererContext, 'objectStore' | 'pool' | 'retry'>;

const closingDeadlineMs = 120_000;

/** SHA-256 of the manifest in the closing segment of a plan that is stored already; undefined if there is none. It reads no site model. */
export async function storedManifest(
  context: Pick<ClosingContext, 'objectStore' | 'retry'>,
  plan: PlannedSite['plan'],
  signal: AbortSignal,
): Promise<string | undefined> {
  const sidecar = await existingSegment(context, plan.organization, plan.closingKey, signal, readSidecar);
  return sidecar && manifestSha256Of(plan, sidecar);
}

/**
 * Renders and stores the files that need all pages, from the sidecars of all segments. If sidecars are missing, it names their chunks. A child asks for
 * the sidecars and sends the files in pieces, so memory does not grow with the text of the site.
 */
export async function renderClosing(
  context: ClosingContext,
  site: PlannedSite,
  signal: AbortSignal,
): Promise<ClosingOutcome> {
  const { plan } = site;
  const { organization, domain, closingKey } = plan;
  const made = await retryUnavailable(context.retry, signal, () => makeSegment(context, site, signal));
  if (made.kind === 'lost') return made;
  const sidecar = await storeSidecar(context, { organization, domain, key: closingKey }, made.details, signal);
  return { kind: 'rendered', manifestSha256: manifestSha256Of(plan, sidecar) };
}

type MadeSegment = { kind: 'made'; details: Parameters<typeof storeSidecar>[2] } | { kind: 'lost'; chunks: number[] };

/** Renders and uploads the segment concurrently. */
async function makeSegment(
  context: ClosingContext,
  { plan, index, exported }: PlannedSite,
  signal: AbortSignal,
): Promise<MadeSegment> {
  const { chunks, pageTotal: _, ...plainPlan } = plan;
  const { organization, closingKey } = plan;
  const request = { kind: 'closing', model: index.model, plan: plainPlan, segmentCount: chunks.length } as const;
  const sidecars = sidecarsOf(repeatReads(context.objectStore, context.retry, signal), plan);
  let lost: number[] = [];
  /** Keeps the error itself, because the child knows only its message. */
  let unanswered: unknown;
  try {
    const summary = await packTo(
      (segment) => context.objectStore.putStream(segmentKey(organization, closingKey), segment, { signal }),
      async (writer) => {
        const files = incomingFiles(writer, plan, (text) => sidecars.text(text));
        let hasManifest = false;
        const answer = async (question: ClosingQuestion): Promise<unknown> => {
          if (question.kind === 'begin') hasManifest ||= question.path === manifestPath;
          if (question.kind === 'sidecar') return sidecars.facts(question.segment);
          if (question.kind !== 'text') return files.take(question);
          const text = await sidecars.text(question);
          return 'raw' in text ? text.raw : text;
        };
        try {
          const noted = (question: ClosingQuestion): Promise<unknown> =>
            answer(question).catch((error: unknown) => {
              if (!(error instanceof Misfit)) unanswered = error;
              throw error;
            });
          const pages = new Set(exported);
          const answers = closingAnswers(
            { segmentCount: chunks.length, pages },
            (segment) => sidecars.factsOf(segment),
            noted,
          );
          const options = { deadlineMs: closingDeadlineMs, affinity: organization, signal, answers };
          const response = await runChild(context.pool, request, options);
          lost = answers.missing();
          if (lost.length === 0 && unanswered !== undefined) throw unanswered;
          if (lost.join() !== response.lost.join()) throw new ChildMisbehaved('it reported other segments as lost');
          if (answers.isInFile()) throw new ChildMisbehaved('it responded in the middle of a file');
          // A segment without a manifest would be found by every later export of the same content, and fail it.
          if (lost.length === 0 && !hasManifest) throw new ChildMisbehaved('it made no manifest');
        } catch (error) {
          throw unanswered ?? error;
        } finally {
          files.end();
        }
        if (lost.length > 0) throw new Error('sidecars are missing, so there is nothing to store');
      },
      { withPieces: true },
    );
    return { kind: 'made', details: { ...summary, madeFrom: segmentsDigest(sidecars.segments) } };
  } catch (error) {
    if (lost.length > 0) return { kind: 'lost', chunks: lost };
    if (error instanceof TextsLost) return { kind: 'lost', chunks: [error.segment] };
    throw error;
  }
}

/** Cache size for the texts of all pages, as they are stored; texts of larger sites are read again when they are needed. */
const keptBytes = 32 * 1024 * 1024;

/**
 * Limit of reading and inflating the texts of one segment. A child needs them for the search index and for `llms-full.txt`, in the order of the pages.
 */
const mostReadsOfTexts = 16;

/** Two adjacent segments are read at the same time. */
const segmentsInParts = 2;

/** The texts of a segment are gone or damaged: its pages must be rendered again. */
class TextsLost extends Error {
  override name = 'TextsLost';
  readonly segment: number;

  constructor(segment: number) {
    super(`the texts of segment ${segment} of the plan are gone or damaged`);
    this.segment = segment;
  }
}

/** The stored sidecars of a plan's segments. */
function sidecarsOf(objectStore: ObjectStore, { organization, domain, chunks }: PlannedSite['plan']) {
  const segments: { sha256: string }[] = [];
  const facts = new Map<number, SidecarFacts>();
  const topFolder = archivePath(domain, '');
  const kept = new Map<number, { sidecar: Pick<SegmentSidecar, 'texts'>; behind: Uint8Array }>();
  let room = keptBytes;
  const read = (segment: number) => readWholeSidecar(objectStore, organization, chunks[segment]?.key ?? '');
  /** Texts of segments that are requested in parts: page by page, in order. */
  const inParts = new LRUCache<string, Promise<DeflatedBytes | undefined>>({ max: segmentsInParts });

  const reads = new Map<string, number>();

  async function wholeText(segment: number, of: TextKind): Promise<DeflatedBytes | undefined> {
    const before = reads.get(`${segment} ${of}`) ?? 0;
    if (before === mostReadsOfTexts) throw new Misfit('it asked for the same texts again and again');
    reads.set(`${segment} ${of}`, before + 1);
    const stored = kept.get(segment) ?? (await read(segment));
    return stored && readTexts(stored.sidecar, stored.behind, of);
  }
  return {
    /** Segments whose sidecars were read. */
    segments,
    /** The JSON of the sidecar of a segment, or undefined if it is missing. */
    async facts(segment: number): Promise<Uint8Array | undefined> {
      const stored = await read(segment);
      if (stored === undefined) return undefined;
      const { sidecar, json, behind } = stored;
      const { sha256, files, texts } = sidecar;
      segments[segment] = { sha256 };
      facts.set(segment, {
        files: files.map(({ path }) => (path.startsWith(topFolder) ? path.slice(topFolder.length) : path)),
        textBytes: texts === undefined ? 0 : texts.search.rawLength + texts.fullText.rawLength,
      });
      room -= behind.length;
      if (room >= 0) kept.set(segment, { sidecar: { texts }, behind });
      return json;
    },
    /** The facts of a sidecar that was just read, once. */
    factsOf(segment: number): SidecarFacts | undefined {
      const found = facts.get(segment);
      facts.delete(segment);
      return found;
    },
    /** The bytes of a text, with their deflate data if they are the segment's only text of this kind. Rejects with `TextsLost`. */
    async text({ segment, of, begin, end }: StoredText): Promise<Uint8Array | DeflatedBytes> {
      const key = `${segment} ${of}`;
      const reading = inParts.get(key) ?? wholeText(segment, of);
      inParts.set(key, reading);
      const whole = await reading.catch((error: unknown) => {
        inParts.delete(key);
        throw error;
      });
      if (whole !== undefined && end > whole.raw.length) throw new Misfit('it asked for a text that does not exist');
      if (whole === undefined || (begin === 0 && end === whole.raw.length)) inParts.delete(key);
      if (whole === undefined) {
        await objectStore.remove(sidecarKey(organization, chunks[segment]?.key ?? ''));
        throw new TextsLost(segment);
      }
      return begin === 0 && end === whole.raw.length ? whole : whole.raw.subarray(begin, end);
    },
  };
}

const textsReadAhead = 4;
/** Limit of texts in flight, in bytes, unless one is larger: those of a chunk may have 60 MB. */
const aheadBytes = 8 * 1024 * 1024;
const piecesAhead = 1;

/** Receives files from a child in pieces, and adds them to the segment. The child waits for each answer. `read`: the bytes of a stored text. */
function incomingFiles(
  writer: SegmentWriter,
  { domain }: Pick<ExportPlan, 'domain'>,
  read: (text: StoredText) => Promise<Uint8Array | DeflatedBytes>,
) {
  const newBody = () => new PassThrough({ objectMode: true, highWaterMark: piecesAhead });
  let body = newBody();
  let added: Promise<string> = Promise.resolve('');
  const write = async (bytes: Uint8Array | DeflatedBytes): Promise<void> => {
    if (!body.write(bytes)) await Promise.race([once(body, 'drain'), added]);
  };
  return {
    async take(question: Exclude<ClosingQuestion, { kind: 'sidecar' | 'text' }>): Promise<string | undefined> {
      switch (question.kind) {
        case 'begin':
          body = newBody();
          added = writer.addStream(archivePath(domain, question.path), question.size, body);
          // The error is thrown to the reader of the next piece.
          added.catch(() => undefined);
          return undefined;
        case 'bytes':
          await write(question.bytes);
          return undefined;
        case 'texts':
          for await (const [, bytes] of inOrder(question.texts, aheadOf(question.texts), read)) await write(bytes);
          return undefined;
        case 'end':
          body.end();
          return added;
      }
    },
    /** Ends the stream of pieces. */
    end(): void {
      body.destroy();
    },
  };
}

function aheadOf(texts: readonly StoredText[]): number {
  const largest = texts.reduce((most, { begin, end }) => Math.max(most, end - begin), 1);
  return Math.max(1, Math.min(textsReadAhead, Math.floor(aheadBytes / largest)));
}

/** SHA-256 of the manifest, from the closing segment's sidecar. Throws if it has none. */
function manifestSha256Of({ domain }: Pick<ExportPlan, 'domain'>, { files }: SegmentSidecar): string {
  const manifest = files.find(({ path }) => path === archivePath(domain, manifestPath));
  if (manifest === undefined) throw new Error('the closing segment has no manifest');
  return manifest.sha256;
}
