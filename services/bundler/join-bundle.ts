import type { Readable } from 'node:stream';
import type { z } from 'zod';
import {
  bundleKey,
  bundlePiecesKey,
  type bundlePiecesSchema,
  type ExportPlan,
  type SegmentDigest,
  segmentKey,
  sidecarKey,
} from '#shared/contracts/stored-objects.ts';
import {
  type JoinedBundle,
  joinedBundle,
  SegmentDamaged,
  type SegmentSource,
  type StoredBundle,
} from '#shared/export/bundle/join-segments.ts';
import { readPlan, readSegmentDigest, segmentsDigest } from '#shared/export/export-objects.ts';
import { sha256Of, sha256OfStream } from '#shared/runtime/canonical-json.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import {
  isStoredRecently,
  NotCopied,
  type ObjectPart,
  type ObjectStore,
  unlessDamaged,
} from '#shared/storage/object-store.ts';

/** A bundle up to this size stays in memory between its digest and its upload, so its segments are read once. */
const keptBytes = 32 * 1024 * 1024;
/** A segment up to this size is read in one piece. */
const wholeBytes = 1024 * 1024;
/** Number of segments that are checked concurrently. */
const segmentsAtOnce = 4;

/**
 * Cache of the digests of joined segments, by organization and key. It replaces reads of sidecars: most segments of a site's next bundle are the same,
 * and a sidecar has a hundred times as many bytes as its digest.
 */
export type KnownDigests = {
  get(name: string): SegmentDigest | undefined;
  set(name: string, digest: SegmentDigest): unknown;
  delete(name: string): unknown;
};

export type JoinOutcome =
  | { kind: 'joined'; bundleKey: string; sizeBytes: number; sha256: string; piecesSha256: string }
  | { kind: 'lost'; chunks: number[]; reason: string };

export type JoinOptions = {
  clock: Clock;
  signal: AbortSignal;
  known?: KnownDigests | undefined;
  /** Hash of an earlier plan, whose bundle may have parts of the new bundle. */
  after?: string | undefined;
};

/**
 * Checks every segment of a plan while it streams the bundle to the store, a large one a few blocks at a time. Parts that the bundle of the plan
 * `after` already has are taken from that bundle: this needs fewer reads, and stores that can copy get these parts without an upload. The upload is
 * skipped if the same bytes were stored recently and are still intact; the stored object is read to check that, because a disk may have changed it.
 * Sidecars of damaged segments are removed, so that these are rendered again. Rejects with `ObjectStoreUnavailable` when the task should be retried.
 *
 * A join that finds something lost with `known` digests is repeated without them, because a segment may have been rendered again meanwhile.
 */
export async function joinBundle(
  objectStore: ObjectStore,
  plan: ExportPlan,
  planHash: string,
  { known = new Map(), ...options }: JoinOptions,
): Promise<JoinOutcome> {
  const names = [...plan.chunks.map(({ key }) => key), plan.closingKey].map((key) => nameOf(plan, key));
  const isKnown = names.some((name) => known.get(name) !== undefined);
  const joined = () => join(objectStore, plan, planHash, { ...options, known });
  let outcome = await joined();
  if (outcome.kind === 'lost' && isKnown) {
    for (const name of names) known.delete(name);
    outcome = await joined();
  }
  if (outcome.kind === 'joined') return outcome;
  const { damaged, ...lost } = outcome;
  for (const number of damaged) {
    await objectStore.remove(sidecarKey(plan.organization, plan.chunks[number]?.key ?? plan.closingKey));
  }
  return lost;
}

const nameOf = ({ organization }: ExportPlan, key: string): string => `${organization}/${key}`;

/** Joins once. `damaged`: the lost chunks whose sidecar exists but is wrong. */
async function join(
  objectStore: ObjectStore,
  plan: ExportPlan,
  planHash: string,
  options: JoinOptions & { known: KnownDigests },
): Promise<
  Extract<JoinOutcome, { kind: 'joined' }> | (Extract<JoinOutcome, { kind: 'lost' }> & { damaged: number[] })
