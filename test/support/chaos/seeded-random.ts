/** Numbers that look random and are the same for the same seed. */
export type SeededRandom = {
  /** From 0 up to, but without, 1. */
  fraction(): number;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  /** One of these. Throws when there are none. */
  pick<T>(items: readonly T[]): T;
};

/** The mulberry32 generator: 32 bits of state are enough to choose what dies when. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    fraction,
    between: (least, most) => least + Math.floor(fraction() * (most - least + 1)),
    pick: (items) => {
      if (items.length === 0) throw new Error('There is nothing to choose from.');
      return items[Math.floor(fraction() * items.length)] as (typeof items)[number];
    },
  };
}
