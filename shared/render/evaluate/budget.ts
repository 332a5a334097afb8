import { PageFailed } from '../page-failed.ts';
import { NotStatic } from './not-static.ts';

const MAX_STEPS = 100_000;
const MAX_NODES = 50_000;
const MAX_DEPTH = 64;
/** Characters of strings that expressions make. */
const MAX_TEXT = 2_000_000;
const MAX_INCLUDES = 2_000;

/** What the evaluation of one page may use. Throws `PageFailed` when a sum is used up, `NotStatic` when one expression is too deep. */
export class Budget {
  #steps = MAX_STEPS;
  #nodes = MAX_NODES;
  #text = MAX_TEXT;
  #includes = MAX_INCLUDES;
  #depth = 0;

  step(count = 1): void {
    this.#steps -= count;
    if (this.#steps < 0) throw new PageFailed('page-too-large', `its expressions take more than ${MAX_STEPS} steps`);
  }

  node(): void {
    this.#nodes -= 1;
    if (this.#nodes < 0) throw new PageFailed('page-too-large', `it has more than ${MAX_NODES} nodes`);
  }

  text(length: number): void {
    this.#text -= length;
    if (this.#text < 0) throw new PageFailed('page-too-large', `its expressions make more than ${MAX_TEXT} characters`);
  }

  include(): void {
    this.#includes -= 1;
    if (this.#includes < 0) throw new PageFailed('page-too-large', `it includes more than ${MAX_INCLUDES} snippets`);
  }

  /** Runs one level deeper. */
  deeper<Result>(run: () => Result): Result {
    if (this.#depth >= MAX_DEPTH) {
      throw new NotStatic('expression-too-deep', `is nested more than ${MAX_DEPTH} levels deep`);
    }
    this.#depth += 1;
    try {
      return run();
    } finally {
      this.#depth -= 1;
    }
  }
}
