import type { estypes } from '@elastic/elasticsearch';
import { type ElasticsearchIndex, type ElasticsearchSettings, refusalStatus } from './elasticsearch-connection.ts';
import { endUnfinishedCopy } from './elasticsearch-unfinished-copy.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { VectorFacts } from '#shared/search/vectors/meaning.ts';
import { fields } from '#shared/search/ranking/rank-passages.ts';
import {
  SearchUnavailable,
  type SearchFacets,
  type SearchPage,
  type SearchScope,
} from '#shared/search/search-index.ts';

/*
 * One index holds all content versions of all organizations. Each document names its owner, and those of one domain are on one shard. Two
 * kinds of documents are changed: `searched` names the build of a content version that is searched, `builds` lists the builds of the domain
 * in use. The others belong to a build: `page`, `passage`, `link`, `vector`, and `pages`, which lists its pages. A link is filtered by the
 * page that contains it. Vectors are added later, one for each passage.
 *
 * A build that follows an earlier one has documents only for the changed pages. For all others it is searched together with its base, a
 * build with all pages of its time. So the cost of a publication depends on its changes.
 *
 * Programs of different shapes run at the same time during an upgrade or after a downgrade. Each has its own documents and leaves those of
 * the others: their ids and the names of builds begin with the shape. Programs before the ninth shape delete documents of builds that they
 * do not know to be needed, but only those with `startedAt` or a `contentVersion`, and of version documents only those of the kind
 * `version`. So this shape has no such documents.
 */

/** Version of the mapping below. A program with a higher version copies the index, see `prepareIndex`. */
export const mappingVersion = 2;

/**
 * Incremented when documents lack data that this program needs, or when the terms of `analyzeText` change. Builds of another shape are
 * rebuilt.
 */
export const documentShape = 9;
/** An earlier shape whose builds can be searched unchanged, until there is one of the current shape. */
export const searchedEarlierShape = 7;

const keyword = { type: 'keyword' } as const;
/** The terms come from `analyzeText`, separated by spaces, so Elasticsearch does not analyze them. */
const terms = { type: 'text', analyzer: 'whitespace', index_options: 'freqs' } as const;

const mapping: estypes.MappingTypeMapping = {
  // Fields that are not listed are stored and not searched: texts that are shown.
  dynamic: false,
  _routing: { required: true },
  properties: {
    kind: keyword,
    organization: keyword,
    domain: keyword,
    /** Set in documents that name the searched build. Documents of builds by programs before the eighth shape have it, too. */
    contentVersion: keyword,
    build: keyword,
    /** Programs before the ninth shape use this field. */
    startedAt: { type: 'date', format: 'epoch_millis' },
    filters: {
      properties: { path: keyword, language: keyword, version: keyword, tag: keyword, groups: keyword },
    },
    /** Position of a passage or a link in its page, or of a list of pages. */
    position: { type: 'integer' },
    terms: { properties: Object.fromEntries([...fields, 'link'].map((field) => [field, terms])) },
    /** Path of the page that a link leads to. */
    target: keyword,
  },
};

/** Names the searched build of a content version. `removing`: it is being removed, and nothing may be committed. */
export type VersionDocument = SearchScope & {
  /** `version` in documents of programs before the ninth shape. */
  kind: 'searched' | 'version';
  build: string;
  /** Absent if the build has all pages itself. */
  base?: BaseOfBuild;
  /** Number of pages, passages and links of build and base. */
  documentCount: number;
  shape: number;
  passageCount: number;
  averageLength: Record<(typeof fields)[number], number>;
  averagePageLength: number;
  /** Builds of earlier versions lack the values that are `open`. */
  facets: Omit<SearchFacets, 'open'> & Partial<SearchFacets>;
  /** Groups of the project; absent when there are none. They may have 1 MB, so they are read once for each build. */
  synonyms?: readonly (readonly string[])[];
  hasSynonyms?: boolean;
  /** `isComplete`: every passage that may have a vector has one. */
  vectorFacts?: VectorFacts & { isComplete: boolean };
  removing?: boolean;
};

/**
 * The build with the pages that this build does not have. `changed`: pages of the build itself; `gone`: pages of the base that no longer exist. Both
 * have paths in the form of `filters`.
 */
export type BaseOfBuild = { build: string; changed: string[]; gone: string[] };

/** The builds of a domain that are in use, so that their documents must not be deleted; see `elasticsearch-builds-in-use.ts`. */
export type BuildsDocument = Owner & {
  kind: 'builds';
  uses: BuildUse[];
  /** Builds that are no longer in use, whose documents are not all deleted yet. */
  left: string[];
  /** Builds that are deleted except for the vectors, which still have to be copied. */
  vectorsOf: string[];
  /** Time when programs of this shape began to index the domain, in milliseconds. */
  begun: number;
};
/** `since`: the time of the registration, in milliseconds. */
export type BuildUse = { contentVersion: string; build: string; base?: string | undefined; since: number };

