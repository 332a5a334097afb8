import { stripTypeScriptTypes } from 'node:module';
import { posix } from 'node:path';
import { type Expression, type Node, parse, type Pattern, type Program, type SpreadElement } from 'acorn';
import { CORE_SCHEMA, load } from 'js-yaml';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { Left, SourceProject } from './source-project.ts';

/** A call in a configuration that is not run, such as `starlight({ … })`. */
export class ConfigCall {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly line: number;

  constructor(name: string, args: readonly unknown[], line: number) {
    this.name = name;
    this.args = args;
    this.line = line;
  }
}

/** The value of a configuration file, and the lines of its keys. */
export type Config = { file: string; value: unknown; lineOf: (key: string) => number };

type Scope = { file: string; values: Map<string, Expression>; imports: Map<string, { from: string; name: string }> };

/**
 * Reads a configuration written in JavaScript or TypeScript without running it: literals, objects, arrays, templates, constants of the file and of files
 * that it imports. Everything else is reported and undefined. Calls are `ConfigCall`s; a call whose name starts with `define` or `with` is its first argument.
 */
export async function readConfig(project: SourceProject, file: string, left: Left[]): Promise<Config> {
  const source = await project.text(file);
  const value = await new Reading(project, left).defaultOf(file, source);
  const lines = source.split('\n');
  const lineOf = (key: string): number => {
    const quoted = new RegExp(`^\\s*['"]?${key.replaceAll(/[^\w]/g, '\\$&')}['"]?\\s*:`);
    return lines.findIndex((line) => quoted.test(line)) + 1 || 1;
  };
  return { file, value, lineOf };
}

const mostDepth = 100;
/** Limit of expressions that are read. A configuration has some hundreds; one whose constants repeat each other could have any number. */
const mostSteps = 200_000;

class Reading {
  readonly #project: SourceProject;
  readonly #left: Left[];
  readonly #scopes = new Map<string, { scope: Scope; main: Expression | undefined }>();
  #steps = 0;

  constructor(project: SourceProject, left: Left[]) {
    this.#project = project;
    this.#left = left;
  }

  async defaultOf(file: string, source?: string, depth = 0): Promise<unknown> {
    const { scope, main } = await this.#load(file, source);
    return main === undefined ? undefined : this.#valueOf(main, scope, depth);
  }

  async #load(file: string, given?: string): Promise<{ scope: Scope; main: Expression | undefined }> {
    const known = this.#scopes.get(file);
    if (known !== undefined) return known;
    const source = given ?? (await this.#project.text(file));
    const scope: Scope = { file, values: new Map(), imports: new Map() };
    const loaded: { scope: Scope; main: Expression | undefined } = { scope, main: undefined };
    this.#scopes.set(file, loaded);
    let program: Program;
    try {
      program = parse(withoutTypes(source, file), { ecmaVersion: 'latest', sourceType: 'module', locations: true });
    } catch (error) {
      this.#left.push({ file, line: 1, what: `The configuration cannot be read (${messageOf(error)})` });
      return loaded;
    }
    for (const statement of program.body) {
      if (statement.type === 'ImportDeclaration')
        for (const each of statement.specifiers) {
          const name =
            each.type === 'ImportSpecifier' && each.imported.type === 'Identifier' ? each.imported.name : 'default';
          scope.imports.set(each.local.name, { from: String(statement.source.value), name });
        }
      const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
      if (declared?.type === 'VariableDeclaration')
        for (const { id, init } of declared.declarations) {
          if (id.type !== 'Identifier' || init == null) continue;
          const from = requiredFrom(init);
          if (from === undefined) scope.values.set(id.name, init);
          else scope.imports.set(id.name, { from, name: 'default' });
        }
      if (statement.type === 'ExportDefaultDeclaration') loaded.main = statement.declaration as Expression;
      if (statement.type === 'ExpressionStatement' && statement.expression.type === 'AssignmentExpression') {
        const { left, right } = statement.expression;
        if (isModuleExports(left)) loaded.main = right;
      }
    }
    return loaded;
  }

