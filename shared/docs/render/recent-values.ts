/**
 * Cache of values that are made from texts, for texts that many pages of a site share. `make` must return equal values for equal keys, and callers
 * must not change them. The keys in the cache have at most `mostCharacters` together; when it is full, it is emptied. `fromSecond`: a value is kept
 * only from the second request for its key, because keeping values costs more than making them if most keys never return.
 */
export class RecentValues<Made> {
  readonly #mostCharacters: number;
  readonly #made = new Map<string, Made>();
  readonly #seen: Set<number> | undefined;
  #characters = 0;

  constructor(mostCharacters: number, { fromSecond = false } = {}) {
    this.#mostCharacters = mostCharacters;
    if (fromSecond) this.#seen = new Set();
  }

  get(key: string, make: () => Made): Made {
    if (this.#seen !== undefined && !this.#wasSeen(this.#seen, key)) return make();
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const made = make();
    // A long key must not evict all others.
    if (key.length > this.#mostCharacters / 50) return made;
    this.#characters += key.length + 100;
    if (this.#characters > this.#mostCharacters) {
      this.#made.clear();
      this.#characters = key.length + 100;
    }
    this.#made.set(key, made);
    return made;
  }

  /** True if a similar key came before. A false positive does no harm. */
  #wasSeen(seen: Set<number>, key: string): boolean {
    const step = Math.ceil(key.length / mostLookedAt);
    let sign = key.length;
    for (let at = 0; at < key.length; at += step) sign = (Math.imul(sign, 31) + key.charCodeAt(at)) | 0;
    if (seen.has(sign)) return true;
    if (seen.size >= mostSeen) seen.clear();
    seen.add(sign);
    return false;
  }
}

/**
 * Number of characters of a key that are compared, and number of keys that are remembered. The keys of a few hundred pages fit, so that a second
 * render of a whole site does not count as a repetition.
 */
const [mostLookedAt, mostSeen] = [64, 2_000];
