import type { ArrowFunctionExpression, FunctionDeclaration } from 'estree';
import type { Nodes, Root } from 'mdast';

/**
 * Result of evaluating a page: a Markdown tree without expressions, imports and components of the project. The only JSX left is elements: HTML
 * elements with lower-case names, and built-in components.
 */
export type StaticElement = {
  type: 'staticElement';
  name: string;
  props: StaticProps;
  children: Nodes[];
  position?: Root['position'];
  /**
   * Elements with the same object here differ only in `id`, and have no address in them, so the HTML of one serves for all. They share their props
   * and children.
   */
  alike?: object;
  /** Used with `alike`: the value of the prop `id`. */
  id?: string;
};

/** Children without an element around them. */
export type StaticFragment = { type: 'staticFragment'; children: Nodes[]; position?: Root['position'] };

/**
 * A component that runs in the reader's browser. `children` is its content without running it: its first look, and the content that it was given and
 * does not show yet.
 */
export type StaticIsland = {
  type: 'staticIsland';
  /** Index of the island in the page's list of islands. */
  number: number;
  /** True if it contains no block, so that it may be part of a line of text. */
  isInline: boolean;
  children: Nodes[];
  position?: Root['position'];
};

/** Content that is passed to a component. It is rendered once, and is the same wherever the component shows it. */
export type StaticSlot = {
  type: 'staticSlot';
  /** Index of the slot among those of its island; undefined if scripts are not allowed. */
  number: number | undefined;
  isInline: boolean;
  /** True if the component does not show it at first. */
  isHidden: boolean;
  children: Nodes[];
  position?: Root['position'];
};

/** An island as the page's script uses it. */
export type Island = {
  /** The file in whose scope its code runs. */
  module: Module;
  /**
   * Component and props of the island as JavaScript: a name of the module, or the name of an element in quotes, and an object. `bindery$slot(0)`
   * stands for content.
   */
  component: string;
  props: string;
  /** Place of the island in a source file, such as `page.mdx`, line 3. */
  file: string;
  line?: number;
};

/**
 * Code that differs from the code of other pages only by a text in a string: `code` with `mark` in place of `text`. The text has no special
 * characters of HTML or code.
 */
export type SharedCode = { code: string; mark: string; text: string };

declare module 'mdast' {
  interface HeadingData {
    /** Text of the heading without the output of components of the project. */
    name?: string;
  }
  interface CodeData {
    shared?: SharedCode;
  }
  interface ListData {
    /** True for a list of fields, which is merged with an adjacent list of fields. */
    isOfFields?: true;
  }
  interface ListItemData {
    /** True if lists of several pages share the item, so that it may not be changed. */
    isRepeated?: true;
  }
  interface RootContentMap {
    staticElement: StaticElement;
    staticFragment: StaticFragment;
    staticIsland: StaticIsland;
    staticSlot: StaticSlot;
  }
  interface PhrasingContentMap {
    staticElement: StaticElement;
    staticFragment: StaticFragment;
    staticIsland: StaticIsland;
    staticSlot: StaticSlot;
  }
  interface BlockContentMap {
    staticElement: StaticElement;
    staticFragment: StaticFragment;
    staticIsland: StaticIsland;
    staticSlot: StaticSlot;
  }
}

/** A value of the interpreter. Objects are maps, so that no key has a special meaning in JavaScript. */
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
  | ComponentReference
  | Unknown;

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

/** A value that only the reader's browser can compute. `why` continues a sentence about it: "calls `fetch`". */
export class Unknown {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

/** An imported snippet. Its whole body is the component. */
export class ComponentReference {
  readonly module: Module;
  constructor(module: Module) {
    this.module = module;
  }
}

/** A page, snippet or component file during evaluation. */
export type Module = {
  /** Path in the project. */
  path: string;
  tree: Root;
  /** Bindings of its imports and exports. */
  scope: Scope;
  exports: Set<string>;
  /** The imported files, by the specifiers of the imports. */
  imports: Map<string, Module>;
  /** Names of imports that were reported because there is nothing to import. */
  missing: Set<string>;
  /** Text of a file that is only code. Pages and snippets have their code in the tree. */
  script?: string;
};

/** Names in the scope of an expression. */
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
