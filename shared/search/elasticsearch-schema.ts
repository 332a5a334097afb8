import type { estypes } from '@elastic/elasticsearch';
import { type ElasticsearchCall, type ElasticsearchSettings, refusalStatus } from './elasticsearch-connection.ts';
import { endUnfinishedCopy } from './elasticsearch-unfinished-copy.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { VectorFacts } from './vectors/meaning.ts';
import { fields } from './rank-passages.ts';
import { SearchUnavailable, type SearchFacets, type SearchPage, type SearchScope } from './search-index.ts';

/*
 * All content versions of all organizations are in one index. Each document says whose it is, and those of one domain are on one shard. Two kinds are
 * changed: `searched` says which build of a content version is searched, `builds` which builds of the domain are in use. The others belong to a build: `page`,
 * `passage`, `link`, `vector`, and `pages`, which lists its pages. A link is filtered by the page that it is on. Vectors come later than the others, one beside
 * each passage.
 *
 * A build that follows an earlier one has documents for the changed pages alone. For all others it is searched together with its base, a build with
 * all pages of its time. So what a publication costs is decided by what it changes.
 *
 * Programs of different shapes run side by side during an upgrade, or after it was taken back. Each has documents of its own and leaves the others' alone: their
 * ids and the names of builds begin with the shape. Programs before the ninth shape delete documents of builds of which they do not know that they are needed, but
 * only such as have `startedAt` or a `contentVersion`, and of version documents those of the kind `version`. So there are none of these any more.
 */

/** Of the mapping below. A program with a higher one copies the index, see `prepareIndex`. */
export const mappingVersion = 2;

/** Counts up when documents lack what this program needs, or the terms of `analyzeText` change: builds of another shape are built again. */
export const documentShape = 9;
/** Of an earlier shape whose builds can be searched as they are, until there is one of ours. */
export const searchedEarlierShape = 7;

const keyword = { type: 'keyword' } as const;
/** The terms come from `analyzeText`, separated by spaces: Elasticsearch analyzes nothing. */
const terms = { type: 'text', analyzer: 'whitespace', index_options: 'freqs' } as const;

const mapping: estypes.MappingTypeMapping = {
  // What is not listed is kept and not searched: texts that are shown.
  dynamic: false,
  _routing: { required: true },
  properties: {
    kind: keyword,
    organization: keyword,
    domain: keyword,
    /** Of what says which build is searched. Builds of programs before the eighth shape had it, too. */
    contentVersion: keyword,
    build: keyword,
    /** Of programs before the ninth shape. */
    startedAt: { type: 'date', format: 'epoch_millis' },
    filters: {
      properties: { path: keyword, language: keyword, version: keyword, tag: keyword, groups: keyword },
    },
    /** Of a passage or a link in its page, or of a list of pages. */
    position: { type: 'integer' },
    terms: { properties: Object.fromEntries([...fields, 'link'].map((field) => [field, terms])) },
    /** Path of the page that a link leads to. */
    target: keyword,
  },
};

/** Which build of a content version is searched. `removing`: it is being removed, and nothing may be committed. */
export type VersionDocument = SearchScope & {
  /** `version` in those of programs before the ninth shape. */
  kind: 'searched' | 'version';
  build: string;
  /** Absent where the build has all pages itself. */
  base?: BaseOfBuild;
  /** Pages, passages and links of build and base. */
  documentCount: number;
  shape: number;
  passageCount: number;
  averageLength: Record<(typeof fields)[number], number>;
  averagePageLength: number;
  /** Builds of earlier versions do not say which are `open`. */
  facets: Omit<SearchFacets, 'open'> & Partial<SearchFacets>;
  /** Groups of the project; absent when there are none. As many as 1 MB, so they are read once for each build. */
  synonyms?: readonly (readonly string[])[];
  hasSynonyms?: boolean;
  /** `isComplete`: no passage lacks one that may have one. */
  vectorFacts?: VectorFacts & { isComplete: boolean };
  removing?: boolean;
};

/** The build that has the other pages. `changed`: pages of the build itself, `gone`: those of the base that are no longer there; both as `filters` have paths. */
export type BaseOfBuild = { build: string; changed: string[]; gone: string[] };

