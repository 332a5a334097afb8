import type {
  Expression,
  MemberExpression,
  Pattern,
  SimpleCallExpression,
  SpreadElement,
  Statement,
  Super,
  VariableDeclarator,
} from 'estree';
import { type Frame, NotStatic } from './evaluation.ts';
import { spreadObject } from './content-of-value.ts';
import { firstValue, hookOf } from './first-values.ts';
import { plainMethod } from './plain-methods.ts';
import { binaryOperation, isTruthy, textOf, unaryOperation } from './operators.ts';
import {
  Closure,
  type PureFunction,
  Scope,
  StaticNodes,
  type StaticObject,
  type StaticValue,
  Unknown,
} from './static-tree.ts';

/** Property names that lead from data to JavaScript's own objects. */
const forbidden = new Set(['constructor', '__proto__', 'prototype']);

/**
 * The value of an expression of the static subset: literals, templates, arrays and objects without methods, operators, own-property access, `.map`,
 * `.filter`, `.join`, `.slice`, JSX, arrow functions. Throws `NotStatic` for anything else, and `PageFailed` when the budget is used up.
 */
export function evaluateExpression(node: Expression | Super, frame: Frame): StaticValue {
  const { budget } = frame.evaluation;
  budget.step();
  return budget.deeper(() => evaluateKind(node, frame));
}

function evaluateKind(node: Expression | Super, frame: Frame): StaticValue {
  const { budget } = frame.evaluation;
  switch (node.type) {
    case 'Literal':
      if ('regex' in node) throw new NotStatic('has a regular expression');
      if ('bigint' in node) throw new NotStatic('has a big integer');
      return node.value;
    case 'TemplateLiteral': {
      let text = node.quasis[0]?.value.cooked ?? '';
      for (const [position, part] of node.expressions.entries()) {
        text += textOf(evaluateExpression(part, frame)) + (node.quasis[position + 1]?.value.cooked ?? '');
      }
      budget.text(text.length);
      return text;
    }
    case 'Identifier':
      if (node.name === 'undefined') return undefined;
      if (frame.scope.has(node.name)) {
        const value = frame.scope.get(node.name);
        if (value instanceof Unknown) throw new NotStatic(`uses \`${node.name}\`, which ${value.why}`);
        return value;
      }
      throw new NotStatic(`uses \`${node.name}\`, which is not defined in this file`);
    case 'ArrayExpression': {
      const items: StaticValue[] = [];
      for (const element of node.elements) {
        if (element === null) throw new NotStatic('has an array with holes');
        if (element.type === 'SpreadElement') items.push(...spreadItems(element, frame));
        else items.push(evaluateExpression(element, frame));
      }
      return items;
    }
    case 'ObjectExpression': {
      const object: StaticObject = new Map();
      for (const property of node.properties) {
        if (property.type === 'SpreadElement') {
          const members = spreadObject(evaluateExpression(property.argument, frame), budget);
          for (const [key, value] of members) object.set(key, value);
          continue;
        }
        if (property.kind !== 'init' || property.method) throw new NotStatic('has a method or getter');
        const key =
          !property.computed && property.key.type === 'Identifier'
            ? property.key.name
            : textOf(evaluateExpression(property.key, frame));
        if (forbidden.has(key)) throw new NotStatic(`has a property \`${key}\``);
        object.set(key, evaluateExpression(property.value as Expression, frame));
      }
      return object;
    }
    case 'UnaryExpression':
      return unaryOperation(node.operator, evaluateExpression(node.argument, frame));
    case 'BinaryExpression': {
      if (node.left.type === 'PrivateIdentifier') throw new NotStatic('has a private name');
      const value = binaryOperation(
        node.operator,
        evaluateExpression(node.left, frame),
        evaluateExpression(node.right, frame),
      );
      if (typeof value === 'string') budget.text(value.length);
      return value;
    }
    case 'LogicalExpression': {
      const left = evaluateExpression(node.left, frame);
      if (node.operator === '&&') return isTruthy(left) ? evaluateExpression(node.right, frame) : left;
      if (node.operator === '||') return isTruthy(left) ? left : evaluateExpression(node.right, frame);
      return left ?? evaluateExpression(node.right, frame);
    }
    case 'ConditionalExpression':
      return evaluateExpression(
        isTruthy(evaluateExpression(node.test, frame)) ? node.consequent : node.alternate,
        frame,
      );
    case 'ChainExpression':
      try {
        return evaluateExpression(node.expression, frame);
      } catch (error) {
        if (error instanceof EndOfChain) return undefined;
        throw error;
      }
    case 'MemberExpression': {
      const { object, key } = memberOf(node, frame);
      return ownProperty(object, key);
    }
    case 'CallExpression': {
      if (frame.evaluation.isFirstLook) {
        const found = firstLookCall(node, frame);
        if (found) return found.value;
      }
      if (node.callee.type !== 'MemberExpression') {
        const name = node.callee.type === 'Identifier' ? `\`${node.callee.name}\`` : 'a function';
        throw new NotStatic(`calls ${name}`);
      }
      return callMethod(node.callee, node.arguments, frame);
    }
    case 'ArrowFunctionExpression':
      if (node.async) throw new NotStatic('has an async function');
      return new Closure('', node, frame.scope, frame.module);
    case 'JSXElement' as never:
    case 'JSXFragment' as never:
      return new StaticNodes(frame.evaluation.evaluateJsx(node as never, frame));
    default:
      throw new NotStatic(`has a ${node.type.replace(/Expression$/, '').toLowerCase()} expression`);
  }
}

