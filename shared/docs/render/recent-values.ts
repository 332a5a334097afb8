/**
 * What was made from texts of late, to make it once where many pages of a site have the same: `make` must give the same for the same key, and
 * nobody may change what it gives. Holds keys of at most `mostCharacters` together; when they are full, it begins anew. `fromSecond`: keeps nothing
 * of keys that come once, because what lives long costs more than making it where most keys never come again.
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
    // One that is long must not drive out all others.
    if (key.length > this.#mostCharacters / 50) return made;
    this.#characters += key.length + 100;
    if (this.#characters > this.#mostCharacters) {
      this.#made.clear();
      this.#characters = key.length + 100;
    }
    this.#made.set(key, made);
    return made;
  }

  /** Whether a key like this came before; that one which did not is taken for one that did does no harm. */
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

/** Characters of a key by which it is known again, and how many keys: those of some hundred pages, so that a whole site is no repetition. */
const [mostLookedAt, mostSeen] = [64, 2_000];
