import type { SegmentSidecar } from '#shared/contracts/stored-objects.ts';
import type { TextKind } from '#shared/export/bundle/packed-segment.ts';

/** Where the closing segment comes from and goes to, a piece at a time: a large site has more text than a process may hold. */
export type ClosingStore = {
  /** The sidecar of a segment. File paths in it start with the top folder, the domain's slug. Undefined when it is missing. */
  sidecar(segment: number): Promise<SegmentSidecar | undefined>;
  /** Bytes of the texts behind a sidecar. */
  text(stored: StoredText): Promise<Uint8Array>;
  /** Adds a file of that many bytes to the segment; gives its SHA-256. Texts are copied and never come here. Wait for each call before the next. */
  write(path: string, size: number, body: Iterable<Uint8Array | readonly StoredText[]>): Promise<string>;
};

/**
 * A part of the texts of a kind that are behind the sidecar of a segment: from one byte up to another, which is not included. The text of a page
 * includes what ends it.
 */
export type StoredText = { segment: number; of: TextKind; begin: number; end: number };

/** These texts of one kind one behind the other: those that are neighbours in one piece. Pure. */
export function joined(texts: readonly StoredText[]): StoredText[] {
  const pieces: StoredText[] = [];
  for (const text of texts) {
    const last = pieces.at(-1);
    if (last?.segment === text.segment && last.end === text.begin) last.end = text.end;
    else pieces.push({ ...text });
  }
  return pieces;
}

export const bytesOf = (texts: readonly StoredText[]): number =>
  texts.reduce((sum, { begin, end }) => sum + end - begin, 0);
