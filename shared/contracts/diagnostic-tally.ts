import type { Diagnostic } from './diagnostic.ts';

/** All diagnostics with one code. `example` is the message of the first one. */
export type DiagnosticRow = Pick<Diagnostic, 'code' | 'severity'> & { count: number; files: number; example: string };

const order: readonly Diagnostic['severity'][] = ['error', 'warning', 'info'];

/** Counts diagnostics by their code, as an overview of a project's problems for its author. */
export class DiagnosticTally {
  readonly #kinds = new Map<string, { first: Diagnostic; count: number; files: Set<string> }>();

  add(diagnostics: Iterable<Diagnostic>): this {
    for (const diagnostic of diagnostics) {
      const key = `${diagnostic.severity} ${diagnostic.code}`;
      const kind = this.#kinds.get(key) ?? { first: diagnostic, count: 0, files: new Set<string>() };
      kind.count += 1;
      if (diagnostic.file !== '') kind.files.add(diagnostic.file);
      this.#kinds.set(key, kind);
    }
    return this;
  }

  count(severity: Diagnostic['severity']): number {
    const kinds = [...this.#kinds.values()].filter(({ first }) => first.severity === severity);
    return kinds.reduce((sum, { count }) => sum + count, 0);
  }

  /** Errors first, then the most frequent codes. */
  rows(): DiagnosticRow[] {
    return [...this.#kinds.values()]
      .map(({ first: { code, severity, message }, count, files }) => ({
        ...{ code, severity, count },
        files: files.size,
        example: message,
      }))
      .sort(
        (a, b) =>
          order.indexOf(a.severity) - order.indexOf(b.severity) || b.count - a.count || (a.code < b.code ? -1 : 1),
      );
  }
}
