import type { Nodes } from 'mdast';
import { type Budget, NotStatic } from './evaluation.ts';
import { StaticNodes, type StaticObject, type StaticValue } from './static-tree.ts';

/** A value as content: text and numbers are shown, booleans and missing values are not, objects cannot be shown. */
export function nodesOf(value: StaticValue, budget: Budget): Nodes[] {
  lookAt([value], budget);
  return contentOf(value);
}

function contentOf(value: StaticValue): Nodes[] {
  if (value === null || value === undefined || typeof value === 'boolean') return [];
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', value }];
  if (typeof value === 'number') return [{ type: 'text', value: String(value) }];
  if (Array.isArray(value)) return value.flatMap(contentOf);
  if (value instanceof StaticNodes) return value.nodes;
  throw new NotStatic('shows an object or function');
}

/** The members of an object for a spread; a missing value has none. */
export function spreadObject(value: StaticValue, budget: Budget): StaticObject {
  if (value instanceof Map) {
    budget.step(value.size);
    return value;
  }
  if (value === undefined || value === null || value === false) return new Map();
  throw new NotStatic('spreads a value that is not an object');
}

/** Characters of a text that count as one part. */
const charactersOfPart = 64;

/**
 * Counts all parts of values. A part that occurs in several places counts each time, because later steps take time and memory for each. A list of two
 * equal items, nested thirty times, has more parts than a machine has memory.
 */
export function lookAt(values: Iterable<StaticValue>, budget: Budget): void {
  const pending: (StaticValue | Nodes)[] = [...values];
  for (let next = pending.pop(); next !== undefined || pending.length > 0; next = pending.pop()) {
    if (typeof next === 'string') budget.look(Math.ceil(next.length / charactersOfPart));
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next)) add(next);
    else if (next instanceof Map) add(next.values());
    else if (next instanceof StaticNodes) add(next.nodes);
    else if ('type' in next) {
      if ('children' in next) add(next.children);
      if (next.type === 'staticElement') add(next.props.values());
    }
  }

  function add(parts: Iterable<StaticValue | Nodes>): void {
    for (const part of parts) {
      budget.look(1);
      pending.push(part);
    }
  }
}
