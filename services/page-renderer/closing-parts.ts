import { buffer } from 'node:stream/consumers';
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type SegmentSidecar, sidecarKey } from '#shared/contracts/stored-objects.ts';
import { type ClosingPart, closingPart } from '#shared/docs/render/closing-part.ts';
import type { StoredText } from '#shared/docs/render/closing-store.ts';
import { isLikeClosingFile, type PartFacts } from '#shared/docs/render/expected-response.ts';
import type { AnsweredPart } from '#shared/docs/render/render-request.ts';
import { Misfit } from '#shared/docs/sandbox/frames.ts';
import { archivePath } from '#shared/export/bundle/pack-export.ts';
import { inflatedTexts, placeOfTexts, type TextKind } from '#shared/export/bundle/packed-segment.ts';
import type { DeflatedBytes, UnreadBytes } from '#shared/export/bundle/segment-writer.ts';
import { readWholeSidecar } from '#shared/export/export-objects.ts';
import { segmentRuns } from '#shared/export/segment-runs.ts';
import { inOrder } from '#shared/runtime/in-parallel.ts';
import { type ObjectStore, unlessDamaged } from '#shared/storage/object-store.ts';
import type { PlannedSite } from './planned-sites.ts';

/** Cache size for the texts of all pages, as they are stored; texts of larger sites are read again when they are needed. */
const keptBytes = 32 * 1024 * 1024;

/** Size of the JSON of sidecars that are folded into one part. The JSON of one sidecar may be larger. */
const partBytes = 16 * 1024 * 1024;

/** Sidecars of a run that are read ahead. */
const sidecarsAhead = 4;

/**
 * Limit of reading and inflating the texts of one segment. A child needs them for the search index and for `llms-full.txt`, in the order of the pages.
 */
const mostReadsOfTexts = 16;

/** Two adjacent segments are read at the same time. */
const segmentsInParts = 2;

/** The texts of a segment are gone or damaged: its pages must be rendered again. */
export class TextsLost extends Error {
  override name = 'TextsLost';
  readonly segment: number;

  constructor(segment: number) {
    super(`the texts of segment ${segment} of the plan are gone or damaged`);
    this.segment = segment;
  }
}

/** Texts of a segment: their facts, the place in the sidecar's object where they begin, and the SHA-256 of the deflated texts of each kind. */
type SegmentTexts = { facts: NonNullable<SegmentSidecar['texts']>; at: number; sha256: Record<TextKind, string> };

