import type { SegmentSidecar } from '#shared/contracts/stored-objects.ts';

/** Where the closing segment comes from and goes to, a piece at a time: a large site has more text than a process may hold. */
export type ClosingStore = {
  /** The sidecar of a segment. File paths in it start with the top folder, the domain's slug. Undefined when it is missing. */
  sidecar(segment: number): Promise<SegmentSidecar | undefined>;
  /** Bytes of the texts behind a sidecar. */
  text(stored: StoredText): Promise<Uint8Array>;
  /** Adds a file of that many bytes to the segment; gives its SHA-256. Texts are copied and never come here. Wait for each call before the next. */
  write(path: string, size: number, body: Iterable<Uint8Array | readonly StoredText[]>): Promise<string>;
};

/** A part of the texts behind the sidecar of a segment: from one byte up to another, which is not included. */
export type StoredText = { segment: number; begin: number; end: number };

/** These texts one behind the other, with what ends each between them: those that are neighbours in one piece. Pure. */
export function joined(texts: readonly StoredText[], end: string): StoredText[] {
  const pieces: StoredText[] = [];
  for (const text of texts) {
    const last = pieces.at(-1);
    if (last?.segment === text.segment && last.end === text.begin) last.end = text.end + end.length;
    else pieces.push({ ...text, end: text.end + end.length });
  }
  const last = pieces.at(-1);
  if (last !== undefined) last.end -= end.length;
  return pieces;
}

export const bytesOf = (texts: readonly StoredText[]): number =>
  texts.reduce((sum, { begin, end }) => sum + end - begin, 0);
