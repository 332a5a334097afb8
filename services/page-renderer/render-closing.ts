import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { type ExportPlan, segmentKey, type SegmentSidecar, siteModelKey } from '#shared/contracts/stored-objects.ts';
import type { StoredText } from '#shared/docs/render/closing-store.ts';
import { closingAnswers } from '#shared/docs/render/expected-response.ts';
import type { ClosingQuestion } from '#shared/docs/render/render-request.ts';
import { ChildMisbehaved } from '#shared/docs/sandbox/child.ts';
import { Misfit } from '#shared/docs/sandbox/frames.ts';
import { archivePath, packTo } from '#shared/export/bundle/pack-export.ts';
import type { SegmentWriter, UnreadBytes } from '#shared/export/bundle/segment-writer.ts';
import { manifestPath } from '#shared/export/bundle/verify-bundle.ts';
import { readSidecar, segmentsDigest } from '#shared/export/export-objects.ts';
import { freeBytes } from '#shared/runtime/free-bytes.ts';
import { inOrder } from '#shared/runtime/in-parallel.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import { NotCopied, type ObjectStore } from '#shared/storage/object-store.ts';
import { repeatReads } from '#shared/storage/repeat-reads.ts';
import { getParsed } from '#shared/storage/stored-json.ts';
import { closingParts, TextsLost } from './closing-parts.ts';
import type { RendererContext } from './context.ts';
import { type LastClosing, lastClosing, storeClosing } from './store-closing.ts';
import { runChild } from './render-pages.ts';
import { type DigestStates, runningDigest } from './running-digest.ts';
import { shortTexts } from './short-texts.ts';
import { existingSegment, storeSidecar } from './store-segment.ts';

export type ClosingOutcome = { kind: 'rendered'; manifestSha256: string } | { kind: 'lost'; chunks: number[] };

type ClosingContext = Pick<RendererContext, 'objectStore' | 'pool' | 'retry' | 'digests'>;

const closingDeadlineMs = 120_000;

/** SHA-256 of the manifest in the closing segment of a plan that is stored already; undefined if there is none. It reads no site model. */
export async function storedManifest(
  context: Pick<ClosingContext, 'objectStore' | 'retry'>,
  plan: ExportPlan,
  signal: AbortSignal,
): Promise<string | undefined> {
  const sidecar = await existingSegment(context, plan.organization, plan.closingKey, signal, readSidecar);
  return sidecar && manifestSha256Of(plan, sidecar);
}

/**
 * Renders and stores the files that need all pages, from the sidecars of all segments. If sidecars are missing, it names their chunks. A child asks for
 * parts with their facts and sends the files in pieces, so memory does not grow with the text of the site. `after`: hash of the last plan, whose closing
 * segment has most pieces of this one. `anew`: apart from these pieces, nothing that earlier closing segments left is used.
 */
export async function renderClosing(
  context: ClosingContext,
  plan: ExportPlan,
  signal: AbortSignal,
  { after, anew = false }: { after?: string | undefined; anew?: boolean } = {},
): Promise<ClosingOutcome> {
  const { organization, domain, closingKey } = plan;
  const make = async (like: string | undefined): Promise<MadeSegment> => {
    const last = await lastClosing(context.objectStore, organization, like, signal);
    return makeSegment(context, plan, { last, anew, signal });
  };
  const made = await retryUnavailable(context.retry, signal, () =>
    make(after).catch((error: unknown) => {
      if (error instanceof NotCopied) return make(undefined);
      throw error;
    }),
  );
  if (made.kind === 'lost') return made;
  const sidecar = await storeSidecar(context, { organization, domain, key: closingKey }, made.details, signal);
  return { kind: 'rendered', manifestSha256: manifestSha256Of(plan, sidecar) };
}

type MadeSegment = { kind: 'made'; details: Parameters<typeof storeSidecar>[2] } | { kind: 'lost'; chunks: number[] };

