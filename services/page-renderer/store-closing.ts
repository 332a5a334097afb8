import { Readable } from 'node:stream';
import { segmentKey } from '#shared/contracts/stored-objects.ts';
import { finderIn, placesOf } from '#shared/export/bundle/common-pieces.ts';
import type { SegmentPiece, SegmentWriter } from '#shared/export/bundle/segment-writer.ts';
import { readPlan, readSegmentDigest } from '#shared/export/export-objects.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import { type ObjectPart, type ObjectStore, unlessDamaged } from '#shared/storage/object-store.ts';

/** The closing segment of an earlier plan. `version`: that of its object. */
export type LastClosing = { key: string; version: string | undefined; pieces: readonly SegmentPiece[] };

/** The closing segment of the plan `after`, if its object is there, its pieces are known, and the store can copy them. */
export async function lastClosing(
  objectStore: ObjectStore,
  organization: string,
  after: string | undefined,
  signal: AbortSignal,
): Promise<LastClosing | undefined> {
  if (after === undefined || !objectStore.copiesParts) return undefined;
  try {
    const { closingKey } = await readPlan(objectStore, organization, after, signal);
    const key = segmentKey(organization, closingKey);
    const head = await unlessDamaged(objectStore.head(key, { signal }));
    const { pieces = [] } = (head && (await readSegmentDigest(objectStore, organization, closingKey))) ?? {};
    const sizeBytes = pieces.reduce((sum, [size]) => sum + size, 0);
    return head !== undefined && sizeBytes === head.sizeBytes ? { key, version: head.version, pieces } : undefined;
  } catch (error) {
    if (error instanceof Unavailable || signal.aborted) throw error;
    return undefined;
  }
}

/**
 * Stores a closing segment while it is written. The pieces that the last one has are copied by the store, and are not sent. Rejects with `NotCopied` if
 * that is not possible, and with the store's own errors.
 */
export async function storeClosing(
  objectStore: ObjectStore,
  key: string,
  segment: Readable,
  pieces: SegmentWriter['pieces'],
  last: LastClosing | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (last === undefined) return objectStore.putStream(key, segment, { signal });
  await objectStore.putParts(key, partsOf(segment, pieces, last.pieces), {
    metadata: async () => ({}),
    other: last,
    signal,
  });
}

/** The pieces of a segment as parts, as soon as each is written. */
async function* partsOf(
  segment: Readable,
  pieces: SegmentWriter['pieces'],
  lastPieces: readonly SegmentPiece[],
): AsyncGenerator<ObjectPart> {
  const places = placesOf(lastPieces, 0);
  const find = finderIn(lastPieces.map(([, sha256]) => sha256));
  let number = 0;
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of segment as AsyncIterable<Uint8Array>) {
    for (let at = 0; at < chunk.length; ) {
      const [sizeBytes, sha256] = pieces[number] as SegmentPiece;
      const part = chunk.subarray(at, at + sizeBytes - bytes);
      at += part.length;
      bytes += part.length;
      gathered.push(part);
      if (bytes < sizeBytes) continue;
      const found = find(sha256);
      const place = found === undefined ? undefined : places[found];
      const whole = gathered;
      yield {
        read: () => Readable.from(whole, { objectMode: false }),
        ...(place !== undefined && { same: { at: place, sizeBytes } }),
      };
      number += 1;
      gathered = [];
      bytes = 0;
    }
  }
}
