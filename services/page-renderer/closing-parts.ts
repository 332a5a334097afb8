import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { partFactsKey, partTextsKey, sidecarKey } from '#shared/contracts/stored-objects.ts';
import { type ClosingPart, closingPart } from '#shared/docs/render/closing-part.ts';
import type { StoredText } from '#shared/docs/render/closing-store.ts';
import { isLikeClosingFile, type PartFacts } from '#shared/docs/render/expected-response.ts';
import type { AnsweredPart } from '#shared/docs/render/render-request.ts';
import { Misfit } from '#shared/docs/sandbox/frames.ts';
import { archivePath } from '#shared/export/bundle/pack-export.ts';
import { inflatedTexts, placeOfTexts, type TextKind } from '#shared/export/bundle/packed-segment.ts';
import type { DeflatedBytes, UnreadBytes } from '#shared/export/bundle/segment-writer.ts';
import { readWholeSidecar, type WholeSidecar } from '#shared/export/export-objects.ts';
import {
  keptPartKeys,
  type KeptPart,
  type PartSegment,
  placeInPart,
  readPart,
  storePart,
} from '#shared/export/kept-parts.ts';
import { segmentRuns } from '#shared/export/segment-runs.ts';
import { inOrder } from '#shared/runtime/in-parallel.ts';
import { type ObjectStore, unlessDamaged } from '#shared/storage/object-store.ts';
import type { PlannedSite } from './planned-sites.ts';

/** Cache size for the texts of all pages, as they are stored; texts of larger sites are read again when they are needed. */
const keptBytes = 32 * 1024 * 1024;

/** Size of the JSON of sidecars that are folded into one part. The JSON of one sidecar may be larger. */
const partBytes = 16 * 1024 * 1024;

/** Number of sidecars of a run that are read ahead. */
const sidecarsAhead = 4;

/**
 * Number of times that a child may have the texts of one segment read and inflated. It needs them for the search index and for `llms-full.txt`, in the
 * order of the pages.
 */
const mostReadsOfTexts = 16;

/** Number of segments whose texts are read in parts. Two adjacent ones are read at the same time. */
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

/** Limit of the deflated texts of a part that is kept, which are in memory when it is stored. */
const mostTextBytes = 16 * 1024 * 1024;
/** Limit of the texts of parts of one kind in memory, where those of adjacent segments are needed one after the other. */
const mostReadBytes = 16 * 1024 * 1024;

/**
 * The facts of a plan's segments for the closing segment, folded from their sidecars into parts, and the texts of their pages. The parts of a large site
 * are kept in the store, and those of runs that did not change are read from there, unless they are made `anew`.
 */
