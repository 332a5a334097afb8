import type { Finding, FindingCode } from '#shared/docs/findings/finding-texts.ts';
import type { JSXElement, JSXFragment } from 'estree-jsx';
import type { Nodes } from 'mdast';
import { type Place, startOf } from '../findings.ts';
import { Closure, type Island, type Module, type Scope, type StaticObject } from './static-tree.ts';

/** State that the evaluation of one page shares: its budget, its findings, and the modules that were read. */
export type Evaluation = {
  budget: Budget;
  diagnostics: Finding[];
  components: KnownComponents;
  /** Loads a file that the page may import, by project path. */
  loadModule: (path: string) => Module | undefined;
  /** Components and snippets that are being evaluated, innermost last. They may not contain themselves. */
  active: (Closure | Module)[];
  /** Components that run in the reader's browser, in the order of the page. */
  islands: Island[];
  /** True if islands may run scripts. */
  allowsScripts: boolean;
  /** True while the first look of an island is evaluated: hooks have their first values, and expressions without a static value are left out. */
  isFirstLook: boolean;
  /** Findings about whole files. They are dropped for files that run in the browser. */
  ofFiles: { module: Module; found: Finding }[];
  /** Texts of `<style>` elements that are not in the trees of their files. */
  styles: string[];
  /** Evaluates JSX inside an expression. This and `evaluateSnippet` are passed in, so that the files of this folder have no circular imports. */
  evaluateJsx(node: JSXElement | JSXFragment, frame: Frame): Nodes[];
  evaluateSnippet(module: Module, props: StaticObject, evaluation: Evaluation): Nodes[];
};

/** The surroundings of an expression: the page's evaluation, the expression's file, and the names in scope. */
export type Frame = { evaluation: Evaluation; module: Module; scope: Scope };

/** True in the body of a component, which may become an island as a whole. */
export const isInComponent = ({ evaluation: { active } }: Frame): boolean => active.at(-1) instanceof Closure;

/** The built-in components. A line that consists only of inline ones stays a paragraph. */
export type KnownComponents = ReadonlyMap<string, { isInline?: true }>;

const maxDiagnostics = 200;

/** Reports a finding once per line, and returns it if it is new. `place` is in the module's file. */
export function report(
  { evaluation: { diagnostics }, module: { path } }: Pick<Frame, 'evaluation' | 'module'>,
  code: FindingCode,
  message: string,
  place?: Place,
): Finding | undefined {
  if (diagnostics.length >= maxDiagnostics) return undefined;
  const found: Finding = {
    severity: 'warning',
    code,
    message: message.slice(0, 500),
    file: path,
    ...startOf(place),
  };
  const isKnown = diagnostics.some(
    (other) =>
      other.code === code && other.file === path && other.line === found.line && other.message === found.message,
  );
  if (isKnown) return undefined;
  diagnostics.push(found);
  return found;
}

const maxSteps = 100_000;
export const maxNodes = 50_000;
/** Limit of nested expressions, and of the length of a chain of imports. */
export const maxDepth = 64;
/** Limit of the characters in strings that expressions make. */
const maxText = 2_000_000;
/** Limit of the characters of the evaluated page. */
export const maxPageText = 8_000_000;
const maxIncludes = 2_000;
/** Limit of counted parts of values, because a small page can make a value that repeats others many times. */
const maxLooks = 1_000_000;

/** Limits of the evaluation of one page. Throws `PageFailed` when one is used up, and `NotStatic` if an expression is too deep. */
export class Budget {
  #steps = maxSteps;
  #nodes = maxNodes;
  #text = maxText;
  #includes = maxIncludes;
  #looks = maxLooks;
  #depth = 0;

  step(count = 1): void {
    this.#steps -= count;
    if (this.#steps < 0) throw new PageFailed('page-too-large', `its expressions take more than ${maxSteps} steps`);
  }

  node(): void {
    this.#nodes -= 1;
    if (this.#nodes < 0) throw new PageFailed('page-too-large', `it has more than ${maxNodes} nodes`);
  }

  text(length: number): void {
    this.#text -= length;
    if (this.#text < 0) throw new PageFailed('page-too-large', `its expressions make more than ${maxText} characters`);
  }

  include(): void {
    this.#includes -= 1;
    if (this.#includes < 0) throw new PageFailed('page-too-large', `it includes more than ${maxIncludes} snippets`);
  }

  look(parts: number): void {
    this.#looks -= parts;
    if (this.#looks < 0) throw new PageFailed('page-too-large', `its expressions show more than ${maxLooks} parts`);
  }

  /** Runs a function one level deeper. */
  deeper<Result>(run: () => Result): Result {
    if (this.#depth >= maxDepth) {
      throw new NotStatic(`is nested more than ${maxDepth} levels deep`, 'expression-too-deep');
    }
    this.#depth += 1;
    try {
      return run();
    } finally {
      this.#depth -= 1;
    }
  }
}

/** Thrown for a page that exceeds a limit. `reason` is a sentence for its author. */
export class PageFailed extends Error {
  readonly code: FindingCode;
  readonly reason: string;

  /** `what` is the end of a sentence about the page: "it has more than 50000 nodes". */
  constructor(code: FindingCode, what: string) {
    const reason = `The page cannot be rendered (${code}): ${what}.`.replace(/\.\.$/, '.').slice(0, 300);
    super(reason);
    this.name = 'PageFailed';
    this.code = code;
    this.reason = reason;
  }
}

/** Thrown for an expression that is left out because it would have to run. `message` continues a sentence about it: "calls `fetch`". */
export class NotStatic extends Error {
  readonly code: FindingCode;
  constructor(message: string, code: FindingCode = 'expression-not-static') {
    super(message);
    this.code = code;
  }
}
