/**
 * How much of one thing readers hold at once: `mostOfAll` together, and `mostOfOne` from one address, so that a reader who holds much keeps
 * nobody else from his part.
 */
export function readerShares({ mostOfAll, mostOfOne }: { mostOfAll: number; mostOfOne: number }) {
  const heldBy = new Map<string, number>();
  let held = 0;
  return {
    /** Takes `amount` for a reader. Undefined: it is his until he gives it back; else whose part is spent, and nothing is taken. */
    take(reader: string, amount: number): 'one' | 'all' | undefined {
      const own = heldBy.get(reader) ?? 0;
      if (own + amount > mostOfOne) return 'one';
      if (held + amount > mostOfAll) return 'all';
      held += amount;
      heldBy.set(reader, own + amount);
      return undefined;
    },
    giveBack(reader: string, amount: number): void {
      held -= amount;
      const left = (heldBy.get(reader) ?? 0) - amount;
      if (left > 0) heldBy.set(reader, left);
      else heldBy.delete(reader);
    },
  };
}

export type ReaderShares = ReturnType<typeof readerShares>;