> {
  const { clock, signal, known, after } = options;
  const found = await segmentSources(objectStore, plan, known);
  if (found.kind === 'lost') return { ...found, damaged: found.chunks.filter((chunk) => chunk === closingNumber) };
  const key = bundleKey(plan.organization, plan.domain, planHash);
  // The sidecars of this bundle were just read, and most segments of the last bundle are the same.
  const justRead = new Map(found.digests.map(({ name, digest }) => [name, digest]));
  const knownOfBoth = { get: (name: string) => justRead.get(name) ?? known.get(name) };
  const last =
    after === undefined ? undefined : await lastBundle(objectStore, plan, after, { known: knownOfBoth, signal });
  try {
    const bundle = joinedBundle(found.sources, { last, keptBytes });
    const piecesSha256 = await storePieces(objectStore, key, bundle, signal);
    const stored = await storedBundle(objectStore, key, clock, signal);
    if (stored?.sha256 !== (await bundle.sha256()) || stored.piecesSha256 !== piecesSha256) {
      await objectStore.putParts(key, withCrashPoint(bundle.parts), {
        contentType: 'application/gzip',
        metadata: async () => ({ sha256: await bundle.sha256(), pieces: piecesSha256 }),
        signal,
        ...(last && { other: last }),
      });
    }
    crashPoint('after-upload', 'bundler');
    for (const { name, digest } of found.digests) known.set(name, digest);
    const sha256 = await bundle.sha256();
    return { kind: 'joined', bundleKey: key, sizeBytes: bundle.sizeBytes, sha256, piecesSha256 };
  } catch (error) {
    // The last bundle may be the damaged one, so the segments are joined once more without it.
    if (last !== undefined && (error instanceof NotCopied || error instanceof SegmentDamaged)) {
      return join(objectStore, plan, planHash, { ...options, after: undefined });
    }
    if (!(error instanceof SegmentDamaged)) throw error;
    const behind = await damagedBehind(error.index, found.sources, signal);
    const chunks = [error.index, ...behind].map((index) => numberOf(plan, index));
    return { kind: 'lost', chunks, damaged: chunks, reason: error.message };
  }
}

/** Stores the pieces of a bundle, and returns the SHA-256 of the stored object. */
async function storePieces(
  objectStore: ObjectStore,
  key: string,
  { pieces }: Pick<JoinedBundle, 'pieces'>,
  signal: AbortSignal,
): Promise<string> {
  const listed = { version: 1, pieces: [...pieces] } satisfies z.input<typeof bundlePiecesSchema>;
  const bytes = Buffer.from(JSON.stringify(listed));
  await objectStore.put(bundlePiecesKey(key), bytes, { contentType: 'application/json', signal });
  return sha256Of(bytes);
}

/** The bundle of the plan `after`, if its segments are complete and its size is the sum of theirs. */
async function lastBundle(
  objectStore: ObjectStore,
  { organization, domain }: ExportPlan,
  after: string,
  { known, signal }: { known: Pick<KnownDigests, 'get'>; signal: AbortSignal },
): Promise<(StoredBundle & { version: string | undefined }) | undefined> {
  const key = bundleKey(organization, domain, after);
  try {
    const head = await objectStore.head(key, { signal });
    const plan = head && (await readPlan(objectStore, organization, after, signal));
    const found = plan && (await segmentSources(objectStore, plan, known));
    if (found?.kind !== 'complete' || joinedBundle(found.sources).sizeBytes !== head?.sizeBytes) return undefined;
    return { key, version: head.version, segments: found.sources, openRange: rangesOf(objectStore, key) };
  } catch (error) {
    if (error instanceof Unavailable || signal.aborted) throw error;
    return undefined;
  }
}

/** Indexes of the damaged segments after `first`. All are reported together, because each report costs a new closing segment and a new join. */
async function damagedBehind(first: number, sources: readonly SegmentSource[], signal: AbortSignal): Promise<number[]> {
  const damaged = await inParallel(sources.slice(first + 1), segmentsAtOnce, async (source, at) => {
    signal.throwIfAborted();
    return joinedBundle([source])
      .sha256()
      .then(
        () => [],
        (error: unknown) => {
          if (error instanceof SegmentDamaged) return [first + 1 + at];
          throw error;
        },
      );
  });
  return damaged.flat();
}

/**
 * Size and digests of a stored bundle whose bytes have not changed, and that housekeeping will not remove soon; undefined if there is none.
 * The key of a bundle names its plan, so it is the bundle of every job with that plan. Its bytes are read, because a disk may have changed them.
 */
