import type { QuestionVector } from '#shared/embedding/embedder.ts';
import { Unavailable } from '#shared/runtime/failures.ts';

/** One content version of one domain: what is indexed, searched and removed as a whole. */
export type SearchScope = { organization: string; domain: string; contentVersion: string };

/**
 * Passages of all content versions, to be searched by words.
 *
 * What an adapter guarantees:
 * - A content version appears as a whole: readers see nothing of it between `startBuild` and `commit`, also if the writer dies.
 *   Building a version again replaces it, and readers see the old one until `commit`.
 * - Readers and writers may be different processes. Scopes never see each other's passages.
 * - A page with groups is found only by a query that names one of them, and so do its links count only then.
 * - The order is that of `searchPassages`: the same passages and query give the same result with every adapter, but for the rounding of vectors.
 * - Every call ends: with `SearchUnavailable` when the index cannot be reached in time.
 */
export type SearchIndex = {
  startBuild(scope: SearchScope, options?: BuildOptions): Promise<IndexBuild>;
  /** How many passages the version has; undefined when it is not indexed, or its index is damaged or of an earlier shape: then build it again. */
  passageCount(scope: SearchScope): Promise<number | undefined>;
  /** Best first. Empty when the version is not indexed, and for a filter value that no page has. */
  search(query: SearchQuery): Promise<FoundPassage[]>;
  /** Undefined when there is no such page, or its groups are not among those given. */
  findPage(scope: SearchScope, path: string, groups: readonly string[]): Promise<FoundPage | undefined>;
  /**
   * To give the passages of an indexed version vectors of this model; undefined when all have them, or it is not indexed. Absent where the engine keeps none.
   * What is searched stays as it was until `commit`, which may be called for some of them. Replacing the version keeps vectors of texts that it still has.
   */
  startVectors?: (scope: SearchScope, model: string, signal?: AbortSignal) => Promise<VectorBuild | undefined>;
  /** Values for filters; undefined when the version is not indexed. */
  facets(scope: SearchScope): Promise<SearchFacets | undefined>;
  /** No error when there is nothing to remove. */
  remove(scope: SearchScope): Promise<void>;
  /** Rejects with the reason when the index cannot be used for that. */
  check(use: 'search' | 'build'): Promise<void>;
  close(): Promise<void>;
};

export type BuildOptions = {
  /** An earlier content version of the domain, whose pages may be taken over as they are. */
  from?: string | undefined;
  /** Words and phrases that mean the same, a group each, beside the built-in ones: for questions to this content version alone. */
  synonyms?: readonly (readonly string[])[] | undefined;
  /** Ends what is under way, and every call of the build. */
  signal?: AbortSignal | undefined;
};

export type IndexBuild = {
  /** Pages that can be taken over, with their keys by path; none where the earlier version is gone, or the engine takes none over. */
  known: ReadonlyMap<string, string>;
  add(pages: readonly SearchPage[]): Promise<void>;
  /** Takes over the pages of these paths as they are, their links too. Only paths that are `known`. */
  keep(paths: readonly string[]): Promise<void>;
  /** Makes the version searchable; answers how many passages it has. */
  commit(): Promise<number>;
  /** Throws away what was added; no error after `commit`. */
  abandon(): Promise<void>;
};

export type VectorBuild = {
  /** What has no vector yet: each text once, by its digest. Of pages with groups there is nothing: their texts stay here. */
  missing: ReadonlyMap<string, string>;
  /** Vectors of length 1 by digest, all of them equally long; undefined for a text that the model does not take. */
  add(vectors: ReadonlyMap<string, Float32Array | undefined>): Promise<void>;
  /** From here on questions with a vector of the model are compared with them. Rejects with `SearchUnavailable` when the version was replaced since. */
  commit(): Promise<void>;
  /** Throws away what was not committed; no error after `commit`. */
  close(): Promise<void>;
};

