import type { Expression } from 'estree';
import type { JSXElement, JSXFragment, JSXIdentifier, JSXMemberExpression, JSXNamespacedName } from 'estree-jsx';
import type { Nodes } from 'mdast';
import { evaluateElement, nodesOf } from './evaluate-element.ts';
import { evaluateExpression, type Frame, spreadObject } from './evaluate-expression.ts';
import { NotStatic } from './not-static.ts';
import { StaticNodes, type StaticObject, type StaticValue } from './static-tree.ts';

/** JSX inside of an expression. */
export function evaluateJsx(node: JSXElement | JSXFragment, frame: Frame): Nodes[] {
  frame.evaluation.budget.step();
  const children = node.children.flatMap((child): Nodes[] => {
    if (child.type === 'JSXText') {
      const value = jsxText(child.value);
      frame.evaluation.budget.text(value.length);
      return value === '' ? [] : [{ type: 'text', value }];
    }
    if (child.type === 'JSXExpressionContainer') {
      return child.expression.type === 'JSXEmptyExpression' ? [] : nodesOf(evaluateExpression(child.expression, frame));
    }
    if (child.type === 'JSXSpreadChild') throw new NotStatic('expression-not-static', 'spreads children');
    return frame.evaluation.budget.deeper(() => evaluateJsx(child, frame));
  });
  if (node.type === 'JSXFragment') return children;
  const props: StaticObject = new Map();
  for (const attribute of node.openingElement.attributes) {
    if (attribute.type === 'JSXSpreadAttribute') {
      for (const [key, value] of spreadObject(evaluateExpression(attribute.argument, frame))) props.set(key, value);
    } else props.set(tagName(attribute.name), attributeValue(attribute.value, frame));
  }
  const given = children.length === 0 && props.has('children') ? nodesOf(props.get('children')) : children;
  props.delete('children');
  return evaluateElement(tagName(node.openingElement.name), props, given, frame, node);
}

type AttributeValue = JSXElement['openingElement']['attributes'][number] extends infer Attribute
  ? Attribute extends { type: 'JSXAttribute'; value: infer Value }
    ? Value
    : never
  : never;

function attributeValue(value: AttributeValue, frame: Frame): StaticValue {
  if (value === null) return true;
  if (value.type === 'Literal') return value.value as string;
  if (value.type === 'JSXExpressionContainer') return evaluateExpression(value.expression as Expression, frame);
  return new StaticNodes(evaluateJsx(value, frame));
}

function tagName(name: JSXIdentifier | JSXMemberExpression | JSXNamespacedName): string {
  if (name.type === 'JSXIdentifier') return name.name;
  if (name.type === 'JSXNamespacedName') return `${name.namespace.name}:${name.name.name}`;
  return `${tagName(name.object)}.${name.property.name}`;
}

/** As React reads it: lines trimmed and joined by spaces, empty ones dropped. */
function jsxText(text: string): string {
  const lines = text.split(/\r\n|\n|\r/);
  return lines
    .map((line, position) => {
      let kept = line.replace(/\t/g, ' ');
      if (position > 0) kept = kept.replace(/^ +/, '');
      if (position < lines.length - 1) kept = kept.replace(/ +$/, '');
      return kept;
    })
    .filter((line) => line !== '')
    .join(' ');
}
