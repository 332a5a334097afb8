const mostCounted = 255;

/** The frequency of each term in a text, by ids: 24 bits of the id, 8 of the count, ascending. */
export function packCounts(ids: readonly number[]): Uint32Array {
  const packed = Uint32Array.from(ids).sort();
  let length = 0;
  for (let at = 0; at < packed.length; ) {
    const id = packed[at] ?? 0;
    const first = at;
    while (packed[at] === id) at += 1;
    packed[length] = id * 256 + Math.min(mostCounted, at - first);
    length += 1;
  }
  return packed.slice(0, length);
}

/** The counts as stored in a file. They share the buffer of `bytes`, unless that is not aligned or has other data. */
export function countsIn(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset, byteLength } = bytes;
  const isAligned = byteOffset % Uint32Array.BYTES_PER_ELEMENT === 0 && byteLength === buffer.byteLength;
  const [from, at] = isAligned ? [buffer, byteOffset] : [buffer.slice(byteOffset, byteOffset + byteLength), 0];
  return new Uint32Array(from, at, byteLength / Uint32Array.BYTES_PER_ELEMENT);
}

/** The ids of the terms of a text, each once. */
export const countedIds = (bytes: Uint8Array): Uint32Array => countsIn(bytes).map((packed) => packed >>> 8);

/** The frequencies of these terms in a text, without those that do not occur. */
export function unpackCounts(
  packed: Uint32Array,
  terms: readonly { id: number; term: string }[],
): [term: string, count: number][] {
  const counts: [string, number][] = [];
  for (const { id, term } of terms) {
    let low = 0;
    let high = packed.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((packed[middle] ?? 0) >>> 8 < id) low = middle + 1;
      else high = middle;
    }
    const found = packed[low];
    if (found !== undefined && found >>> 8 === id) counts.push([term, found & 255]);
  }
  return counts;
}
