import type { QuestionVector } from '#shared/embedding/embedder.ts';
import { Unavailable } from '#shared/runtime/failures.ts';

/** One content version of one domain, which is indexed, searched and removed as a whole. */
export type SearchScope = { organization: string; domain: string; contentVersion: string };

/**
 * Index of the passages of all content versions, for searches by words.
 *
 * Adapters guarantee:
 * - A content version appears as a whole: readers see nothing of it between `startBuild` and `commit`, also if the writer dies. Building a
 *   version again replaces it, and readers see the old one until `commit`.
 * - Readers and writers may be different processes. Scopes never see each other's passages.
 * - A page with groups is found only by a query that names one of them, and its links count only then.
 * - The order is that of `searchPassages`: the same passages and query have the same result with every adapter, except for the rounding of
 *   vectors.
 * - Every call ends: with `SearchUnavailable` when the index cannot be reached in time.
 */
export type SearchIndex = {
  startBuild(scope: SearchScope, options?: BuildOptions): Promise<IndexBuild>;
  /**
   * Number of passages of the version; undefined when it is not indexed, or its index is damaged or has an earlier shape, and the version
   * has to be rebuilt.
   */
  passageCount(scope: SearchScope): Promise<number | undefined>;
  /** Best first. Empty when the version is not indexed, and for a filter value that no page has. */
  search(query: SearchQuery): Promise<FoundPassage[]>;
  /** Returns a page; undefined when there is no such page, or its groups are not among the given ones. */
  findPage(scope: SearchScope, path: string, groups: readonly string[]): Promise<FoundPage | undefined>;
  /**
   * The next pages that the groups may see, sorted by the bytes of their paths. The pages of an answer are of one build; a page whose groups are not among
   * the given ones is left out and does not count for the limit. Empty after the last page, and when the version is not indexed.
   */
  pagesAfter(scope: SearchScope, range: PageRange, groups: readonly string[]): Promise<FoundPage[]>;
  /**
   * Begins to add vectors of this model to the passages of an indexed version; undefined when all have them, or when it is not indexed.
   * Absent if the engine stores no vectors. Searches are unchanged until `commit`, which may be called after adding only some vectors.
   * Replacing the version keeps vectors of texts that it still has.
   */
  startVectors?: (scope: SearchScope, model: string, signal?: AbortSignal) => Promise<VectorBuild | undefined>;
  /** Values for filters; undefined when the version is not indexed. */
  facets(scope: SearchScope): Promise<SearchFacets | undefined>;
  /** Succeeds also when there is nothing to remove. */
  remove(scope: SearchScope): Promise<void>;
  /** Rejects with the reason when the index cannot be used for this. */
  check(use: 'search' | 'build'): Promise<void>;
  close(): Promise<void>;
};

export type BuildOptions = {
  /** An earlier content version of the domain whose pages may be reused. */
  from?: string | undefined;
  /**
   * Groups of words and phrases with the same meaning, in addition to the built-in ones. They apply to questions to this content version
   * only.
   */
  synonyms?: readonly (readonly string[])[] | undefined;
  /** Ends work in progress, and every call of the build. */
  signal?: AbortSignal | undefined;
};

export type IndexBuild = {
  /** Keys of pages that can be reused, by path; empty if the earlier version no longer exists, or if the engine reuses none. */
  known: ReadonlyMap<string, string>;
  add(pages: readonly SearchPage[]): Promise<void>;
  /** Reuses the pages of these paths and their links unchanged. All paths must be `known`. */
  keep(paths: readonly string[]): Promise<void>;
  /** Makes the version searchable. Returns its number of passages. */
  commit(): Promise<number>;
  /** Discards the added pages. Has no effect after `commit`. */
  abandon(): Promise<void>;
};

export type VectorBuild = {
  /** Texts without a vector by digest, each once. Pages with groups are left out, because their texts must not leave the installation. */
  missing: ReadonlyMap<string, string>;
  /** Vectors of length 1 by digest, all with the same dimensions; undefined for a text that the model refuses. */
  add(vectors: ReadonlyMap<string, Float32Array | undefined>): Promise<void>;
  /**
   * From then on, questions with a vector of the model are compared with the added vectors. Rejects with `SearchUnavailable` when the version was
   * replaced since.
   */
  commit(): Promise<void>;
  /** Discards vectors that are not committed. Has no effect after `commit`. */
  close(): Promise<void>;
};