export async function storedBundle(
  objectStore: ObjectStore,
  key: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ sizeBytes: number; sha256: string; piecesSha256?: string } | undefined> {
  const head = await unlessDamaged(objectStore.head(key, { signal }));
  if (head === undefined || !isStoredRecently(head, clock)) return undefined;
  const sha256 = await storedDigest(objectStore, key, signal);
  if (sha256 === undefined || sha256 !== head.metadata.sha256) return undefined;
  const pieces = await unlessDamaged(objectStore.get(bundlePiecesKey(key), { signal }));
  const { pieces: piecesSha256 } = head.metadata;
  const hasPieces = pieces !== undefined && sha256Of(pieces) === piecesSha256;
  return { sizeBytes: head.sizeBytes, sha256, ...(hasPieces && { piecesSha256 }) };
}

/** SHA-256 of the object stored under a key; undefined if it cannot be read completely. */
async function storedDigest(objectStore: ObjectStore, key: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const stored = await objectStore.getStream(key, { signal });
    return stored && (await sha256OfStream(stored));
  } catch (error) {
    if (error instanceof Unavailable || signal.aborted) throw error;
    return undefined;
  }
}

const rangesOf =
  (objectStore: ObjectStore, key: string) =>
  (start: number, end: number): Promise<Readable | undefined> =>
    unlessDamaged(objectStore.getStream(key, { range: { start, end: end - 1 } })).catch((error: unknown) => {
      // The store throws a `RangeError` when an object is shorter than the range, so these bytes are lost.
      if (error instanceof RangeError) return undefined;
      throw error;
    });

/** Returns the same parts, with a crash point in the read of the middle one. */
function withCrashPoint(parts: readonly ObjectPart[]): ObjectPart[] {
  const middle = Math.floor(parts.length / 2);
  async function* read(part: ObjectPart): AsyncGenerator<Uint8Array> {
    for await (const chunk of part.read()) {
      yield chunk;
      crashPoint('mid-upload', 'bundler');
    }
  }
  return parts.map((part, number) => (number === middle ? { ...part, read: () => read(part) } : part));
}

/** Chunk number that stands for the closing segment. */
const closingNumber = -1;

export type SegmentSources =
  | { kind: 'complete'; sources: SegmentSource[]; digests: { name: string; digest: SegmentDigest }[] }
  /** Chunk numbers, or `closingNumber` for the closing segment. */
  | { kind: 'lost'; chunks: number[]; reason: string };

const sidecarsAtOnce = 8;

/** The segments of a plan in bundle order, as their sidecars describe them. A closing segment that was made from other segments counts as lost. */
export async function segmentSources(
  objectStore: ObjectStore,
  plan: ExportPlan,
  known: Pick<KnownDigests, 'get'> = new Map(),
): Promise<SegmentSources> {
  const keys = [...plan.chunks.map(({ key }) => key), plan.closingKey];
  const digests = await inParallel(
    keys,
    sidecarsAtOnce,
    async (key) => known.get(nameOf(plan, key)) ?? (await readSegmentDigest(objectStore, plan.organization, key)),
  );
  const missing = [...keys.keys()].filter((index) => digests[index] === undefined);
  if (missing.length > 0) {
    const chunks = missing.map((index) => numberOf(plan, index));
    return { kind: 'lost', chunks, reason: 'their sidecars are missing or damaged' };
  }
  const found = digests.flatMap((digest) => digest ?? []);
  if (found.at(-1)?.madeFrom !== segmentsDigest(found.slice(0, -1))) {
    return { kind: 'lost', chunks: [closingNumber], reason: 'its manifest lists files of other segments' };
  }
  const sources = found.map(({ sha256, crc32, rawLength, sizeBytes, pieces }, index): SegmentSource => {
    const key = segmentKey(plan.organization, keys[index] ?? '');
    const open = () =>
      unlessDamaged<Uint8Array | Readable | undefined>(
        sizeBytes <= wholeBytes ? objectStore.get(key) : objectStore.getStream(key),
      );
    const source = { key, sha256, crc32, rawLength, sizeBytes, open };
    if (pieces === undefined || pieces.reduce((sum, [size]) => sum + size, 0) !== sizeBytes) return source;
    return { ...source, pieces, openRange: rangesOf(objectStore, key) };
  });
  const named = found.map((digest, index) => ({ name: nameOf(plan, keys[index] ?? ''), digest }));
  return { kind: 'complete', sources, digests: named };
}

/** The chunk number of the segment at this place in the bundle. */
function numberOf(plan: ExportPlan, index: number): number {
  return index < plan.chunks.length ? index : closingNumber;
}
