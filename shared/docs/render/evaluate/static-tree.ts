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
  /**
   * Elements that have the same object here differ in `id` alone, and have no address in them: what is written of one serves for all. They share
   * their props and children.
   */
  alike?: object;
  /** Beside `alike`: what would be the prop of that name. */
  id?: string;
};

/** Children without an element around them. */
export type StaticFragment = { type: 'staticFragment'; children: Nodes[]; position?: Root['position'] };

/**
 * A component that runs in the reader's browser. `children` is what is known of it without running it: what it shows at first, and what it was
 * given and does not show yet.
 */
export type StaticIsland = {
  type: 'staticIsland';
  /** Its place in the page's list of islands. */
  number: number;
  /** No part of a block is in it: it may stand in a line of text. */
  isInline: boolean;
  children: Nodes[];
  position?: Root['position'];
};

/** Content that a component was given. It is rendered once and for all, and stays as it is wherever the component shows it. */
export type StaticSlot = {
  type: 'staticSlot';
  /** Its place among those of its island; undefined where nothing runs. */
  number: number | undefined;
  isInline: boolean;
  /** The component does not show it at first. */
  isHidden: boolean;
  children: Nodes[];
  position?: Root['position'];
};

/** An island as the page's script has it. */
export type Island = {
  /** The file in whose scope its code is. */
  module: Module;
  /**
   * Its component and its props as JavaScript: a name of the module, or the name of an element in quotes, and an object. `bindery$slot(0)` stands
   * for content.
   */
  component: string;
  props: string;
  /** Where it stands, as `page.mdx`, line 3. */
  file: string;
  line?: number;
};

/** Code that differs from that of other pages by a text in a string alone: `code` with `mark` where it has `text`, which is plain everywhere. */
export type SharedCode = { code: string; mark: string; text: string };

declare module 'mdast' {
  interface HeadingData {
    /** The heading without what components of the project show in it. */
    name?: string;
  }
  interface CodeData {
    shared?: SharedCode;
  }
  interface ListData {
    /** It goes on with the fields of the next such list. */
    isOfFields?: true;
  }
  interface ListItemData {
    /** Lists of several pages have it: it may not be changed. */
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

/** What has a value in the reader's browser only. `why` continues a sentence about it: "calls `fetch`". */
export class Unknown {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
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
  /** The files that it imports, by how it names them. */
  imports: Map<string, Module>;
  /** The text of a file that is code as a whole; pages and snippets have their code in the tree. */
  script?: string;
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
