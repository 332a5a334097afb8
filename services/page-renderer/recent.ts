/**
 * Remembers the values that were asked for last, by key, as promises: whoever asks meanwhile shares the first one's work. A failure is not
 * remembered. `budget` is in what `costOf` counts.
 */
export function recent<V>(budget: number, costOf: (value: V) => number = () => 1) {
  const entries = new Map<string, { value: Promise<V>; cost: number }>();
  let total = 0;

  function forget(key: string): void {
    total -= entries.get(key)?.cost ?? 0;
    entries.delete(key);
  }

  return async (key: string, make: () => Promise<V>): Promise<V> => {
    const known = entries.get(key);
    if (known !== undefined) {
      entries.delete(key);
      entries.set(key, known);
      return known.value;
    }
    const entry = { value: make(), cost: 0 };
    entries.set(key, entry);
    try {
      const value = await entry.value;
      if (entries.get(key) === entry) {
        entry.cost = costOf(value);
        total += entry.cost;
        for (const oldest of entries.keys()) {
          if (total <= budget || oldest === key) break;
          forget(oldest);
        }
      }
      return value;
    } catch (error) {
      if (entries.get(key) === entry) forget(key);
      throw error;
    }
  };
}