/** The builds of a domain whose documents nobody may delete, see `elasticsearch-builds-in-use.ts`. */
export type BuildsDocument = Owner & {
  kind: 'builds';
  uses: BuildUse[];
  /** Not in use any more, and not all of their documents are deleted yet. */
  left: string[];
  /** Deleted but for the vectors, which are still to be copied. */
  vectorsOf: string[];
  /** When programs of this shape began to index the domain, in milliseconds. */
  begun: number;
};
/** `since`: when it was registered, in milliseconds. */
export type BuildUse = { contentVersion: string; build: string; base?: string | undefined; since: number };

/** Of some pages of a build, what a later build needs to know to leave them where they are. */
export type PagesDocument = OfBuild & { kind: 'pages'; position: number; pages: ListedPage[] };
/** `key`: digest of all that it was made from. `isOpen`: without groups. */
export type ListedPage = Pick<SearchPage, 'path' | 'key' | 'version' | 'language' | 'tag'> & {
  isOpen: boolean;
  size: PageSize;
};

export type PageDocument = OfBuild & {
  kind: 'page';
  filters: Filters;
  page: {
    path: string;
    title: string;
    language?: string | undefined;
    version?: string | undefined;
    markdown: string;
    peoplesMarkdown?: string | undefined;
  };
};

/** What a page adds to its build. `lengths`: terms of all its passages, by field. */
export type PageSize = { passages: number; links: number; lengths: Record<(typeof fields)[number], number> };

export type PassageDocument = OfBuild & {
  kind: 'passage';
  filters: Filters;
  terms: Record<(typeof fields)[number], string>;
  position: number;
  /** What ranking needs of its page. */
  rank: {
    path: string;
    language?: string | undefined;
    version?: string | undefined;
    boost: number;
    title: string;
    names: string;
    keywords: string;
    textLength: number;
  };
  shown: { title: string; anchor: string; heading: string; text: string; tag?: string | undefined };
};

export type LinkDocument = OfBuild & {
  kind: 'link';
  filters: Filters;
  /** Number in its page. */
  position: number;
  target: string;
  terms: { link: string };
};

export type VectorDocument = OfBuild & {
  kind: 'vector';
  /** Both as its passage has them. */
  filters: Filters;
  position: number;
  model: string;
  /** Of the model and the text. */
  digest: string;
  /** By `d` and their length, because a field has one length. Absent for a text that the model does not take. */
  vectors?: Record<string, number[]>;
};

type Owner = Omit<SearchScope, 'contentVersion'>;
type OfBuild = Owner & { build: string };

type Filters = { path: string; language: string; version: string; tag?: string | undefined; groups: string[] };

/** What a page is filtered by. A page of all languages or versions has `everywhere` there, and groups have a mark before them that `everyone` has not. */
export function filtersOf({ path, language, version, tag, groups }: SearchPage): Filters {
  return {
    path: exact(path),
    language: divisionKey(language),
    version: divisionKey(version),
    tag: tag === undefined ? undefined : exact(tag),
    groups: groups.length === 0 ? [everyone] : groups.map(groupKey),
  };
}

export const everywhere = 'everywhere';
/** Of a language or version. */
export const divisionKey = (name: string | undefined): string =>
  name === undefined ? everywhere : `division ${exact(name)}`;

export const everyone = 'everyone';
export const groupKey = (group: string): string => `group ${exact(group)}`;

const longestKeyword = 1_000;

/** As a keyword. Elasticsearch refuses those above 32 kB and halves of characters, and authors write what they like. */
export const exact = (value: string): string =>
  (value.length <= longestKeyword ? value : `${value.slice(0, longestKeyword)} ${sha256Of(value)}`).toWellFormed();

/** Keeps a domain's documents together, so that a search asks one shard. */
export const routingOf = ({ organization, domain }: SearchScope): string => `${organization}/${domain}`;

