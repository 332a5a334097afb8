import type { StaticValue } from './static-tree.ts';

/** Names that are bound where an expression stands. */
export class Scope {
  readonly #names = new Map<string, StaticValue>();
  readonly #outer: Scope | undefined;

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  has(name: string): boolean {
    return this.#names.has(name) || (this.#outer?.has(name) ?? false);
  }

  get(name: string): StaticValue {
    return this.#names.has(name) ? this.#names.get(name) : this.#outer?.get(name);
  }

  set(name: string, value: StaticValue): void {
    this.#names.set(name, value);
  }

  /** Names bound right here. */
  names(): IterableIterator<string> {
    return this.#names.keys();
  }
}
