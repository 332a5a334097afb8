import { z } from 'zod';
import { sha256Hex } from '#shared/contracts/identifiers.ts';
import {
  type ExportPlan,
  partFactsKey,
  partTextsKey,
  segmentSidecarSchema,
  type SegmentSidecar,
} from '#shared/contracts/stored-objects.ts';
import { sha256OfJson } from '#shared/runtime/canonical-json.ts';
import { type ObjectStore, type ReadOptions, unlessDamaged } from '#shared/storage/object-store.ts';
import { placeOfTexts, type TextKind } from './bundle/packed-segment.ts';
import { type SegmentRun, segmentRuns } from './segment-runs.ts';
import { readSummedObject, summedObject } from './summed-object.ts';

/*
 * Parts that are kept for later closing segments: the facts of a run of segments, folded from their sidecars, and the texts of these segments. Their
 * key is made from the keys of the segments, so a part is never changed. The texts are stored before the facts, so a part that has facts also has its
 * texts. A part that is missing or damaged is made again from the sidecars.
 *
 * The object with the facts has three lines: a checksum over its key and the other lines, what the service needs, and the part for the child.
 */

/** Sites with fewer chunks have no kept parts, because they are closed in a moment. */
const fewestChunks = 64;

/** The keys of the parts that are kept for a plan, by run. Empty for a small site. */
export function keptPartKeys(
  plan: Pick<ExportPlan, 'rendererVersion' | 'domain' | 'chunks'>,
  runs: readonly SegmentRun[] = segmentRuns(plan),
): string[] {
  const { rendererVersion, domain, chunks } = plan;
  if (chunks.length < fewestChunks) return [];
  return runs.map((run) =>
    sha256OfJson({ kind: 'part', version: 1, rendererVersion, domain, chunks: run.chunks.map(({ key }) => key) }),
  );
}

const textSha256 = z.object({ search: sha256Hex, fullText: sha256Hex });

/** `textsAt`: offset of the texts in the sidecar's object. `textSha256`: SHA-256 of the deflated texts of each kind. */
const partSegmentSchema = z.object({
  sha256: sha256Hex,
  texts: segmentSidecarSchema.shape.texts,
  textsAt: z.int().min(0),
  textSha256: textSha256.optional(),
});

export type PartSegment = z.infer<typeof partSegmentSchema>;

/** `claimed`: files of these segments whose names a closing segment also uses. */
const partHeadSchema = z.object({
  version: z.literal(1),
  segments: z.array(partSegmentSchema),
  claimed: z.array(z.string()),
});

/** A kept part. `json` is a `ClosingPart` as JSON. */
export type KeptPart = { segments: readonly PartSegment[]; claimed: readonly string[]; json: Uint8Array };

type Name = { organization: string; key: string };

/** Stores a part with its deflated texts: first all of one kind in the order of the segments, then all of the other. */
export async function storePart(
  objectStore: ObjectStore,
  { organization, key }: Name,
  { segments, claimed, json }: KeptPart,
  behind: readonly Uint8Array[],
  { signal }: { signal: AbortSignal },
): Promise<void> {
  const texts = (kind: TextKind): Uint8Array[] =>
    segments.flatMap(({ texts: facts }, at) => {
      if (facts === undefined) return [];
      const { begin, end } = placeOfTexts(facts, kind);
      return [behind[at]?.subarray(begin, end) ?? new Uint8Array(0)];
    });
  const options = { contentType: 'application/octet-stream', signal };
  const bytes = Buffer.concat([...texts('search'), ...texts('fullText')]);
  await objectStore.put(partTextsKey(organization, key), bytes, options);
  const name = partFactsKey(organization, key);
  await objectStore.put(name, summedObject(name, { version: 1, segments, claimed }, [json]), options);
}

/** Reads a part. Undefined if there is none, or if it is damaged or belongs to another key. */
export async function readPart(
  objectStore: ObjectStore,
  { organization, key }: Name,
  options: ReadOptions = {},
): Promise<KeptPart | undefined> {
  const name = partFactsKey(organization, key);
  const stored = await unlessDamaged(objectStore.get(name, options));
  if (stored === undefined) return undefined;
  const read = readSummedObject(name, stored, partHeadSchema);
  return read && { segments: read.facts.segments, claimed: read.facts.claimed, json: read.bytes };
}

/** The place of a segment's texts of one kind in the object with the texts of a part: from `begin` up to and without `end`. */
export function placeInPart(
  segments: readonly { texts?: SegmentSidecar['texts'] }[],
  segment: number,
  kind: TextKind,
): { begin: number; end: number } {
  const sizeOf = (of: TextKind, to: number): number =>
    segments.slice(0, to).reduce((sum, { texts }) => sum + (texts?.[of].sizeBytes ?? 0), 0);
  const first = kind === 'search' ? 0 : sizeOf('search', segments.length);
  const begin = first + sizeOf(kind, segment);
  return { begin, end: begin + (segments[segment]?.texts?.[kind].sizeBytes ?? 0) };
}
