/// <reference types="mdast-util-mdx" />
import type { Finding, FindingCode } from '#shared/docs/findings/finding-texts.ts';
import type { Root } from 'mdast';

import type { Position } from 'unist';
import type { InlinePictures } from './inline-pictures.ts';
import type { JsonObject } from './json-values.ts';
import type { StyleSource } from './prepare-source.ts';

export type ParseOptions = {
  /** `variables` of docs.json: `{{name}}` is replaced before parsing. */
  variables?: Record<string, string>;
  /** `styling.latex` of docs.json. If absent, `$…$` is math unless it can be a price or a name. */
  latex?: boolean | undefined;
  /** True for a capitalized name that is a component. Names that the page imports or exports always are. Default: all are. */
  isComponent?: ((name: string) => boolean) | undefined;
  /** Folder in the bundle for pictures that are inline in the source. */
  pictureFolder?: string | undefined;
  /** Parser to use. The slower `micromark` is for a page on which the other one ended its process. Default: `satteri`. */
  parser?: 'satteri' | 'micromark' | undefined;
};

export type ParsedPage = {
  /** The parsed frontmatter: values by the YAML core schema, without dangerous keys. */
  frontmatter: JsonObject;
  /**
   * Markdown tree with GFM and MDX nodes (`mdxJsxFlowElement`, `mdxFlowExpression`, `mdxjsEsm`, …; expressions and imports have their ESTree in
   * `data.estree`), `inlineMath` and `math` nodes. `data.id` of a heading is the id that its author wrote. Positions are those of the file. Pages
   * that are not MDX have no MDX nodes: `.md` pages then have `html` nodes, and in `.mdx` pages that cannot be repaired tags are text.
   */
  tree: Root;
  /** The `<style>` elements of the page, in their order. They are not in the tree. */
  styles?: StyleSource[];
  /** The parsed text, which offsets of positions refer to. Absent if the tree has parts that differ from this text. */
  text?: string;
  /**
   * `mdx`, also if places of the page were repaired, each with the diagnostic `mdx-repaired`. `markdown`: the MDX parser refused the page, and an
   * `.mdx` file with too much to repair gets the diagnostic `mdx-syntax`. `none`: see `failure`.
   */
  format: 'mdx' | 'markdown' | 'none';
  /**
   * Reason why the page must not be rendered: it breaks a limit (`page-too-large`, `nesting-too-deep`, `expression-too-deep`). The tree is then
   * empty.
   */
  failure?: { code: FindingCode; message: string };
  diagnostics: Finding[];
  /** Base64 pictures of the source; the tree has their paths, with a leading slash. */
  pictures?: InlinePictures;
};

/**
 * Parses the source of a page or snippet into a tree. An implementation never throws because of an author's input, runs no code of it, and returns
 * the same tree for the same input. It may take long or exhaust memory on hostile input: call it in a sandbox child with a deadline.
 */
export type PageParser = { parse(source: Uint8Array | string, file: string, options?: ParseOptions): ParsedPage };

/** TeX between dollar signs; `value` has no delimiters. `display` is true for two dollars among other text. */
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
