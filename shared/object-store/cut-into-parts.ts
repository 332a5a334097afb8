export type Part = { bytes: Uint8Array; last: boolean };

/**
 * Cuts a stream into parts of exactly `partBytes` and a last one of at most that (empty only if the stream is). A part is given out when
 * it is known whether it is the last, so one that is being filled is in memory and no more.
 */
export async function* cutIntoParts(body: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Part, void> {
  let part = Buffer.allocUnsafe(partBytes);
  let filled = 0;
  for await (const chunk of body) {
    for (let from = 0; from < chunk.length; ) {
      if (filled === partBytes) {
        yield { bytes: part, last: false };
        part = Buffer.allocUnsafe(partBytes);
        filled = 0;
      }
      const taken = Math.min(partBytes - filled, chunk.length - from);
      part.set(chunk.subarray(from, from + taken), filled);
      filled += taken;
      from += taken;
    }
  }
  yield { bytes: part.subarray(0, filled), last: true };
}
