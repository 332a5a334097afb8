import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { ProjectFile } from '#shared/docs/project/project-files.ts';
import type { SiteSettings } from '#shared/docs/project/site-model.ts';
import type { ReadFiles } from './dev-files.ts';
import type { PageFeed } from '#shared/docs/render/closing-part.ts';
import type { PageSlice } from '#shared/docs/render/page-slice.ts';

/** Requests to the child that holds the model of a site (`site-child.ts`). They are JSON and byte arrays. */
export type SiteRequest =
  /** Reads a whole project. `read`: bytes of some of its files, so that the child need not ask for them. */
  | { kind: 'load'; files: readonly ProjectFile[]; read: ReadFiles }
  /** Reads the project again after files were added, changed or removed. */
  | { kind: 'change'; files: readonly ProjectFile[]; gone: readonly string[] }
  /** Finds the answer to a request of a browser. `target`: path and query. */
  | { kind: 'find'; target: string }
  /** The inputs of pages; null for paths that are no pages. */
  | { kind: 'pages'; paths: readonly string[] }
  /** The files of the site itself, such as its theme and its sidebars: their names and digests. */
  | { kind: 'site-files' }
  /** All pages in the order of the search, and the list of them for the browser. */
  | { kind: 'search' }
  | { kind: 'feed'; page: PageFeed }
  /** Paths of the pages of `llms-full.txt`, in its order. */
  | { kind: 'listed' };

/** Everything that a page is rendered from, except texts of project files. `made`: texts of dependencies that reading the project made. */
export type PageToRender = { slice: PageSlice; made: Record<string, string> };

/** Outcome of reading the project. */
export type SiteReading = {
  /** Number of the reading; it grows with each change. */
  revision: number;
  pages: number;
  /** Number of pages whose HTML may have changed. */
  affected: number;
  /** True if the files of the site itself may have changed, such as its sidebars. */
  isSiteChanged: boolean;
  /** Problems of the project; empty if it is invalid. */
  diagnostics: Diagnostic[];
  /** The reason why the project cannot be read. The last readable version of the site stays. */
  invalid?: { code: string; file: string; message: string };
  /** False if no version of the project was readable yet. */
  hasSite: boolean;
  colors: SiteSettings['colors'];
};

export type SiteAnswer =
  | { kind: 'refused'; reason: string }
  | { kind: 'missing'; notFound: Uint8Array }
  /** `to`: an address relative to the asked one, or an absolute one. */
  | { kind: 'redirect'; to: string }
  /** A file that a page makes: its HTML, its Markdown, its feed, or a file that only this page uses. */
  | { kind: 'of-page'; path: string; page: PageToRender }
  /** A file of the project. `leftOut`: the parts of an API description that not everybody may read. */
  | { kind: 'file'; path: string; leftOut?: readonly string[] }
  /** A file of the site itself. */
  | { kind: 'made'; path: string; body: Uint8Array }
  /** There is no readable version of the project. */
  | { kind: 'no-site' };

/** Pages of the search by the parts of its index, and `_bindery/search-index.js`. */
export type SearchPlan = { head: string; parts: string[][] };

/** The reading before the first one. */
export const noReading: SiteReading = {
  revision: 0,
  pages: 0,
  affected: 0,
  isSiteChanged: false,
  diagnostics: [],
  hasSite: false,
  colors: { primary: '' },
};