/** The facts of a plan's segments for the closing segment, folded from their sidecars into parts, and the texts of their pages. */
export function closingParts(objectStore: ObjectStore, { organization, domain, chunks }: PlannedSite['plan']) {
  const runs = segmentRuns({ chunks });
  const segments: { sha256: string }[] = [];
  const lost = new Set<number>();
  const givers = new Map<number, AsyncGenerator<AnsweredPart>>();
  const given = new Map<number, PartFacts>();
  const texts = new Map<number, SegmentTexts>();
  /** The texts of both kinds, as they are stored after a sidecar. */
  const kept = new Map<number, Uint8Array>();
  let room = keptBytes;
  const keyOf = (segment: number): string => chunks[segment]?.key ?? '';
  /** Texts of segments that are requested in parts: page by page, in order. */
  const inParts = new LRUCache<string, Promise<DeflatedBytes>>({ max: segmentsInParts });
  const reads = new Map<string, number>();

  /** The parts of a run. If sidecars are missing, the others are read too, so that all are named. */
  async function* partsOf(run: number): AsyncGenerator<AnsweredPart> {
    const { first, chunks: own } = runs[run] ?? { first: 0, chunks: [] };
    const numbers = own.map((_, at) => first + at);
    const read = (segment: number) => readWholeSidecar(objectStore, organization, keyOf(segment));
    let folding = newPart();
    for await (const [segment, stored] of inOrder(numbers, sidecarsAhead, read)) {
      if (stored === undefined) {
        lost.add(segment);
        continue;
      }
      const { sidecar, jsonBytes, behind, behindAt } = stored;
      if (folding.jsonBytes > 0 && folding.jsonBytes + jsonBytes > partBytes) {
        yield giving(run, folding, false);
        folding = newPart();
      }
      segments[segment] = { sha256: sidecar.sha256 };
      if (sidecar.texts !== undefined) {
        const facts = sidecar.texts;
        const sha256Of = (kind: TextKind): string => {
          const { begin, end } = placeOfTexts(facts, kind);
          return hash('sha256', behind.subarray(begin, end), 'hex');
        };
        texts.set(segment, {
          facts,
          at: behindAt,
          sha256: { search: sha256Of('search'), fullText: sha256Of('fullText') },
        });
      }
      room -= behind.length;
      if (room >= 0) kept.set(segment, behind);
      folding.add(sidecar);
      folding.jsonBytes += jsonBytes;
      folding.segmentCount += 1;
      folding.textBytes += textBytesOf(sidecar);
    }
    if (numbers.every((segment) => !lost.has(segment))) yield giving(run, folding, true);
  }

  const newPart = () => ({ ...closingPart(archivePath(domain, '')), jsonBytes: 0, segmentCount: 0, textBytes: 0 });

  function giving(run: number, folded: ReturnType<typeof newPart>, isLast: boolean): AnsweredPart {
    const { part, segmentCount, textBytes } = folded;
    given.set(run, { claimed: claimedFiles(part), textBytes, isLast });
    return { json: Buffer.from(JSON.stringify(part)), segmentCount, isLast };
  }

  /** Facts of the texts of one kind. */
  function textsOf(segment: number, of: TextKind) {
    const stored = texts.get(segment);
    if (stored === undefined) throw new Misfit('it asked for a text that does not exist');
    return { ...stored.facts[of], sha256: stored.sha256[of], at: stored.at, ...placeOfTexts(stored.facts, of) };
  }

  /** The deflated texts of one kind, from memory or from the store. Rejects with `TextsLost` if they are not the same as before. */
  async function deflatedText(segment: number, of: TextKind): Promise<Uint8Array> {
    const before = reads.get(`${segment} ${of}`) ?? 0;
    if (before === mostReadsOfTexts) throw new Misfit('it asked for the same texts again and again');
    reads.set(`${segment} ${of}`, before + 1);
    const { at, begin, end, sha256 } = textsOf(segment, of);
    const behind = kept.get(segment);
    if (behind !== undefined) return behind.subarray(begin, end);
    const stored = await bytesOfRange(objectStore, sidecarKey(organization, keyOf(segment)), at + begin, at + end);
    return stored !== undefined && hash('sha256', stored, 'hex') === sha256 ? stored : lose(segment);
  }

  async function wholeText(segment: number, of: TextKind): Promise<DeflatedBytes> {
    const deflated = await deflatedText(segment, of);
    return (await inflatedTexts(textsOf(segment, of), deflated)) ?? (await lose(segment));
  }

  /** Removes the sidecar of a segment, whose texts are gone or damaged, so that it is rendered again. */
  async function lose(segment: number): Promise<never> {
    await objectStore.remove(sidecarKey(organization, keyOf(segment)));
    throw new TextsLost(segment);
  }

  const isWhole = ({ segment, of, begin, end }: StoredText): boolean =>
    begin === 0 && end === textsOf(segment, of).rawLength;

  /** The bytes of a text, with their deflate data if they are the segment's only text of this kind. Rejects with `TextsLost`. */
  async function text(asked: StoredText): Promise<Uint8Array | DeflatedBytes> {
    const { segment, of, begin, end } = asked;
    if (end > textsOf(segment, of).rawLength) throw new Misfit('it asked for a text that does not exist');
    if (isWhole(asked)) return wholeText(segment, of);
    const key = `${segment} ${of}`;
    const reading = inParts.get(key) ?? wholeText(segment, of);
    inParts.set(key, reading);
    try {
      return (await reading).raw.subarray(begin, end);
    } catch (error) {
      inParts.delete(key);
      throw error;
    }
  }

  return {
    runCount: runs.length,
    /** Segments whose sidecars were read. */
    segments,
    /** Segments whose sidecars are missing or damaged. */
    lost: (): number[] => [...lost].sort((a, b) => a - b),
    /** The next part of a run, or undefined if a sidecar of the run is missing. */
    async part(run: number): Promise<AnsweredPart | undefined> {
      const giver = givers.get(run) ?? partsOf(run);
      givers.set(run, giver);
      const next = await giver.next();
      return next.done === true ? undefined : next.value;
    },
    /** The facts of the part that was just read, once. */
    factsOf(run: number): PartFacts | undefined {
      const found = given.get(run);
      given.delete(run);
      return found;
    },
    /** A name that stands for the bytes of a text. */
    nameOf({ segment, of, begin, end }: StoredText): string {
      return `${textsOf(segment, of).sha256} ${begin} ${end}`;
    },
    text,
    /** The same without inflating the text, if it is whole. */
    async unread(asked: StoredText): Promise<Uint8Array | DeflatedBytes | UnreadBytes> {
      if (!isWhole(asked)) return text(asked);
      const { segment, of } = asked;
      const { rawLength, crc32 } = textsOf(segment, of);
      const deflated = await deflatedText(segment, of);
      const inflate = async () => (await inflatedTexts(textsOf(segment, of), deflated))?.raw ?? (await lose(segment));
      return { deflated, rawLength, crc32, inflate };
    },
  };
}

/** Files of segments that have names of files of a closing segment. */
const claimedFiles = ({ files }: ClosingPart): string[] =>
  files.flatMap(([path]) => (isLikeClosingFile(path) ? [path] : []));

const textBytesOf = ({ texts }: SegmentSidecar): number =>
  texts === undefined ? 0 : texts.search.rawLength + texts.fullText.rawLength;

/** The bytes of an object from `start` up to and without `end`; undefined if it has none. */
async function bytesOfRange(
  objectStore: ObjectStore,
  key: string,
  start: number,
  end: number,
): Promise<Uint8Array | undefined> {
  if (start === end) return new Uint8Array(0);
  try {
    const stored = await unlessDamaged(objectStore.getStream(key, { range: { start, end: end - 1 } }));
    return stored && (await buffer(stored));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