  async #valueOf(node: Expression | SpreadElement, scope: Scope, depth: number): Promise<unknown> {
    this.#steps += 1;
    if (this.#steps > mostSteps) return this.#tooLarge(scope);
    if (depth > mostDepth) return this.#unread(node, scope);
    const inner = (each: Expression | SpreadElement): Promise<unknown> => this.#valueOf(each, scope, depth + 1);
    switch (node.type) {
      case 'Literal':
        return node.value;
      case 'TemplateLiteral': {
        const values = await Promise.all(node.expressions.map(inner));
        return node.quasis
          .map(({ value }, at) => `${value.cooked ?? ''}${at < values.length ? String(values[at]) : ''}`)
          .join('');
      }
      case 'ArrayExpression': {
        const found: unknown[] = [];
        for (const element of node.elements) {
          if (element === null) continue;
          const value = await inner(element.type === 'SpreadElement' ? element.argument : element);
          if (element.type !== 'SpreadElement') found.push(value);
          else if (Array.isArray(value)) for (const each of value as unknown[]) found.push(each);
        }
        return found;
      }
      case 'ObjectExpression': {
        const found: Record<string, unknown> = {};
        for (const property of node.properties) {
          if (property.type === 'SpreadElement') Object.assign(found, await inner(property.argument));
          else {
            const { key } = property;
            const name = !property.computed && key.type === 'Identifier' ? key.name : await inner(key);
            Object.defineProperty(found, String(name), {
              value: await inner(property.value),
              enumerable: true,
              configurable: true,
              writable: true,
            });
          }
        }
        return found;
      }
      case 'UnaryExpression':
        if (node.operator === '-') return -Number(await inner(node.argument));
        return node.operator === '!' ? !(await inner(node.argument)) : this.#unread(node, scope);
      case 'Identifier':
        return node.name === 'undefined' ? undefined : this.#named(node.name, node, scope, depth);
      case 'CallExpression': {
        const { callee } = node;
        const name = nameOf(callee);
        const args = await Promise.all(node.arguments.map(inner));
        if (/^(define|with)[A-Z]/.test(name)) return args[0];
        return new ConfigCall(name, args, node.loc?.start.line ?? 1);
      }
      default:
        return this.#unread(node, scope);
    }
  }

  async #named(name: string, node: Node, scope: Scope, depth: number): Promise<unknown> {
    const value = scope.values.get(name);
    if (value !== undefined) return this.#valueOf(value, scope, depth + 1);
    const imported = scope.imports.get(name);
    const base = imported?.from.startsWith('.') ? posix.join(posix.dirname(scope.file), imported.from) : undefined;
    const file = ['', '.ts', '.js', '.mts', '.mjs', '.json', '/index.ts', '/index.js']
      .map((ending) => `${base}${ending}`)
      .find((path) => this.#project.has(path));
    if (imported === undefined || file === undefined) return this.#unread(node, scope);
    if (file.endsWith('.json')) return readJson(this.#project, file, this.#left);
    if (imported.name === 'default') return this.defaultOf(file, undefined, depth + 1);
    const { scope: other } = await this.#load(file);
    const exported = other.values.get(imported.name);
    return exported === undefined ? this.#unread(node, scope) : this.#valueOf(exported, other, depth + 1);
  }

  /** Reports once that the rest of the configuration is not read. */
  #tooLarge({ file }: Scope): undefined {
    if (this.#steps === mostSteps + 1)
      this.#left.push({ file, line: 1, what: 'The configuration is too large, so a part of it is not read' });
    return undefined;
  }

  #unread(node: Node, { file }: Scope): undefined {
    this.#left.push({
      file,
      line: node.loc?.start.line ?? 1,
      what: 'This expression of the configuration is not run, so its value is not known',
    });
    return undefined;
  }
}

/** The value of a JSON file; undefined, with a report, if it is none. */
export async function readJson(project: SourceProject, file: string, left: Left[]): Promise<unknown> {
  const value = jsonIn(await project.text(file));
  if (value === undefined) left.push({ file, line: 1, what: 'The file is not JSON' });
  return value;
}

/** Limit of the parts of a YAML file, counted wherever an alias repeats them. */
const mostParts = 100_000;

/** The value of a text in YAML. Throws if it is none, or its aliases repeat parts so often that it has more than `mostParts`. */
export function readYaml(text: string): unknown {
  const value: unknown = load(text, { schema: CORE_SCHEMA });
  const waiting = [value];
  for (let parts = 1; waiting.length > 0; parts += 1) {
    const one = waiting.pop();
    if (parts + waiting.length > mostParts) throw new Error('its aliases repeat parts of it too often');
    if (typeof one === 'object' && one !== null) for (const each of Object.values(one)) waiting.push(each);
  }
  return value;
}

/** JavaScript of a TypeScript file, with everything in its place. */
function withoutTypes(source: string, file: string): string {
  if (!/\.[cm]?ts$/.test(file)) return source;
  const emitWarning = process.emitWarning.bind(process);
  // Node warns at the first call that this function is new.
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The name in `require('name')`. */
function requiredFrom(node: Expression): string | undefined {
  if (node.type !== 'CallExpression' || nameOf(node.callee) !== 'require') return undefined;
  const [given] = node.arguments;
  return given?.type === 'Literal' ? String(given.value) : undefined;
}

const isModuleExports = (node: Pattern): boolean =>
  node.type === 'MemberExpression' && nameOf(node) === 'module.exports';

function nameOf(node: Node): string {
  const known = node as Expression;
  if (known.type === 'Identifier') return known.name;
  if (known.type !== 'MemberExpression' || known.property.type !== 'Identifier') return '';
  return `${nameOf(known.object)}.${known.property.name}`;
}

/** The value of a key; undefined if `value` is no object or has no such key of its own. */
export const field = (value: unknown, ...keys: string[]): unknown =>
  keys.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null && Object.hasOwn(found, key)
        ? (found as Record<string, unknown>)[key]
        : undefined,
    value,
  );

export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
