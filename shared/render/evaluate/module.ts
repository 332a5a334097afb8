import type { Root } from 'mdast';
import type { Scope } from './scope.ts';

/** A page, snippet or component file while it is evaluated. */
export type Module = {
  /** Path in the project. */
  path: string;
  tree: Root;
  /** Its imports and exports. */
  scope: Scope;
  exports: Set<string>;
};
