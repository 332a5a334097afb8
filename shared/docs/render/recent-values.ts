/**
 * What was made from texts of late, to make it once where many pages of a site have the same: `make` must give the same for the same key, and
 * nobody may change what it gives. Holds keys of at most `mostCharacters` together; when they are full, it begins anew.
 */
export class RecentValues<Made> {
  readonly #mostCharacters: number;
  readonly #made = new Map<string, Made>();
  #characters = 0;

  constructor(mostCharacters: number) {
    this.#mostCharacters = mostCharacters;
  }

  get(key: string, make: () => Made): Made {
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
}