/** Data about some pages of a build with which a later build can leave them in place. */
export type PagesDocument = OfBuild & { kind: 'pages'; position: number; pages: ListedPage[] };
/** `key`: digest of all sources of the page. `isOpen`: the page has no groups. */
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

/** The contribution of a page to its build. `lengths`: number of terms of all its passages, by field. */
export type PageSize = { passages: number; links: number; lengths: Record<(typeof fields)[number], number> };

export type PassageDocument = OfBuild & {
  kind: 'passage';
  filters: Filters;
  terms: Record<(typeof fields)[number], string>;
  position: number;
  /** Fields of its page for the ranking. */
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
  /** Number of the link in its page. */
  position: number;
  target: string;
  terms: { link: string };
};

export type VectorDocument = OfBuild & {
  kind: 'vector';
  /** `filters` and `position` are those of the passage. */
  filters: Filters;
  position: number;
  model: string;
  /** Digest of the model and the text. */
  digest: string;
  /** The vector under the key `d` and its length, because a field has one length. Absent for a text that the model refuses. */
  vectors?: Record<string, number[]>;
};

type Owner = Omit<SearchScope, 'contentVersion'>;
type OfBuild = Owner & { build: string };

type Filters = { path: string; language: string; version: string; tag?: string | undefined; groups: string[] };

/**
 * The filter values of a page. A page of all languages or versions has the value `everywhere`. Groups have a prefix, so that none is equal to
 * `everyone`.
 */
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
/** Filter value of a language or version. */
export const divisionKey = (name: string | undefined): string =>
  name === undefined ? everywhere : `division ${exact(name)}`;

export const everyone = 'everyone';
export const groupKey = (group: string): string => `group ${exact(group)}`;

const longestKeyword = 1_000;

/** The value as a keyword. Elasticsearch refuses keywords above 32 kB and unpaired surrogates, and authors may write either. */
export const exact = (value: string): string =>
  (value.length <= longestKeyword ? value : `${value.slice(0, longestKeyword)} ${sha256Of(value)}`).toWellFormed();

/** Keeps a domain's documents together, so that a search uses one shard. */
export const routingOf = ({ organization, domain }: SearchScope): string => `${organization}/${domain}`;

/**
 * Prefix of the names of builds, which sorts them by shape. Names from before the ninth shape sort first: they begin with the time, whose first
 * character is lower than `v` until 2046.
 */
const shapeName = `v${String(documentShape).padStart(3, '0')}`;
export const firstBuildName = `${shapeName}-`;
/** Name of a build; names sort by time. Without `random`, the names of all earlier builds sort before it. */
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
/** The id of a passage's vector, which is the same for all models, so a new model replaces it. */
export const vectorId = (build: string, path: string, position: number): string =>
  `${build}/vector/${sha256Of(path)}/${position}`;
export const vectorField = (dimensions: number): string => `vectors.d${dimensions}`;
export const pageId = (build: string, path: string): string => `${build}/page/${sha256Of(path)}`;
export const pagesId = (build: string, number: number): string => `${build}/pages/${number}`;
export const buildsId = ({ organization, domain }: SearchScope): string =>
  `builds/${shapeName}/${organization}/${domain}`;

const hiddenPages = new WeakMap<BaseOfBuild, ReadonlySet<string>>();

/** Paths of the base that are not searched, because they were removed or the build has them itself. */
export const hiddenIn = (base: BaseOfBuild | undefined): string[] =>
  base === undefined ? [] : [...base.changed, ...base.gone];

/** The build that has the documents of a page, if they exist. `path` has the form of `filters`. */
export function buildWith({ build, base }: Pick<VersionDocument, 'build' | 'base'>, path: string): string {
  if (base === undefined) return build;
  const hidden = hiddenPages.get(base) ?? new Set(hiddenIn(base));
  hiddenPages.set(base, hidden);
  return hidden.has(path) ? build : base.build;
}

const prepareWithinMs = 30_000;
const copyWithinMs = 3_600_000;

/**
 * Makes sure that the alias leads to an index with the mapping of this program. An index with an older mapping is closed for writing,
 * copied and replaced atomically; searches continue meanwhile. Several processes may do this at the same time.
 */
