import type { Node } from 'estree';

/** Names in a piece of JavaScript: names that it uses, names that it binds anywhere, names of elements, its texts, and the texts that name icons. */
export type Names = { used: Set<string>; bound: Set<string>; elements: Set<string>; texts: string[]; icons: string[] };

const mostDepth = 1000;

/** Collects the names of a tree. Throws a `RangeError` if it is nested too deep. */
export function namesIn(root: Node): Names {
  const names: Names = { used: new Set(), bound: new Set(), elements: new Set(), texts: [], icons: [] };
  const pending: { node: AnyNode; depth: number }[] = [{ node: root as AnyNode, depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { node, depth } = next;
    if (depth > mostDepth) throw new RangeError(`it is nested more than ${mostDepth} levels deep`);
    note(node, names);
    for (const key in node) {
      if (key === 'loc' || key === 'range' || isOnlyName(node, key)) continue;
      const value = node[key];
      for (const child of Array.isArray(value) ? value : [value])
        if (isNode(child)) pending.push({ node: child, depth: depth + 1 });
    }
  }
  return names;
}

type AnyNode = { type: string; [key: string]: unknown };

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && typeof (value as AnyNode).type === 'string';

/** True for names that are no references: `b` in `a.b` and `{ b: 1 }`, and names of attributes. */
function isOnlyName(node: AnyNode, key: string): boolean {
  if (key === 'property') return node.type === 'JSXMemberExpression' || node['computed'] === false;
  if (key === 'key') return node['computed'] === false && node['shorthand'] !== true;
  return key === 'name' && node.type === 'JSXAttribute';
}

function note(node: AnyNode, { used, bound, elements, texts, icons }: Names): void {
  switch (node.type) {
    case 'Identifier':
      used.add(String(node['name']));
      break;
    case 'JSXIdentifier':
      elements.add(String(node['name']));
      break;
    case 'Literal':
    case 'JSXText':
      if (typeof node['value'] === 'string') texts.push(node['value']);
      break;
    case 'TemplateElement':
      texts.push((node['value'] as { cooked?: string | null }).cooked ?? '');
      break;
    case 'JSXAttribute':
      noteIcon(node['name'], node['value'], icons);
      break;
    case 'Property':
      noteIcon(node['key'], node['value'], icons);
      break;
    case 'VariableDeclarator':
      noteBound(node['id'], bound);
      break;
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      noteBound(node['id'], bound);
      for (const parameter of node['params'] as unknown[]) noteBound(parameter, bound);
      break;
    case 'ClassDeclaration':
    case 'ClassExpression':
      noteBound(node['id'], bound);
      break;
    case 'CatchClause':
      noteBound(node['param'], bound);
      break;
    case 'ImportSpecifier':
    case 'ImportDefaultSpecifier':
    case 'ImportNamespaceSpecifier':
      noteBound(node['local'], bound);
      break;
  }
}

/** Notes the name of an icon in `icon="rocket"` and `{ icon: 'rocket' }`. */
function noteIcon(name: unknown, value: unknown, icons: string[]): void {
  if (!isNode(name) || name['name'] !== 'icon' || !isNode(value)) return;
  const literal = value.type === 'JSXExpressionContainer' ? value['expression'] : value;
  if (isNode(literal) && literal.type === 'Literal' && typeof literal['value'] === 'string')
    icons.push(literal['value']);
}

function noteBound(pattern: unknown, bound: Set<string>): void {
  if (!isNode(pattern)) return;
  if (pattern.type === 'Identifier') bound.add(String(pattern['name']));
  else if (pattern.type === 'AssignmentPattern') noteBound(pattern['left'], bound);
  else if (pattern.type === 'RestElement') noteBound(pattern['argument'], bound);
  else if (pattern.type === 'ArrayPattern') for (const one of pattern['elements'] as unknown[]) noteBound(one, bound);
  else if (pattern.type === 'ObjectPattern')
    for (const one of pattern['properties'] as AnyNode[])
      noteBound(one.type === 'RestElement' ? one : one['value'], bound);
}
