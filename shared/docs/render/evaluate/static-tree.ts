import type { ArrowFunctionExpression, FunctionDeclaration } from 'estree';
import type { Nodes, Root } from 'mdast';

/**
 * What evaluation makes of a page: a Markdown tree without expressions, imports and components of the project. The only JSX left is elements:
 * those of HTML with their lower-case names, and built-in components.
 */
export type StaticElement = {
  type: 'staticElement';
  name: string;
  props: StaticProps;
  children: Nodes[];
  position?: Root['position'];
};

/** Children without an element around them. */
export type StaticFragment = { type: 'staticFragment'; children: Nodes[]; position?: Root['position'] };

declare module 'mdast' {
  interface HeadingData {
    /** The heading without what components of the project show in it. */
    name?: string;
  }
  interface ListData {
    /** It goes on with the fields of the next such list. */
    isOfFields?: true;
  }
  interface RootContentMap {
    staticElement: StaticElement;
    staticFragment: StaticFragment;
  }
  interface PhrasingContentMap {
    staticElement: StaticElement;
    staticFragment: StaticFragment;
  }
  interface BlockContentMap {
    staticElement: StaticElement;
    staticFragment: StaticFragment;
  }
}

/** A value of the interpreter. Objects are maps, so that no key has a meaning for JavaScript. */
export type StaticValue =
  | string
  | number
  | boolean
  | bigint
  | null
  | undefined
  | StaticValue[]
  | StaticObject
  | Closure
  | StaticNodes
  | ComponentReference;

export type StaticObject = Map<string, StaticValue>;
export type StaticProps = ReadonlyMap<string, StaticValue>;

export type PureFunction = ArrowFunctionExpression | FunctionDeclaration;

/** An arrow function of the page or a snippet. */
export class Closure {
  readonly name: string;
  readonly code: PureFunction;
  readonly scope: Scope;
  readonly module: Module;
  constructor(name: string, code: PureFunction, scope: Scope, module: Module) {
    this.name = name;
    this.code = code;
    this.scope = scope;
    this.module = module;
  }
}

/** JSX as a value. */
export class StaticNodes {
  readonly nodes: Nodes[];
  constructor(nodes: Nodes[]) {
    this.nodes = nodes;
  }
}

/** An imported snippet: its whole body as a component. */
export class ComponentReference {
  readonly module: Module;
  constructor(module: Module) {
    this.module = module;
  }
}

/** A page, snippet or component file while it is evaluated. */
export type Module = {
  /** Path in the project. */
  path: string;
  tree: Root;
  /** Its imports and exports. */
  scope: Scope;
  exports: Set<string>;
};

/** Names that an expression sees. */
export class Scope {
  readonly #names = new Map<string, StaticValue>();
  readonly #outer: Scope | undefined;

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  has(name: string): boolean {
    return this.#names.has(name) || (this.#outer?.has(name) ?? false);
  }

  get(name: string): StaticValue {
    return this.#names.has(name) ? this.#names.get(name) : this.#outer?.get(name);
  }

  set(name: string, value: StaticValue): void {
    this.#names.set(name, value);
  }
}
