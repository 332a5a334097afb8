import type { Budget } from './evaluation.ts';
import type { StaticValue } from './static-tree.ts';

/** Characters that a method reads for one step of the budget. */
const charactersOfStep = 64;

/**
 * The result of a method of texts and lists without side effects and callbacks: `.toLowerCase()`, `.trim()`, `.includes(…)` and the like. Undefined
 * for any other method, and for arguments that JavaScript would have to convert first.
 */
export function plainMethod(
  object: StaticValue,
  name: string,
  values: readonly StaticValue[],
  budget: Budget,
): { value: StaticValue } | undefined {
  const [first] = values;
  if (Array.isArray(object)) {
    if (name !== 'includes' || values.length !== 1) return undefined;
    budget.step(object.length);
    return { value: object.includes(first) };
  }
  if (typeof object !== 'string') return undefined;
  budget.step(Math.ceil(object.length / charactersOfStep));
  if (values.length === 0) {
    const made = changed(object, name);
    if (made !== undefined) budget.text(made.length);
    return made === undefined ? undefined : { value: made };
  }
  if (values.length > 1 || typeof first !== 'string') return undefined;
  switch (name) {
    case 'includes':
      return { value: object.includes(first) };
    case 'startsWith':
      return { value: object.startsWith(first) };
    case 'endsWith':
      return { value: object.endsWith(first) };
    default:
      return undefined;
  }
}

function changed(text: string, name: string): string | undefined {
  switch (name) {
    case 'toLowerCase':
      return text.toLowerCase();
    case 'toUpperCase':
      return text.toUpperCase();
    case 'trim':
      return text.trim();
    default:
      return undefined;
  }
}