export type SearchQuery = SearchScope & {
  query: string;
  /** What it means. It counts where passages have vectors of the same model; without it, words alone decide. */
  meaning?: QuestionVector | undefined;
  /** Maximum number of passages. */
  limit: number;
  filter?: SearchFilter | undefined;
  /** Paths of pages that must not be found, and whose links do not count. */
  exclude?: readonly string[] | undefined;
  /** Page that the reader is on: its language and version come first. */
  near?: string | undefined;
  /** Maximum number of passages of one page; unlimited by default. */
  passagesPerPage?: number | undefined;
  /** Say how each score came about. */
  explain?: boolean | undefined;
};

/**
 * `language` and `version`: pages of that language or version, and those that belong to all. A value that no page has finds nothing; but where no page
 * has a language, a language filters nothing.
 * `groups`: what the reader belongs to; pages without groups are always found.
 */
export type SearchFilter = {
  version?: string | undefined;
  language?: string | undefined;
  groups?: readonly string[] | undefined;
  tag?: string | undefined;
};

export type FoundPage = {
  path: string;
  title: string;
  language: string | undefined;
  version: string | undefined;
  /** The whole page, for readers of plain text, with what is for agents alone. */
  markdown: string;
  /** The whole page as people read it. */
  peoplesMarkdown: string;
};

type FilterValues = { versions: string[]; languages: string[]; tags: string[] };
/** `open`: those of pages without groups, which anybody may know of. */
export type SearchFacets = FilterValues & { open: FilterValues };

/** A piece of one page that can be found and quoted: one section or a part of it. Visible text only. */
type Passage = {
  /** Page path as readers know it (`guides/x`); the start page is `index`. */
  path: string;
  /** Anchor of the section on its page; '' before the first heading. */
  anchor: string;
  /** Title of the page. */
  title: string;
  /** Headings above the text, outermost first, joined by ` › `; '' before the first heading. */
  heading: string;
  text: string;
};

/** What all passages of one page share and what search filters by. */
export type SearchPage = {
  path: string;
  /** Digest of all that the page was made from. */
  key: string;
  title: string;
  /** What the page is called elsewhere, as in the navigation; as good as the title, and shown nowhere. */
  names: readonly string[];
  /** Found together with the title, shown nowhere. */
  keywords: readonly string[];
  /** Absent: the page belongs to all languages or versions. */
  language?: string | undefined;
  version?: string | undefined;
  tag?: string | undefined;
  /** Only readers of one of these groups may see it; empty: everyone. */
  groups: readonly string[];
  /** 1 for most; less puts its passages behind equal ones of other pages, more before them (0.1–3). */
  boost: number;
  /** Links to other pages of the content version, by their paths, with the words that are shown for them. */
  links: readonly { to: string; text: string }[];
  /** As `findPage` answers it; not searched. */
  markdown: string;
  /** Absent: the same. */
  peoplesMarkdown?: string | undefined;
  passages: readonly Omit<Passage, 'path' | 'title'>[];
};

export type FoundPassage = Passage & {
  /** 0–1; comparable between questions to one content version. */
  score: number;
  /** Share of the question that the passage has, each word by how rare it is in this content version, 0–1. */
  coverage: number;
  language: string | undefined;
  version: string | undefined;
  tag: string | undefined;
  /** All terms that were searched, those of synonyms and similar words too; the same set for all passages of an answer. */
  terms: ReadonlySet<string>;
  /** Only where it was asked for: what each signal of the ranking adds. */
  explanation?: ScoreExplanation;
};

/** What each signal adds to the sum that decides the order, and the words that were searched. */
type ScoreExplanation = {
  signals: Record<string, number>;
  /** Every word of the question with the terms that were searched for it: itself, synonyms, or similar ones where no page has it. */
  words: { word: string; terms: Record<string, number> }[];
};

/** The search index did not answer in time or cannot be opened. Worth another try later. */
export class SearchUnavailable extends Unavailable {
  override name = 'SearchUnavailable';
}
