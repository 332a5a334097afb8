import type { CallExpression } from 'estree';
import { NotStatic } from './evaluation.ts';
import { Closure, type Scope, type StaticValue, Unknown } from './static-tree.ts';

/** The React hook of a call: `useState(…)` or `React.useState(…)`. Undefined for any other call, and if the page defines the name. */
export function hookOf(callee: CallExpression['callee'], scope: Scope): string | undefined {
  if (callee.type === 'Identifier') return isHook(callee.name) && !scope.has(callee.name) ? callee.name : undefined;
  if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier') return undefined;
  const isOfReact = callee.object.type === 'Identifier' && callee.object.name === 'React' && !scope.has('React');
  return isOfReact && isHook(callee.property.name) ? callee.property.name : undefined;
}

const isHook = (name: string): boolean => /^use[A-Z]/.test(name);

const later = new Unknown('has a value only after the first render');

/**
 * Result of a hook at the first render. Effects do nothing then. `argument` evaluates an argument of the hook. Throws `NotStatic` for a hook
 * without a known first value.
 */
export function firstValue(
  hook: string,
  argument: (position: number) => StaticValue,
  call: (closure: Closure, values: readonly StaticValue[]) => StaticValue,
): StaticValue {
  switch (hook) {
    case 'useState': {
      const first = argument(0);
      return [first instanceof Closure ? call(first, []) : first, later];
    }
    case 'useReducer': {
      const [first, prepare] = [argument(1), argument(2)];
      return [prepare instanceof Closure ? call(prepare, [first]) : first, later];
    }
    case 'useMemo': {
      const compute = argument(0);
      if (compute instanceof Closure) return call(compute, []);
      break;
    }
    case 'useCallback':
    case 'useDeferredValue':
      return argument(0);
    case 'useRef':
      return new Map([['current', argument(0)]]);
    case 'useTransition':
      return [false, later];
    case 'useEffect':
    case 'useLayoutEffect':
    case 'useInsertionEffect':
    case 'useImperativeHandle':
    case 'useDebugValue':
      return undefined;
  }
  throw new NotStatic(`calls \`${hook.slice(0, 40)}\``);
}