/** Value of a call during a first look: hooks have their first values, and functions of the project may be called. */
function firstLookCall(
  { callee, arguments: given }: SimpleCallExpression,
  frame: Frame,
): { value: StaticValue } | undefined {
  const argument = (position: number): StaticValue => {
    const node = given[position];
    if (node?.type === 'SpreadElement') throw new NotStatic('spreads arguments');
    return node && evaluateExpression(node, frame);
  };
  const call = (closure: Closure, values: readonly StaticValue[]): StaticValue =>
    frame.evaluation.budget.deeper(() => callClosure(closure, values, frame));
  const hook = hookOf(callee, frame.scope);
  if (hook !== undefined) return { value: firstValue(hook, argument, call) };
  const named = callee.type === 'Identifier' && frame.scope.has(callee.name) ? frame.scope.get(callee.name) : undefined;
  if (!(named instanceof Closure)) return undefined;
  return {
    value: call(
      named,
      given.map((_node, position) => argument(position)),
    ),
  };
}

/** Calls an arrow function with values. Its body may be an expression, or declarations of constants, `if` and `return`. */
export function callClosure(closure: Closure, values: readonly StaticValue[], frame: Frame): StaticValue {
  const scope = new Scope(closure.scope);
  const inner: Frame = { evaluation: frame.evaluation, module: closure.module, scope };
  for (const [position, parameter] of closure.code.params.entries()) {
    if (parameter.type === 'RestElement') throw new NotStatic('has rest parameters');
    bindPattern(parameter, values[position], inner);
  }
  return runBody(closure.code.body, inner);
}

function runBody(body: PureFunction['body'], frame: Frame): StaticValue {
  if (body.type !== 'BlockStatement') return evaluateExpression(body, frame);
  return runStatements(body.body, frame)?.value;
}

