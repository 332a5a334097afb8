import type { SequenceRange } from './log-audit.ts';

/** Sequences per page. A page is 8 kB. */
const pageSize = 65_536;

/** A set of sequences of a stream, one bit for each, because a stream has many messages for each history. */
export type SequenceSet = {
  add(sequence: number): void;
  /** The parts of a range that are not in the set, in order. */
  outside(range: SequenceRange): SequenceRange[];
};

/** An empty set. */
export function sequenceSet(): SequenceSet {
  const pages = new Map<number, Uint8Array>();
  const pageOf = (sequence: number) => pages.get(Math.floor(sequence / pageSize));
  const has = (page: Uint8Array, sequence: number): boolean => {
    const bit = sequence % pageSize;
    return (((page[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 1;
  };
  return {
    add(sequence) {
      const page = pageOf(sequence) ?? new Uint8Array(pageSize / 8);
      pages.set(Math.floor(sequence / pageSize), page);
      const bit = sequence % pageSize;
      page[bit >> 3] = (page[bit >> 3] ?? 0) | (1 << (bit & 7));
    },
    outside({ first, last }) {
      const left: SequenceRange[] = [];
      let from: number | undefined;
      for (let sequence = first; sequence <= last; ) {
        const page = pageOf(sequence);
        if (page !== undefined && has(page, sequence)) {
          if (from !== undefined) left.push({ first: from, last: sequence - 1 });
          from = undefined;
          sequence += 1;
          continue;
        }
        from ??= sequence;
        // A missing page has no sequences in the set.
        sequence = page === undefined ? (Math.floor(sequence / pageSize) + 1) * pageSize : sequence + 1;
      }
      return from === undefined ? left : [...left, { first: from, last }];
    },
  };
}
