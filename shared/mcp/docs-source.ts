import type { FoundLines } from '#shared/search/find-lines.ts';
import type { DocsOutline } from './docs-outline.ts';

/**
 * A documentation as one reader may see it. Adapters guarantee that no method returns anything of a page whose groups the reader does not have: no text,
 * no title, no path. Methods reject with `ApiError` for what the reader did wrong and for systems that are down; its sentence is shown.
 */
export type DocsSource = {
  /** Name, navigation and skills. The caller must not change it. */
  outline(): Promise<DocsOutline>;
  search(query: SourceQuery): Promise<{ passages: SourcePassage[]; notice?: string | undefined }>;
  /** Path and Markdown of a page; undefined if there is none. `path`: as a link writes it, such as `/guides/x`. */
  readPage(path: string): Promise<{ path: string; markdown: string } | undefined>;
  findLines(search: SourceLineSearch): Promise<FoundLines>;
  /** The Markdown of a skill of the outline; undefined if there is none with that name. */
  readSkill(name: string): Promise<string | undefined>;
  /** Records a remark about the documentation. Absent if nobody would read it. */
  submitFeedback?: ((feedback: AgentFeedback) => Promise<void>) | undefined;
  /** Called with each call of a tool that was answered. Must not throw. */
  onCall?: ((call: AgentCall) => void) | undefined;
  /** Called with errors that are not the reader's. */
  onFailure(error: unknown): void;
};

type SourceQuery = {
  query: string;
  pageSize: number;
  version?: string | undefined;
  language?: string | undefined;
};

/** A found passage. `url`: address within the site, such as `/guides/x#install`. */
type SourcePassage = {
  path: string;
  url: string;
  title: string;
  heading: string;
  content: string;
  /** 0–1. */
  score: number;
  language?: string | undefined;
  version?: string | undefined;
};

type SourceLineSearch = {
  pattern: string;
  isExpression: boolean;
  isCaseSensitive: boolean;
  under: string;
  after: string;
  limit: number;
  around: number;
};

type AgentFeedback = { path?: string | undefined; rating?: 'up' | 'down' | undefined; message: string };

/** A call of a tool. `search`: the words that were searched for. */
export type AgentCall = { tool: string; search?: { query: string; isEmpty: boolean } | undefined };
