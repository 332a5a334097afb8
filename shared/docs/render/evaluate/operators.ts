import { NotStatic } from './evaluation.ts';
import type { StaticValue } from './static-tree.ts';

type Primitive = string | number | boolean | null | undefined;

const isPrimitive = (value: StaticValue): value is Primitive =>
  value === null || (typeof value !== 'object' && typeof value !== 'bigint');

/** Text of a primitive as in a template. Objects are refused, because converting them to text runs code in JavaScript. */
export function textOf(value: StaticValue): string {
  if (isPrimitive(value)) return String(value);
  throw new NotStatic('turns an object into text');
}

export function isTruthy(value: StaticValue): boolean {
  return Boolean(value);
}

/** The result of `!`, `void`, `-`, `+` or `typeof`. Throws `NotStatic` for other operators, and where JavaScript would run code of an object. */
export function unaryOperation(operator: string, value: StaticValue): StaticValue {
  if (operator === '!') return !isTruthy(value);
  if (operator === 'void') return undefined;
  if (!isPrimitive(value)) throw new NotStatic(`applies \`${operator}\` to an object`);
  if (operator === '-') return -Number(value);
  if (operator === '+') return Number(value);
  if (operator === 'typeof') return value === null ? 'object' : typeof value;
  throw new NotStatic(`has the operator \`${operator}\``);
}

/** The result of an arithmetic or comparing operator. Throws `NotStatic` for other operators, and where JavaScript would run code of an object. */
export function binaryOperation(operator: string, left: StaticValue, right: StaticValue): StaticValue {
  if (operator === '===') return left === right;
  if (operator === '!==') return left !== right;
  if (!isPrimitive(left) || !isPrimitive(right)) {
    if (
      (operator === '==' || operator === '!=') &&
      (left === null || left === undefined || right === null || right === undefined)
    ) {
      return operator === '!=';
    }
    throw new NotStatic(`applies \`${operator}\` to an object`);
  }
  if (operator === '+') {
    return typeof left === 'string' || typeof right === 'string'
      ? String(left) + String(right)
      : Number(left) + Number(right);
  }
  const calculate = arithmetic.get(operator);
  if (calculate) return calculate(Number(left), Number(right));
  const compare = comparisonOperators.get(operator);
  if (compare) return compare(left as number, right as number);
  throw new NotStatic(`has the operator \`${operator}\``);
}

const arithmetic: ReadonlyMap<string, (left: number, right: number) => number> = new Map([
  ['-', (left, right) => left - right],
  ['*', (left, right) => left * right],
  ['/', (left, right) => left / right],
  ['%', (left, right) => left % right],
  ['**', (left, right) => left ** right],
]);

/** JavaScript's own comparisons of primitives. Their types name only numbers, but they compare all primitives. */
const comparisonOperators: ReadonlyMap<string, (left: number, right: number) => boolean> = new Map([
  // biome-ignore lint/suspicious/noDoubleEquals: it is what the page says
  ['==', (left, right) => left == right],
  // biome-ignore lint/suspicious/noDoubleEquals: it is what the page says
  ['!=', (left, right) => left != right],
  ['<', (left, right) => left < right],
  ['>', (left, right) => left > right],
  ['<=', (left, right) => left <= right],
  ['>=', (left, right) => left >= right],
]);