function runStatements(
  statements: Extract<PureFunction['body'], { type: 'BlockStatement' }>['body'],
  frame: Frame,
): { value: StaticValue } | undefined {
  for (const statement of statements) {
    frame.evaluation.budget.step();
    if (statement.type === 'ReturnStatement') {
      return { value: statement.argument ? evaluateExpression(statement.argument, frame) : undefined };
    }
    if (statement.type === 'VariableDeclaration' && (statement.kind === 'const' || frame.evaluation.isFirstLook)) {
      for (const declarator of statement.declarations) bindConstant(declarator, statement.kind, frame);
    } else if (statement.type === 'FunctionDeclaration' && frame.evaluation.isFirstLook) {
      const isPlain = !statement.async && !statement.generator;
      const { name } = statement.id;
      const value = isPlain ? new Closure(name, statement, frame.scope, frame.module) : new Unknown('waits');
      frame.scope.set(name, value);
    } else if (statement.type === 'IfStatement') {
      const branch = isTruthy(evaluateExpression(statement.test, frame)) ? statement.consequent : statement.alternate;
      if (!branch) continue;
      const inner = { ...frame, scope: new Scope(frame.scope) };
      const done = runStatements(branch.type === 'BlockStatement' ? branch.body : [branch], inner);
      if (done) return done;
    } else if (statement.type === 'BlockStatement') {
      const done = runStatements(statement.body, { ...frame, scope: new Scope(frame.scope) });
      if (done) return done;
    } else if (statement.type !== 'EmptyStatement' && !isEffect(statement, frame)) {
      throw new NotStatic(`has a ${statement.type.replace(/Statement$/, '').toLowerCase()} statement`);
    }
  }
  return undefined;
}

/** During a first look, the side effects of statements are ignored. */
const isEffect = ({ type }: Statement, { evaluation: { isFirstLook } }: Frame): boolean =>
  isFirstLook && type === 'ExpressionStatement';

/**
 * Binds a constant or variable. During a first look, an initial value that is not static matters only when it is used, and variables that may change
 * have no value.
 */
function bindConstant({ id, init }: VariableDeclarator, kind: string, frame: Frame): void {
  if (!frame.evaluation.isFirstLook) {
    bindPattern(id, init ? nameClosure(evaluateExpression(init, frame), id) : undefined, frame);
    return;
  }
  try {
    if (kind !== 'const') throw new NotStatic('may change');
    bindPattern(id, init ? nameClosure(evaluateExpression(init, frame), id) : undefined, frame);
  } catch (error) {
    if (!(error instanceof NotStatic)) throw error;
    for (const name of boundNames(id)) frame.scope.set(name, new Unknown(error.message));
  }
}

/** The names that a pattern binds. */
export function boundNames(pattern: Pattern): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'AssignmentPattern':
      return boundNames(pattern.left);
    case 'RestElement':
      return boundNames(pattern.argument);
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => (element === null ? [] : boundNames(element)));
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        boundNames(property.type === 'RestElement' ? property.argument : property.value),
      );
    default:
      return [];
  }
}

/** Gives a component the name of the constant that it is bound to. */
export function nameClosure(value: StaticValue, id: Pattern): StaticValue {
  return value instanceof Closure && value.name === '' && id.type === 'Identifier'
    ? new Closure(id.name, value.code, value.scope, value.module)
    : value;
}

/** Binds parameters and constants: names, `{ a, b: c = 1, ...rest }` and `[a, b]`. */
export function bindPattern(pattern: Pattern, value: StaticValue, frame: Frame): void {
  frame.evaluation.budget.step();
  if (pattern.type === 'Identifier') {
    frame.scope.set(pattern.name, value);
  } else if (pattern.type === 'AssignmentPattern') {
    bindPattern(pattern.left, value === undefined ? evaluateExpression(pattern.right, frame) : value, frame);
  } else if (pattern.type === 'ObjectPattern') {
    if (value === null || value === undefined) throw new NotStatic('takes members out of a missing value');
    const object = spreadObject(value, frame.evaluation.budget);
    const taken = new Set<string>();
    for (const property of pattern.properties) {
      if (property.type === 'RestElement') {
        const rest: StaticObject = new Map([...object].filter(([key]) => !taken.has(key)));
        bindPattern(property.argument, rest, frame);
        continue;
      }
      if (property.computed) {
        throw new NotStatic('has a computed name in a pattern');
      }
      const key =
        property.key.type === 'Identifier' ? property.key.name : textOf(evaluateExpression(property.key, frame));
      taken.add(key);
      if (forbidden.has(key)) throw new NotStatic(`reads \`${key}\``);
      bindPattern(property.value, ownProperty(object, key), frame);
    }
  } else if (pattern.type === 'ArrayPattern') {
    if (!Array.isArray(value)) throw new NotStatic('takes items out of a value that is not an array');
    for (const [position, element] of pattern.elements.entries()) {
      frame.evaluation.budget.step(element?.type === 'RestElement' ? value.length : 1);
      if (element?.type === 'RestElement') bindPattern(element.argument, value.slice(position), frame);
      else if (element) bindPattern(element, value[position], frame);
    }
  } else {
    throw new NotStatic('has an assignment');
  }
}