/** Sorts by the shape, and behind the names of builds before the ninth shape: they are their time, which begins with a letter before `v` until 2046. */
const shapeName = `v${String(documentShape).padStart(3, '0')}`;
export const firstBuildName = `${shapeName}-`;
/** Sorts by time. With nothing `random`, those of builds that began before come before it. */
export const buildName = (startedAt: number, random = ''): string =>
  `${firstBuildName}${startedAt.toString(36)}-${random}`;
export const earlierBuildName = (startedAt: number): string => startedAt.toString(36);

export const versionId = ({ organization, domain, contentVersion }: SearchScope): string =>
  `searched/${shapeName}/${organization}/${domain}/${contentVersion}`;
export const earlierVersionId = ({ organization, domain, contentVersion }: SearchScope): string =>
  `version/${organization}/${domain}/${contentVersion}`;
export const passageId = (build: string, path: string, position: number): string =>
  `${build}/passage/${sha256Of(path)}/${position}`;
export const linkId = (build: string, path: string, position: number): string =>
  `${build}/link/${sha256Of(path)}/${position}`;
/** One for each passage; that of another model replaces it. */
export const vectorId = (build: string, path: string, position: number): string =>
  `${build}/vector/${sha256Of(path)}/${position}`;
export const vectorField = (dimensions: number): string => `vectors.d${dimensions}`;
export const pageId = (build: string, path: string): string => `${build}/page/${sha256Of(path)}`;
export const pagesId = (build: string, number: number): string => `${build}/pages/${number}`;
export const buildsId = ({ organization, domain }: SearchScope): string =>
  `builds/${shapeName}/${organization}/${domain}`;

const hiddenPages = new WeakMap<BaseOfBuild, ReadonlySet<string>>();

/** Paths of the base that are not searched, or that the build has itself. */
export const hiddenIn = (base: BaseOfBuild | undefined): string[] =>
  base === undefined ? [] : [...base.changed, ...base.gone];

/** The build that has the documents of a page, if there are some. `path`: as `filters` have it. */
export function buildWith({ build, base }: Pick<VersionDocument, 'build' | 'base'>, path: string): string {
  if (base === undefined) return build;
  const hidden = hiddenPages.get(base) ?? new Set(hiddenIn(base));
  hiddenPages.set(base, hidden);
  return hidden.has(path) ? build : base.build;
}

/** The name that readers and writers use. */
export const aliasOf = ({ prefix }: Pick<ElasticsearchSettings, 'prefix'>): string => `${prefix}-passages`;

const prepareWithinMs = 30_000;
const copyWithinMs = 3_600_000;

/**
 * Makes sure that the alias leads to an index with the mapping of this program. An index with an older mapping is closed for writing, copied and
 * replaced at once; searches go on meanwhile. Any number of processes may do this together.
 */
export async function prepareIndex(
  settings: ElasticsearchSettings,
  call: ElasticsearchCall,
  signal?: AbortSignal,
): Promise<void> {
  const alias = aliasOf(settings);
  const current = await indexOfAlias(alias, call, signal);
  const version = current === undefined ? 0 : (versionOf(alias, current) ?? 0);
  if (current !== undefined && version >= mappingVersion) {
    const isNewer = (name: string): boolean => (versionOf(alias, name) ?? 0) > version;
    return endUnfinishedCopy(alias, current, isNewer, call, signal);
  }
  const index = `${alias}-${mappingVersion}`;
  const isFirst = current === undefined;
  await createIndex(settings, index, isFirst ? alias : undefined, call, signal);
  if (isFirst) return;
  try {
    await replaceIndex(alias, current, index, call, signal);
  } catch (error) {
    // Another process has done it, or is doing it.
    if (refusalStatus(error) !== 404 || (await indexOfAlias(alias, call, signal)) !== index) throw error;
  }
}

/**
 * Makes sure that the index takes vectors of this length, or that they can be looked for. An index without vectors has nothing of them. They are compared one after the other (`int8_flat`):
 * a graph of all domains' vectors would cost memory and time to write, and a filter for one domain would leave it to such a comparison anyway.
 */