export async function prepareIndex(settings: ElasticsearchSettings, access: ElasticsearchIndex): Promise<void> {
  const { alias } = access;
  const current = await indexOfAlias(access);
  const version = current === undefined ? 0 : (versionOf(alias, current) ?? 0);
  if (current !== undefined && version >= mappingVersion) {
    const isNewer = (name: string): boolean => (versionOf(alias, name) ?? 0) > version;
    return endUnfinishedCopy(access, current, isNewer);
  }
  const index = `${alias}-${mappingVersion}`;
  const isFirst = current === undefined;
  await createIndex(settings, index, isFirst, access);
  if (isFirst) return;
  try {
    await replaceIndex(access, current, index);
  } catch (error) {
    // Another process has replaced the index, or is doing it.
    if (refusalStatus(error) !== 404 || (await indexOfAlias(access)) !== index) throw error;
  }
}

/**
 * Makes sure that the index accepts vectors of this length, and that they can be searched. An index without vectors has no such fields.
 * Vectors are compared one after the other (`int8_flat`): a graph of all domains' vectors would cost memory and time to write, and with a
 * filter for one domain the engine would compare one by one anyway.
 */
export async function prepareVectors(
  { call, alias }: ElasticsearchIndex,
  dimensions: number | undefined,
): Promise<void> {
  const vector = { type: 'dense_vector', dims: dimensions ?? 0, similarity: 'cosine', index: true } as const;
  const properties: Record<string, estypes.MappingProperty> = { model: keyword, digest: keyword };
  if (dimensions !== undefined) {
    const field = { ...vector, index_options: { type: 'int8_flat' as const } };
    properties['vectors'] = { properties: { [`d${dimensions}`]: field } };
  }
  await call(`prepare ${alias} for vectors`, prepareWithinMs, (client, deadline) =>
    client.indices.putMapping({ index: alias, properties }, deadline),
  );
}

/** The index that the alias leads to; undefined when there is none. */
async function indexOfAlias({ call, alias }: ElasticsearchIndex): Promise<string | undefined> {
  const found = await call(`say which index ${alias} is`, prepareWithinMs, (client, deadline) =>
    client.indices.getAlias({ name: alias }, { ...deadline, ignore: [404] }),
  );
  return Object.keys(found).find((name) => versionOf(alias, name) !== undefined);
}

/** Version of the mapping of the index; undefined for an index of another program. */
function versionOf(alias: string, index: string): number | undefined {
  const suffix = index.startsWith(`${alias}-`) ? index.slice(alias.length + 1) : '';
  return /^\d{1,6}$/.test(suffix) ? Number(suffix) : undefined;
}

/** Creates the index, with or without the alias. Succeeds also when another process was faster. */
async function createIndex(
  { shards, replicas }: ElasticsearchSettings,
  index: string,
  isNamed: boolean,
  { call, alias }: ElasticsearchIndex,
): Promise<void> {
  // A build is refreshed when it is complete. Until then it is not searched.
  const settings = { number_of_shards: shards, number_of_replicas: replicas, refresh_interval: '30s' };
  const aliases = isNamed ? { aliases: { [alias]: {} } } : {};
  try {
    await call(`create the index ${index}`, prepareWithinMs, (client, deadline) =>
      client.indices.create({ index, ...aliases, mappings: mapping, settings }, deadline),
    );
  } catch (error) {
    if (!/resource_already_exists_exception/.test(String(error))) throw error;
    if (!isNamed) return;
    await call(`name the index ${index} ${alias}`, prepareWithinMs, (client, deadline) =>
      client.indices.putAlias({ index, name: alias }, deadline),
    );
  }
}

/**
 * Copies all documents and lets the alias lead to the copy. Documents written to the copy meanwhile are newer and stay. The old index is
 * removed in the same step, so a late process finds none.
 */
async function replaceIndex({ call, alias }: ElasticsearchIndex, from: string, to: string): Promise<void> {
  const what = `copy the index ${from} to ${to}`;
  const dest = { index: to, op_type: 'create' as const };
  const copy = { source: { index: from }, dest, conflicts: 'proceed' as const, refresh: true };
  const actions = [{ add: { index: to, alias } }, { remove_index: { index: from } }];
  await call(what, prepareWithinMs, (client, deadline) =>
    client.indices.addBlock({ index: from, block: 'write' }, deadline),
  );
  const mappings = await call(what, prepareWithinMs, (client, deadline) =>
    client.indices.getMapping({ index: from }, deadline),
  );
  const { model, digest, vectors } = mappings[from]?.mappings.properties ?? {};
  if (model !== undefined && digest !== undefined && vectors !== undefined) {
    const properties = { model, digest, vectors };
    await call(what, prepareWithinMs, (client, deadline) =>
      client.indices.putMapping({ index: to, properties }, deadline),
    );
  }
  const copied = await call(what, copyWithinMs, (client, deadline) =>
    client.reindex(copy, { ...deadline, maxRetries: 0 }),
  );
  if (copied.failures?.length)
    throw new SearchUnavailable(`Elasticsearch did not ${what}: some documents were refused.`);
  await call(what, prepareWithinMs, (client, deadline) => client.indices.updateAliases({ actions }, deadline));
}