export type SearchQuery = SearchScope & {
  query: string;
  /** Vector of the question. It counts if passages have vectors of the same model; without it, words alone decide. */
  meaning?: QuestionVector | undefined;
  /** Maximum number of passages. */
  limit: number;
  filter?: SearchFilter | undefined;
  /** Paths of pages that must not be found, and whose links do not count. */
  exclude?: readonly string[] | undefined;
  /** Page that the reader is on. Its language and version rank first. */
  near?: string | undefined;
  /** Maximum number of passages of one page; unlimited by default. */
  passagesPerPage?: number | undefined;
  /** True if each result should have an explanation of its score. */
  explain?: boolean | undefined;
};

/**
 * `language` and `version`: pages of that language or version, and those that belong to all. A value that no page has finds nothing; but if
 * no page has a language, a language filters nothing. `groups`: the reader's groups; pages without groups are always found.
 */
export type SearchFilter = {
  version?: string | undefined;
  language?: string | undefined;
  groups?: readonly string[] | undefined;
  tag?: string | undefined;
};

/** `after`: the path after which the pages begin; '' for the first. `under`: the beginning of their paths, such as `guides/`; '' for all. */
export type PageRange = { after: string; under: string; limit: number };

export type FoundPage = {
  path: string;
  title: string;
  language: string | undefined;
  version: string | undefined;
  /** The whole page for agents and other readers of plain text, including content for agents only. */
  markdown: string;
  /** The whole page for people, without content for agents only. */
  peoplesMarkdown: string;
};

type FilterValues = { versions: string[]; languages: string[]; tags: string[] };
/** `open`: values of pages without groups, which are visible to everyone. */
export type SearchFacets = FilterValues & { open: FilterValues };

/** A piece of one page that can be found and quoted: one section or a part of it, with its visible text only. */
type Passage = {
  /** Page path in URLs (`guides/x`); the start page is `index`. */
  path: string;
  /** Anchor of the section on its page; '' before the first heading. */
  anchor: string;
  /** Title of the page. */
  title: string;
  /** Headings above the text, outermost first, joined by ` › `; '' before the first heading. */
  heading: string;
  text: string;
};

/** The part of passages that one page shares, and the values that filters use. */
export type SearchPage = {
  path: string;
  /** Digest of all sources of the page. */
  key: string;
  title: string;
  /** Names of the page elsewhere, such as in the navigation. They count like the title, and are never shown. */
  names: readonly string[];
  /** Keywords count like the title, and are never shown. */
  keywords: readonly string[];
  /** If absent, the page belongs to all languages or versions. */
  language?: string | undefined;
  version?: string | undefined;
  tag?: string | undefined;
  /** Only readers of one of these groups may see it; empty for everyone. */
  groups: readonly string[];
  /**
   * Factor for the match of its passages, 1 for most pages (0.1–3): lower values rank them after equally good passages of other pages, higher values
   * before those.
   */
  boost: number;
  /** Links to other pages of the content version, by their paths, with the words that are shown for them. */
  links: readonly { to: string; text: string }[];
  /** The result of `findPage`, which searches do not read. */
  markdown: string;
  /** If absent, the same as `markdown`. */
  peoplesMarkdown?: string | undefined;
  passages: readonly Omit<Passage, 'path' | 'title'>[];
};

export type FoundPassage = Passage & {
  /** 0–1; comparable between questions to one content version. */
  score: number;
  /** Share of the question's words in the passage, each weighted by its rarity in this content version, 0–1. */
  coverage: number;
  language: string | undefined;
  version: string | undefined;
  tag: string | undefined;
  /** All searched terms, including synonyms and similar words; the same set for all passages of an answer. */
  terms: ReadonlySet<string>;
  /** Contributions of the ranking signals, only if requested. */
  explanation?: ScoreExplanation;
};

/** Contributions of the signals to the sum that decides the order, and the searched words. */
type ScoreExplanation = {
  signals: Record<string, number>;
  /** Every word of the question with the terms that were searched for it: itself, synonyms, or similar words if no page has it. */
  words: { word: string; terms: Record<string, number> }[];
};

/** The search index did not answer in time or cannot be opened. A later try may succeed. */
export class SearchUnavailable extends Unavailable {
  override name = 'SearchUnavailable';
}