export async function prepareVectors(
  { call, alias }: { call: ElasticsearchCall; alias: string },
  dimensions: number | undefined,
  signal?: AbortSignal,
): Promise<void> {
  const vector = { type: 'dense_vector', dims: dimensions ?? 0, similarity: 'cosine', index: true } as const;
  const properties: Record<string, estypes.MappingProperty> = { model: keyword, digest: keyword };
  if (dimensions !== undefined) {
    const field = { ...vector, index_options: { type: 'int8_flat' as const } };
    properties['vectors'] = { properties: { [`d${dimensions}`]: field } };
  }
  await call(
    `prepare ${alias} for vectors`,
    prepareWithinMs,
    (client, deadline) => client.indices.putMapping({ index: alias, properties }, deadline),
    signal,
  );
}

/** The index that the alias leads to; undefined when there is none. */
async function indexOfAlias(alias: string, call: ElasticsearchCall, signal?: AbortSignal): Promise<string | undefined> {
  const found = await call(
    `say which index ${alias} is`,
    prepareWithinMs,
    (client, deadline) => client.indices.getAlias({ name: alias }, { ...deadline, ignore: [404] }),
    signal,
  );
  return Object.keys(found).find((name) => versionOf(alias, name) !== undefined);
}

/** Of the mapping that the index has; undefined for one that is not ours. */
function versionOf(alias: string, index: string): number | undefined {
  const suffix = index.startsWith(`${alias}-`) ? index.slice(alias.length + 1) : '';
  return /^\d{1,6}$/.test(suffix) ? Number(suffix) : undefined;
}

/** With the alias from its first moment, or without. No error when another process was faster. */
async function createIndex(
  { shards, replicas }: ElasticsearchSettings,
  index: string,
  alias: string | undefined,
  call: ElasticsearchCall,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await call(
      `create the index ${index}`,
      prepareWithinMs,
      (client, deadline) =>
        client.indices.create(
          {
            index,
            ...(alias === undefined ? {} : { aliases: { [alias]: {} } }),
            mappings: mapping,
            // A build is refreshed when it is complete. Until then nobody looks for it.
            settings: { number_of_shards: shards, number_of_replicas: replicas, refresh_interval: '30s' },
          },
          deadline,
        ),
      signal,
    );
  } catch (error) {
    if (!/resource_already_exists_exception/.test(String(error))) throw error;
    if (alias === undefined) return;
    const what = `name the index ${index} ${alias}`;
    await call(
      what,
      prepareWithinMs,
      (client, deadline) => client.indices.putAlias({ index, name: alias }, deadline),
      signal,
    );
  }
}

/**
 * Copies what there is and lets the alias lead to the copy. What was written to the copy since is newer and stays. The old index goes at the
 * same moment, so a process that is late finds none.
 */
async function replaceIndex(
  alias: string,
  from: string,
  to: string,
  call: ElasticsearchCall,
  signal?: AbortSignal,
): Promise<void> {
  const what = `copy the index ${from} to ${to}`;
  const dest = { index: to, op_type: 'create' as const };
  const copy = { source: { index: from }, dest, conflicts: 'proceed' as const, refresh: true };
  const actions = [{ add: { index: to, alias } }, { remove_index: { index: from } }];
  await call(
    what,
    prepareWithinMs,
    (client, deadline) => client.indices.addBlock({ index: from, block: 'write' }, deadline),
    signal,
  );
  const { mappings } = (
    await call(
      what,
      prepareWithinMs,
      (client, deadline) => client.indices.getMapping({ index: from }, deadline),
      signal,
    )
  )[from] ?? { mappings: {} };
  const { model, digest, vectors } = mappings.properties ?? {};
  if (model !== undefined && digest !== undefined && vectors !== undefined) {
    const properties = { model, digest, vectors };
    await call(
      what,
      prepareWithinMs,
      (client, deadline) => client.indices.putMapping({ index: to, properties }, deadline),
      signal,
    );
  }
  const copied = await call(
    what,
    copyWithinMs,
    (client, deadline) => client.reindex(copy, { ...deadline, maxRetries: 0 }),
    signal,
  );
  if (copied.failures?.length)
    throw new SearchUnavailable(`Elasticsearch did not ${what}: some documents were refused.`);
  await call(what, prepareWithinMs, (client, deadline) => client.indices.updateAliases({ actions }, deadline), signal);
}
