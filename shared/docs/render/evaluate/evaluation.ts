import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { Closure, Module } from './static-tree.ts';

type Place = { position?: { start: { line: number; column: number } } | undefined };

/** What the evaluation of one page shares: budget, findings, and the modules it has read. */
export type Evaluation = {
  budget: Budget;
  diagnostics: Diagnostic[];
  /** Files that the page may import, by project path, and what has become of those it has. */
  loadModule(path: string, from: string): Module | undefined;
  /** Components and snippets that are being evaluated, innermost last: none may be in it twice. */
  active: (Closure | Module)[];
};

const MAX_DIAGNOSTICS = 200;

/** Notes a finding once per place. `node` says where, in the module's file. */
export function report(
  evaluation: Evaluation,
  module: { path: string },
  code: string,
  message: string,
  node?: Place | { loc?: { start: { line: number; column: number } } | null | undefined },
  severity: Diagnostic['severity'] = 'warning',
): void {
  if (evaluation.diagnostics.length >= MAX_DIAGNOSTICS) return;
  const start = node && 'position' in node ? node.position?.start : node && 'loc' in node ? node.loc?.start : undefined;
  const diagnostic: Diagnostic = { severity, code, message: message.slice(0, 500), file: module.path };
  if (start && start.line >= 1) diagnostic.line = start.line;
  if (start && start.column >= 1) diagnostic.column = start.column;
  const isKnown = evaluation.diagnostics.some(
    (other) =>
      other.code === code &&
      other.file === diagnostic.file &&
      other.line === diagnostic.line &&
      other.message === diagnostic.message,
  );
  if (!isKnown) evaluation.diagnostics.push(diagnostic);
}

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

/** A page that cannot be rendered: it breaks a limit. `reason` is a sentence for its author. */
export class PageFailed extends Error {
  readonly code: string;
  readonly reason: string;

  /** `what` is the end of a sentence about the page: "it has more than 50000 nodes". */
  constructor(code: string, what: string) {
    const reason = `The page cannot be rendered (${code}): ${what}.`.replace(/\.\.$/, '.').slice(0, 300);
    super(reason);
    this.name = 'PageFailed';
    this.code = code;
    this.reason = reason;
  }
}

/**
 * An expression that is left out because it cannot be evaluated without running it. `message` is the end of a sentence that starts with
 * what it was: "is a call of `fetch`".
 */
export class NotStatic extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
