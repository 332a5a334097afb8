import type { TextKind } from '#shared/export/bundle/packed-segment.ts';
import type { ClosingPart } from './closing-part.ts';

/** Source and destination of the closing segment. Data moves piece by piece, because a large site has more text than a process can hold. */
export type ClosingStore = {
  /**
   * The next of the parts into which the facts of a run of segments are folded. A run has one part, or several if the facts are large. `segmentCount`
   * is the number of its segments. Undefined if a sidecar of the run is missing, which ends the run.
   */
  part(run: number): Promise<{ part: ClosingPart; segmentCount: number; isLast: boolean } | undefined>;
  /** Bytes of a text that is stored after a sidecar. */
  text(stored: StoredText): Promise<Uint8Array>;
  /** The length of each of these search texts shortened to sections of `longest` characters; null for one that is not kept. */
  shortSizes(longest: number, texts: readonly StoredText[]): Promise<(number | null)[]>;
  /**
   * Adds a file of `size` bytes to the segment and returns its SHA-256. Stored texts are copied by the store and are not loaded here. Wait for each
   * call before the next.
   */
  write(path: string, size: number, body: Iterable<Uint8Array | readonly StoredText[] | ShortTexts>): Promise<string>;
};

/** Search texts shortened to sections of `longest` characters. `made`: their bytes; null for those that are kept from an earlier closing segment. */
export type ShortTexts = { longest: number; texts: readonly StoredText[]; made: readonly (Uint8Array | null)[] };

/**
 * A range of the texts of one kind, which are stored after the sidecar of a segment, from `begin` up to and without `end`. The text of a page
 * includes its terminator.
 */
export type StoredText = { segment: number; of: TextKind; begin: number; end: number };

/** Merges adjacent texts of one kind into one range. Pure. */
export function joined(texts: readonly StoredText[]): StoredText[] {
  const pieces: StoredText[] = [];
  for (const text of texts) {
    const last = pieces.at(-1);
    if (last?.segment === text.segment && last.end === text.begin) last.end = text.end;
    else pieces.push({ ...text });
  }
  return pieces;
}

/** Number of bytes of these texts. */
export const bytesOf = (texts: readonly StoredText[]): number =>
  texts.reduce((sum, { begin, end }) => sum + end - begin, 0);