/** Renders and uploads the segment concurrently. */
async function makeSegment(
  context: ClosingContext,
  plan: ExportPlan,
  { last, anew, signal }: { last: LastClosing | undefined; anew: boolean; signal: AbortSignal },
): Promise<MadeSegment> {
  const { chunks, pageTotal: _, ...plainPlan } = plan;
  const { organization, closingKey } = plan;
  const parts = closingParts(repeatReads(context.objectStore, context.retry, signal), plan, { anew, signal });
  const { runCount } = parts;
  const shorts = shortTexts(context.objectStore, organization, parts, { anew, signal });
  const model = await storedModel(context.objectStore, plan, signal);
  const request = { kind: 'closing', model, plan: plainPlan, runCount } as const;
  let lost: number[] = [];
  let findings: SegmentSidecar['findings'];
  /** Keeps the error itself, because the child knows only its message. */
  let unanswered: unknown;
  try {
    const summary = await packTo(
      (segment, pieces) =>
        storeClosing(context.objectStore, segmentKey(organization, closingKey), segment, pieces, last, signal),
      async (writer) => {
        const files = incomingFiles(writer, plan, { parts, shorts }, anew ? undefined : context.digests);
        let hasManifest = false;
        const answer = async (question: ClosingQuestion): Promise<unknown> => {
          if (question.kind === 'begin') hasManifest ||= question.path === manifestPath;
          if (question.kind === 'part') return parts.part(question.run);
          if (question.kind === 'text') return parts.text(question);
          if (question.kind === 'short-sizes') return shorts.sizes(question.longest, question.texts);
          return files.take(question);
        };
        try {
          const noted = (question: ClosingQuestion): Promise<unknown> =>
            answer(question).catch((error: unknown) => {
              if (!(error instanceof Misfit)) unanswered = error;
              throw error;
            });
          const pages = new Set(chunks.flatMap((chunk) => (chunk.kind === 'pages' ? chunk.paths : [])));
          const answers = closingAnswers(
            { segmentCount: chunks.length, runCount, pages },
            (run) => parts.factsOf(run),
            noted,
          );
          const options = { deadlineMs: closingDeadlineMs, affinity: organization, signal, answers };
          const response = await runChild(context.pool, request, options);
          lost = parts.lost();
          ({ findings } = response);
          if (lost.length === 0 && unanswered !== undefined) throw unanswered;
          if (answers.missing().join() !== response.lost.join())
            throw new ChildMisbehaved('it reported other segments as lost');
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
    await shorts.store();
    const details = { ...summary, madeFrom: segmentsDigest(parts.segments), ...(findings && { findings }) };
    return { kind: 'made', details };
  } catch (error) {
    if (lost.length > 0) return { kind: 'lost', chunks: lost };
    if (error instanceof TextsLost) return { kind: 'lost', chunks: [error.segment] };
    throw error;
  }
}

/** The bytes of the site model, which only the child parses. Rejects with `BrokenObject`, and if the model is gone. */
async function storedModel(
  objectStore: ObjectStore,
  { organization, domain, contentVersion }: ExportPlan,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const key = siteModelKey({ organization, domain, contentVersion });
  const model = await getParsed(objectStore, key, (stored) => stored, { signal });
  if (model === undefined) throw new Error(`the content version ${contentVersion} was deleted`);
  return model;
}

const textsReadAhead = 4;
/** Limit of texts in flight, in bytes. A single larger text is allowed: the texts of a chunk may have 60 MB. */
const aheadBytes = 8 * 1024 * 1024;
const piecesAhead = 1;

type IncomingTexts = {
  parts: Pick<ReturnType<typeof closingParts>, 'unread' | 'nameOf'>;
  shorts: Pick<ReturnType<typeof shortTexts>, 'take' | 'nameOf'>;
};

/**
 * Receives files from a child in pieces, and adds them to the segment. The child waits for each answer. Texts that are known from the digest of an
 * earlier file are copied without being read.
 */
function incomingFiles(
  writer: SegmentWriter,
  { domain }: Pick<ExportPlan, 'domain'>,
  { parts, shorts }: IncomingTexts,
  states: DigestStates | undefined,
) {
  const newBody = () => new PassThrough({ objectMode: true, highWaterMark: piecesAhead });
  let body = newBody();
  let digest = runningDigest(states);
  let added: Promise<string> = Promise.resolve('');
  const write = async (bytes: Uint8Array | UnreadBytes): Promise<void> => {
    if (!body.write(bytes)) await Promise.race([once(body, 'drain'), added]);
  };
  /** Adds texts in order. Those that the digest knows are not inflated; `read` calls are `ahead` of the writer. */
  const addTexts = async (
    names: readonly string[],
    ahead: number,
    read: (at: number) => Promise<Uint8Array | (UnreadBytes & { raw?: Uint8Array })>,
  ): Promise<void> => {
    const known = digest.addKnown(names);
    const readOne = async (at: number) => {
      const bytes = await read(at);
      if (at < known || bytes instanceof Uint8Array || bytes.raw !== undefined) return { bytes };
      return { bytes, inflated: await bytes.inflate() };
    };
    for await (const [at, { bytes, inflated }] of inOrder([...names.keys()], ahead, readOne)) {
      const raw = inflated ?? (bytes instanceof Uint8Array ? bytes : bytes.raw);
      if (at >= known && raw !== undefined) digest.addText(names[at] ?? '', raw);
      if (inflated !== undefined) freeBytes(inflated);
      await write(bytes);
    }
    digest.remember();
  };
  return {
    async take(
      question: Exclude<ClosingQuestion, { kind: 'part' | 'text' | 'short-sizes' }>,
    ): Promise<string | undefined> {
      switch (question.kind) {
        case 'begin': {
          body = newBody();
          const own = runningDigest(states);
          digest = own;
          added = writer.addStream(archivePath(domain, question.path), question.size, body, () => own.hex());
          // The error is thrown again to the reader of the next piece.
          added.catch(() => undefined);
          return undefined;
        }
        case 'bytes':
          digest.add(question.bytes);
          await write(question.bytes);
          return undefined;
        case 'texts': {
          const { texts } = question;
          await addTexts(texts.map(parts.nameOf), aheadOf(texts), (at) => parts.unread(texts[at] as StoredText));
          return undefined;
        }
        case 'short': {
          const { longest, texts, made } = question;
          const names = texts.map((text) => shorts.nameOf(longest, text));
          await addTexts(names, 1, (at) => shorts.take(longest, texts[at] as StoredText, made[at] ?? null));
          return undefined;
        }
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
