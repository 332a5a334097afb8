import type { Nodes, Root } from 'mdast';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { PageParser } from '#shared/docs-project/parse-page.ts';
import { PageFailed } from '../page-failed.ts';
import { Budget } from './budget.ts';
import { evaluateModule } from './evaluate-tree.ts';
import type { Evaluation } from './evaluation.ts';
import { moduleLoader, pageModule } from './load-modules.ts';
import { StaticNodes, type StaticValue } from './static-tree.ts';

export type PageSource = {
  /** Path in the project. */
  file: string;
  source: Uint8Array | string;
  /** Text of the files that it may import, by project path. */
  dependencies: Readonly<Record<string, string>>;
};

const MAX_NODES = 50_000;
const MAX_TEXT = 2_000_000;

/**
 * Parses a page and evaluates its expressions, components and snippets. Throws `PageFailed` for a page that breaks a limit; all else that
 * is wrong with it is a diagnostic.
 */
export function evaluatePage(
  { file, source, dependencies }: PageSource,
  parser: PageParser,
  options: Parameters<PageParser['parse']>[2],
): { tree: Root; diagnostics: Diagnostic[] } {
  const parsed = parser.parse(source, file, options);
  if (parsed.failure) throw new PageFailed(parsed.failure.code, parsed.failure.message);
  const evaluation: Evaluation = {
    budget: new Budget(),
    diagnostics: [...parsed.diagnostics],
    active: [],
    loadModule: moduleLoader(dependencies, parser, options, () => evaluation),
  };
  const tree = evaluateModule(pageModule(file, parsed, evaluation), evaluation);
  measure(tree);
  return { tree, diagnostics: evaluation.diagnostics };
}

/** The same nodes may stand in many places, so what the page really has is counted where it all is known. */
function measure(tree: Root): void {
  let nodes = 0;
  let text = 0;
  const pending: Nodes[] = [tree];
  for (let node = pending.pop(); node; node = pending.pop()) {
    nodes += 1;
    if ('value' in node) text += node.value.length;
    if (nodes > MAX_NODES) throw new PageFailed('page-too-large', `it has more than ${MAX_NODES} nodes`);
    if (text > MAX_TEXT) throw new PageFailed('page-too-large', `it has more than ${MAX_TEXT} characters`);
    if ('children' in node) for (const child of node.children) pending.push(child);
    if (node.type === 'staticElement') for (const value of node.props.values()) pending.push(...nodesIn(value));
  }
}

function nodesIn(value: StaticValue): Nodes[] {
  if (value instanceof StaticNodes) return value.nodes;
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  return [];
}
