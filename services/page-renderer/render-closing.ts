import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { type ExportPlan, segmentKey, type SegmentSidecar } from '#shared/contracts/stored-objects.ts';
import type { StoredText } from '#shared/docs/render/closing-store.ts';
import type { ClosingQuestion } from '#shared/docs/render/render-request.ts';
import { archivePath, packTo } from '#shared/export/bundle/pack-export.ts';
import type { SegmentWriter } from '#shared/export/bundle/segment-writer.ts';
import { manifestPath } from '#shared/export/bundle/verify-bundle.ts';
import { readSidecar, readSidecarTexts, segmentsDigest } from '#shared/export/export-objects.ts';
import { inOrder } from '#shared/runtime/in-parallel.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { RendererContext } from './context.ts';
import type { PlannedSite } from './planned-sites.ts';
import { runChild } from './render-pages.ts';
import { existingSegment, storeSidecar } from './store-segment.ts';

export type ClosingOutcome =
  | { kind: 'rendered'; manifestSha256: string; reused: boolean }
  | { kind: 'lost'; chunks: number[] };

type ClosingContext = Pick<RendererContext, 'objectStore' | 'pool' | 'retry'>;

const closingDeadlineMs = 120_000;

/**
 * Renders and stores the files that need all pages, from the sidecars of all segments, unless they are stored. If sidecars are missing, it
 * names their chunks. A child asks for the sidecars and gives the files a piece at a time, so memory does not grow with the text of the site.
 */
export async function renderClosing(
  context: ClosingContext,
  site: PlannedSite,
  signal: AbortSignal,
): Promise<ClosingOutcome> {
  const { plan } = site;
  const { organization, domain, closingKey } = plan;
  const existing = await existingSegment(context, organization, closingKey, signal, readSidecar);
  if (existing !== undefined)
    return { kind: 'rendered', manifestSha256: manifestSha256Of(plan, existing), reused: true };
  const made = await retryUnavailable(context.retry, signal, () => makeSegment(context, site, signal));
  if (made.kind === 'lost') return made;
  const sidecar = await storeSidecar(context, { organization, domain, key: closingKey }, made.details, signal);
  return { kind: 'rendered', manifestSha256: manifestSha256Of(plan, sidecar), reused: false };
}

type MadeSegment = { kind: 'made'; details: Parameters<typeof storeSidecar>[2] } | { kind: 'lost'; chunks: number[] };

/** Renders and uploads the segment at the same time. */
async function makeSegment(
  context: ClosingContext,
  { plan, index }: PlannedSite,
  signal: AbortSignal,
): Promise<MadeSegment> {
  const { chunks, pageTotal: _, ...plainPlan } = plan;
  const { organization, closingKey } = plan;
  const request = { kind: 'closing', model: index.model, plan: plainPlan, segmentCount: chunks.length } as const;
  const segments: { sha256: string }[] = [];
  let lost: number[] = [];
  /** The child knows only its message. */
  let unanswered: unknown;
  try {
    const summary = await packTo(
      (segment) => context.objectStore.putStream(segmentKey(organization, closingKey), segment, { signal }),
      async (writer) => {
        const texts = async ({ segment, begin, end }: StoredText): Promise<Uint8Array> => {
          const stored = await readSidecarTexts(context.objectStore, organization, chunks[segment]?.key ?? '');
          if (stored === undefined) throw new Error('a sidecar is gone that was there before');
          return stored.subarray(begin, end);
        };
        const files = incomingFiles(writer, plan, texts);
        const answer = async (content: unknown): Promise<unknown> => {
          const question = content as ClosingQuestion;
          if (question.kind === 'text') return texts(question);
          if (question.kind !== 'sidecar') return files.take(question);
          const { key = '' } = chunks[question.segment] ?? {};
          const sidecar = await readSidecar(context.objectStore, organization, key);
          if (sidecar !== undefined) segments[question.segment] = { sha256: sidecar.sha256 };
          return sidecar;
        };
        try {
          const noted = (content: unknown): Promise<unknown> =>
            answer(content).catch((error: unknown) => {
              unanswered = error;
              throw error;
            });
          const options = { deadlineMs: closingDeadlineMs, affinity: organization, signal, answer: noted };
          ({ lost } = await runChild(context.pool, request, options));
        } finally {
          files.end();
        }
        if (lost.length > 0) throw new Error('sidecars are missing, so there is nothing to store');
      },
    );
    return { kind: 'made', details: { ...summary, madeFrom: segmentsDigest(segments) } };
  } catch (error) {
    if (lost.length > 0) return { kind: 'lost', chunks: lost };
    throw unanswered ?? error;
  }
}

const textsReadAhead = 4;

/** Takes files from a child, piece by piece, and adds them to the segment. The child waits for each answer. `read`: the bytes of a stored text. */
function incomingFiles(
  writer: SegmentWriter,
  { domain }: Pick<ExportPlan, 'domain'>,
  read: (text: StoredText) => Promise<Uint8Array>,
) {
  let body = new PassThrough();
  let added: Promise<string> = Promise.resolve('');
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (!body.write(bytes)) await Promise.race([once(body, 'drain'), added]);
  };
  return {
    async take(question: Exclude<ClosingQuestion, { kind: 'sidecar' | 'text' }>): Promise<string | undefined> {
      switch (question.kind) {
        case 'begin':
          body = new PassThrough();
          added = writer.addStream(archivePath(domain, question.path), question.size, body);
          // Thrown to whoever waits for the next piece.
          added.catch(() => undefined);
          return undefined;
        case 'bytes':
          await write(question.bytes);
          return undefined;
        case 'texts':
          for await (const [, bytes] of inOrder(question.texts, textsReadAhead, read)) await write(bytes);
          return undefined;
        case 'end':
          body.end();
          return added;
      }
    },
    /** Nothing more comes. */
    end(): void {
      body.destroy();
    },
  };
}

/** SHA-256 of the manifest, as the closing segment's sidecar says. Throws when it has none. */
function manifestSha256Of({ domain }: Pick<ExportPlan, 'domain'>, { files }: SegmentSidecar): string {
  const manifest = files.find(({ path }) => path === archivePath(domain, manifestPath));
  if (manifest === undefined) throw new Error('the closing segment has no manifest');
  return manifest.sha256;
}
