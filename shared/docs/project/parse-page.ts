/// <reference types="mdast-util-mdx" />
import type { Root } from 'mdast';

import type { Position } from 'unist';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { InlinePictures } from './inline-pictures.ts';
import type { JsonObject } from './json-values.ts';

export type ParseOptions = {
  /** `variables` of docs.json: `{{name}}` is replaced before the parse. */
  variables?: Record<string, string>;
  /** `styling.latex` of docs.json; absent: `$…$` is math where it cannot be a price or a name. */
  latex?: boolean | undefined;
  /** Whether a name with a capital is a component, where a page does not say so itself. Default: all are. */
  isComponent?: ((name: string) => boolean) | undefined;
  /** Where pictures that stand in the source belong in the bundle. */
  pictureFolder?: string | undefined;
  /** The slower one is for a page that the other one could not read without ending its process. Default: `satteri`. */
  parser?: 'satteri' | 'micromark' | undefined;
};

export type ParsedPage = {
  /** YAML core schema, dangerous keys dropped. */
  frontmatter: JsonObject;
  /**
   * Markdown tree with GFM and MDX nodes (`mdxJsxFlowElement`, `mdxFlowExpression`, `mdxjsEsm`, …; expressions and imports have their
   * ESTree in `data.estree`), `inlineMath` and `math` nodes. `data.id` of a heading is the id its author wrote. Positions are those of the file.
   * Pages that are not MDX have no MDX nodes: `.md` pages then have `html` nodes, and in `.mdx` pages that cannot be repaired tags are text.
   */
  tree: Root;
  /** Text of its `<style>` elements, which are not in the tree. */
  styles?: string[];
  /** What was parsed: offsets of positions are in it. Absent where parts of the tree are not in it as they are. */
  text?: string;
  /**
   * `mdx`, also where places of the page were repaired, each with the diagnostic `mdx-repaired`. `markdown`: the MDX parser refused the page, and an
   * `.mdx` file, which had too much to repair, gets the diagnostic `mdx-syntax`. `none`: see `failure`.
   */
  format: 'mdx' | 'markdown' | 'none';
  /** Why the page must not be rendered: it breaks a limit (`page-too-large`, `nesting-too-deep`, `expression-too-deep`). The tree is empty then. */
  failure?: { code: string; message: string };
  diagnostics: Diagnostic[];
  /** Pictures that stood in the source in base64; the tree has their paths, with a slash in front. */
  pictures?: InlinePictures;
};

/**
 * Turns the source of a page or snippet into a tree. An implementation never throws for what an author wrote, runs nothing of it, and gives
 * the same tree for the same input. It may take long or exhaust memory on hostile input: call it in a sandbox child with a deadline.
 */
export type PageParser = { parse(source: Uint8Array | string, file: string, options?: ParseOptions): ParsedPage };

/** TeX between dollar signs; `value` has no delimiters. `display`: written with two, among other text. */
export type InlineMath = { type: 'inlineMath'; value: string; display: boolean; position?: Position | undefined };
/** A paragraph that is only `$$…$$`. */
export type BlockMath = { type: 'math'; value: string; position?: Position | undefined };

declare module 'mdast' {
  interface HeadingData {
    /** Anchor that the author wrote as `{#id}`. */
    id?: string | undefined;
  }
  interface PhrasingContentMap {
    inlineMath: InlineMath;
  }
  interface RootContentMap {
    inlineMath: InlineMath;
    math: BlockMath;
  }
  interface BlockContentMap {
    math: BlockMath;
  }
}
