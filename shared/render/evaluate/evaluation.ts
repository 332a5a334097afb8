import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { Budget } from './budget.ts';
import type { Module } from './module.ts';
import type { Closure } from './static-tree.ts';

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
