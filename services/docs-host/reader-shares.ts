/**
 * Limits the share of a resource that readers hold at once: `mostOfAll` together, and `mostOfOne` for one address, so that one reader cannot use up
 * the share of others.
 */
export function readerShares({ mostOfAll, mostOfOne }: { mostOfAll: number; mostOfOne: number }) {
  const heldBy = new Map<string, number>();
  let held = 0;
  return {
    /** Takes `amount` for a reader until it is given back, and returns undefined. If that exceeds a limit, takes nothing and returns whose limit it is. */
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