export function closingParts(
  objectStore: ObjectStore,
  plan: PlannedSite['plan'],
  { anew, signal }: { anew: boolean; signal: AbortSignal },
) {
  const { organization, domain, chunks } = plan;
  const runs = segmentRuns(plan);
  const partKeys = keptPartKeys(plan, runs);
  const segments: PartSegment[] = [];
  const lost = new Set<number>();
  const givers = new Map<number, AsyncGenerator<AnsweredPart>>();
  const given = new Map<number, PartFacts>();
  /** Runs whose parts are in the store. */
  const stored = new Set<number>();
  /** The texts of both kinds of a segment, as they follow its sidecar in the store. */
  const inMemory = new Map<number, Uint8Array>();
  let room = keptBytes;
  const keyOf = (segment: number): string => chunks[segment]?.key ?? '';
  /** Texts of segments that are requested in parts: page by page, in order. */
  const inParts = new LRUCache<string, Promise<DeflatedBytes>>({ max: segmentsInParts });
  const reads = new Map<string, number>();
  const runOf = runs.flatMap(({ chunks: own }, run) => own.map(() => run));
  /** All texts of one kind of a stored part. */
  const partTexts = new LRUCache<string, Uint8Array>({
    maxSize: mostReadBytes,
    sizeCalculation: ({ length }) => length + 1,
  });
  /** Reads of such texts in flight: the texts of adjacent segments are asked for at the same time. */
  const partReads = new Map<string, Promise<Uint8Array | undefined>>();

  /** The parts of a run. If a sidecar is missing, the others are still read, so that all missing ones are reported together. */
  async function* partsOf(run: number): AsyncGenerator<AnsweredPart> {
    const { first, chunks: own } = runs[run] ?? { first: 0, chunks: [] };
    const key = partKeys[run];
    const kept = key === undefined || anew ? undefined : await readPart(objectStore, { organization, key }, { signal });
    if (kept?.segments.length === own.length) {
      for (const [at, segment] of kept.segments.entries()) segments[first + at] = segment;
      stored.add(run);
      yield giving(run, kept, kept.segments, true);
      return;
    }
    const numbers = own.map((_, at) => first + at);
    const read = (segment: number) => readWholeSidecar(objectStore, organization, keyOf(segment));
    let folding = newPart();
    const behindAll: Uint8Array[] = [];
    let isKept = key !== undefined;
    for await (const [segment, found] of inOrder(numbers, sidecarsAhead, read)) {
      if (found === undefined) {
        lost.add(segment);
        continue;
      }
      const { sidecar, jsonBytes, behind } = found;
      if (folding.jsonBytes > 0 && folding.jsonBytes + jsonBytes > partBytes) {
        isKept = false;
        yield giving(run, folded(folding), folding.segments, false);
        folding = newPart();
      }
      const facts = partSegment(found);
      segments[segment] = facts;
      room -= behind.length;
      if (room >= 0) inMemory.set(segment, behind);
      folding.add(sidecar);
      folding.jsonBytes += jsonBytes;
      folding.textBytes += behind.length;
      folding.segments.push(facts);
      isKept &&= folding.textBytes <= mostTextBytes;
      if (isKept) behindAll.push(behind);
      else behindAll.length = 0;
    }
    if (numbers.some((segment) => lost.has(segment))) return;
    const part = folded(folding);
    if (key !== undefined && isKept) {
      await storePart(objectStore, { organization, key }, part, behindAll, { signal });
      stored.add(run);
    }
    yield giving(run, part, folding.segments, true);
  }

  const newPart = () => ({
    ...closingPart(archivePath(domain, '')),
    segments: [] as PartSegment[],
    jsonBytes: 0,
    textBytes: 0,
  });

  function giving(
    run: number,
    { json, claimed }: Pick<KeptPart, 'json' | 'claimed'>,
    of: readonly PartSegment[],
    isLast: boolean,
  ): AnsweredPart {
    const textBytes = of.reduce((sum, { texts }) => sum + rawLengthOf(texts), 0);
    given.set(run, { claimed, textBytes, isLast });
    return { json, segmentCount: of.length, isLast };
  }

  /** Place, size and digest of a segment's texts of one kind. */
  function textsOf(segment: number, of: TextKind) {
    const { texts, textSha256, textsAt = 0 } = segments[segment] ?? {};
    if (texts === undefined || textSha256 === undefined) throw new Misfit('it asked for a text that does not exist');
    return { ...texts[of], sha256: textSha256[of], textsAt, ...placeOfTexts(texts, of) };
  }

  /** The deflated texts of one kind, from memory or from the store. Rejects with `TextsLost` if they are not the same as before. */
  async function deflatedText(segment: number, of: TextKind): Promise<Uint8Array> {
    const before = reads.get(`${segment} ${of}`) ?? 0;
    if (before === mostReadsOfTexts) throw new Misfit('it asked for the same texts too often');
    reads.set(`${segment} ${of}`, before + 1);
    const { textsAt, begin, end, sha256 } = textsOf(segment, of);
    const behind = inMemory.get(segment);
    if (behind !== undefined) return behind.subarray(begin, end);
    const isSame = (bytes: Uint8Array | undefined): bytes is Uint8Array =>
      bytes !== undefined && hash('sha256', bytes, 'hex') === sha256;
    const ofPart = await textOfPart(segment, of);
    if (isSame(ofPart)) return ofPart;
    await forgetPart(segment);
    const sidecar = sidecarKey(organization, keyOf(segment));
    const own = await bytesOfRange(objectStore, sidecar, textsAt + begin, textsAt + end);
    return isSame(own) ? own : lose(segment);
  }

  /** The deflated texts of one kind from a stored part; undefined if there is none. */
  async function textOfPart(segment: number, of: TextKind): Promise<Uint8Array | undefined> {
    const run = runOf[segment] ?? 0;
    const { first, chunks: own } = runs[run] ?? { first: 0, chunks: [] };
    if (!stored.has(run)) return undefined;
    const inPart = segments.slice(first, first + own.length);
    const from = placeInPart(inPart, 0, of).begin;
    const all = await textsOfPart(run, of, from, placeInPart(inPart, own.length - 1, of).end);
    if (all === undefined) return undefined;
    const { begin, end } = placeInPart(inPart, segment - first, of);
    return all.subarray(begin - from, end - from);
  }

  /** All texts of one kind of a stored part, which are read once for the segments that need them one after the other. */
  async function textsOfPart(run: number, of: TextKind, begin: number, end: number): Promise<Uint8Array | undefined> {
    const name = `${run} ${of}`;
    const known = partTexts.get(name) ?? partReads.get(name);
    if (known !== undefined) return known;
    const reading = bytesOfRange(objectStore, partTextsKey(organization, partKeys[run] ?? ''), begin, end);
    partReads.set(name, reading);
    try {
      const all = await reading;
      if (all !== undefined) partTexts.set(name, all);
      return all;
    } finally {
      partReads.delete(name);
    }
  }

  /** Removes a part with wrong texts. The next closing segment makes it again. */
  async function forgetPart(segment: number): Promise<void> {
    const run = runOf[segment] ?? 0;
    if (!stored.delete(run)) return;
    await objectStore.remove(partFactsKey(organization, partKeys[run] ?? ''), { signal });
  }

  async function wholeText(segment: number, of: TextKind): Promise<DeflatedBytes> {
    const deflated = await deflatedText(segment, of);
    const facts = textsOf(segment, of);
    return (await inflatedTexts(facts, deflated, facts.sha256)) ?? (await lose(segment));
  }

  /** Removes the sidecar of a segment, whose texts are gone or damaged, so that it is rendered again. */
  async function lose(segment: number): Promise<never> {
    await objectStore.remove(sidecarKey(organization, keyOf(segment)));
    throw new TextsLost(segment);
  }

  const isWhole = ({ segment, of, begin, end }: StoredText): boolean =>
    begin === 0 && end === textsOf(segment, of).rawLength;

  /** The bytes of a text. Rejects with `TextsLost`. */
  async function text(asked: StoredText): Promise<Uint8Array> {
    const { segment, of, begin, end } = asked;
    if (end > textsOf(segment, of).rawLength) throw new Misfit('it asked for a text that does not exist');
    if (isWhole(asked)) return (await wholeText(segment, of)).raw;
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
    /** Key of the part that is kept for the run of a segment; undefined for a small site. */
    partKeyOf: (segment: number): string | undefined => partKeys[runOf[segment] ?? -1],
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
    /** The facts of the run's part that was read last. A second call returns undefined. */
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
    /**
     * The bytes of a text as by `text`, but not inflated yet if the whole text of a segment is asked for. The caller of `inflate` owns the bytes that it
     * returns.
     */
    async unread(asked: StoredText): Promise<Uint8Array | UnreadBytes> {
      if (!isWhole(asked)) return text(asked);
      const { segment, of } = asked;
      const facts = textsOf(segment, of);
      const { rawLength, crc32, sha256 } = facts;
      const deflated = await deflatedText(segment, of);
      const inflate = async () => (await inflatedTexts(facts, deflated, sha256))?.raw ?? (await lose(segment));
      return { deflated, rawLength, crc32, sha256, inflate };
    },
  };
}

/** The part for the child, and the files in it that have names of files of a closing segment. */
function folded({ part, segments }: { part: ClosingPart; segments: readonly PartSegment[] }): KeptPart {
  const claimed = part.files.flatMap(([path]) => (isLikeClosingFile(path) ? [path] : []));
  return { segments, claimed, json: Buffer.from(JSON.stringify(part)) };
}

function partSegment({ sidecar, behind, behindAt }: WholeSidecar): PartSegment {
  const { sha256, texts } = sidecar;
  if (texts === undefined) return { sha256, textsAt: behindAt };
  const textSha256Of = (kind: TextKind): string => {
    const { begin, end } = placeOfTexts(texts, kind);
    return hash('sha256', behind.subarray(begin, end), 'hex');
  };
  const textSha256 = { search: textSha256Of('search'), fullText: textSha256Of('fullText') };
  return { sha256, texts, textsAt: behindAt, textSha256 };
}

const rawLengthOf = (texts: PartSegment['texts']): number =>
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
    return await unlessDamaged(objectStore.get(key, { range: { start, end: end - 1 } }));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
