import type { PageContext, ProseRule } from './convert-page.ts';
import type { SiteOutline } from './site-outline.ts';

/** The findings of the reader of one generator's projects. */
export type Plan = {
  outline: SiteOutline;
  /** Path in the new project, without its ending, by the path of a page's file. */
  pages: ReadonlyMap<string, string>;
  /** Files that pages include, by their paths, with their paths in the new project. */
  partials?: ReadonlyMap<string, string>;
  /** Folders whose files are copied, and to where. The first that has a file counts. */
  folders: readonly { from: string; to: string }[];
  /** Beginnings of addresses that the site had, such as `/docs`. */
  bases: readonly string[];
  blocks: PageContext['blocks'];
  showsTitle: PageContext['showsTitle'];
  /** True for files in which braces are expressions. */
  isMdx: (file: string) => boolean;
  /** Rules for the prose of a page. */
  rules: (file: string, page: PageTools) => readonly ProseRule[];
  wholeLine?: (file: string, page: PageTools) => PageContext['wholeLine'];
  frontmatter: PageContext['frontmatter'];
  preface?: PageContext['preface'];
};

/** Functions for the rules of a page. */
export type PageTools = {
  left: (at: number, what: string) => void;
  target: (target: string, at: number) => string;
};