/** Thrown when `?.` meets a missing value: the whole chain is undefined. */
class EndOfChain extends Error {}

function memberOf(node: MemberExpression, frame: Frame): { object: StaticValue; key: string } {
  if (node.object.type === 'Super' || node.property.type === 'PrivateIdentifier') {
    throw new NotStatic('has a private name or `super`');
  }
  const object = evaluateExpression(node.object, frame);
  if (node.optional && (object === null || object === undefined)) throw new EndOfChain();
  const key =
    !node.computed && node.property.type === 'Identifier'
      ? node.property.name
      : textOf(evaluateExpression(node.property, frame));
  if (forbidden.has(key)) throw new NotStatic(`reads \`${key}\``);
  if (object === null || object === undefined) throw new NotStatic(`reads \`${key}\` of a missing value`);
  return { object, key };
}

/**
 * An own property; undefined if there is none. Throws `NotStatic` for properties that JavaScript would inherit, and for members of functions and JSX.
 */
function ownProperty(object: StaticValue, key: string): StaticValue {
  if (object instanceof Map && object.has(key)) return object.get(key);
  if (Array.isArray(object) || typeof object === 'string') {
    if (key === 'length') return object.length;
    if (/^(0|[1-9]\d{0,8})$/.test(key)) return object[Number(key)];
  }
  const isData = object instanceof Map || Array.isArray(object) || typeof object !== 'object';
  const inherits = object instanceof Map ? Object.prototype : (Object(object) as object);
  if (!isData || key in inherits) throw new NotStatic(`reads \`${key.slice(0, 40)}\``);
  return undefined;
}

function callMethod(
  callee: MemberExpression,
  args: readonly (Expression | SpreadElement)[],
  frame: Frame,
): StaticValue {
  const { object, key } = memberOf(callee, frame);
  const { budget } = frame.evaluation;
  const values = args.map((argument) => {
    if (argument.type === 'SpreadElement') throw new NotStatic('spreads arguments');
    return evaluateExpression(argument, frame);
  });
  const [first, second] = values;
  if (Array.isArray(object)) {
    if ((key === 'map' || key === 'filter') && first instanceof Closure) {
      const results: StaticValue[] = [];
      for (const [position, item] of object.entries()) {
        budget.step();
        const result = callClosure(first, [item, position, object], frame);
        if (key === 'map') results.push(result);
        else if (isTruthy(result)) results.push(item);
      }
      return results;
    }
    if (key === 'join' && (first === undefined || typeof first === 'string')) {
      budget.step(object.length);
      const text = object.map((item) => (item === null || item === undefined ? '' : textOf(item))).join(first ?? ',');
      budget.text(text.length);
      return text;
    }
    if (key === 'slice') {
      budget.step(object.length);
      return object.slice(wholeNumber(first), wholeNumber(second));
    }
  }
  if (typeof object === 'string' && key === 'slice') return object.slice(wholeNumber(first), wholeNumber(second));
  const plain = plainMethod(object, key, values, budget);
  if (plain) return plain.value;
  throw new NotStatic(`calls \`.${key.slice(0, 40)}()\``);
}

function wholeNumber(value: StaticValue): number | undefined {
  if (value === undefined || typeof value === 'number') return value;
  throw new NotStatic('slices by a value that is not a number');
}

function spreadItems(element: SpreadElement, frame: Frame): StaticValue[] {
  const value = evaluateExpression(element.argument, frame);
  if (!Array.isArray(value)) throw new NotStatic('spreads a value that is not an array');
  frame.evaluation.budget.step(value.length);
  return value;
}
