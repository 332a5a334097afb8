import type { estypes } from '@elastic/elasticsearch';
import { storedVersion, storeVersion } from '#shared/search/elasticsearch/elasticsearch-build.ts';
import { releaseBuilds } from '#shared/search/elasticsearch/elasticsearch-builds-in-use.ts';
import type { ElasticsearchIndex } from '#shared/search/elasticsearch/elasticsearch-connection.ts';
import {
  bulkWriter,
  everyHit,
  refresh,
  searchDocuments,
} from '#shared/search/elasticsearch/elasticsearch-documents.ts';
import { buildFilter } from '#shared/search/elasticsearch/elasticsearch-candidates.ts';
import {
  buildWith,
  everyone,
  type PassageDocument,
  prepareVectors,
  type VectorDocument,
  vectorField,
  vectorId,
  type VersionDocument,
} from '#shared/search/elasticsearch/elasticsearch-schema.ts';
import { checkLengths, embeddedText, mostSampled, typicalCosineOf, vectorDigest } from './meaning.ts';
import { type SearchScope, SearchUnavailable, type VectorBuild } from '../search-index.ts';

const withinMs = 30_000;
const documentsAtOnce = 1_000;
/** A vector takes some 10 kB in an answer. */
const vectorsAtOnce = 200;

type Place = Pick<PassageDocument, 'filters' | 'position'>;

/**
 * Adds vectors to the passages of the searched build: each gets a document with the same filters. Texts with a vector in any build of the domain get
 * a copy of it at once. If this ends without a commit, a later start reuses the vectors that were written.
 */
export async function startElasticsearchVectors(
  index: ElasticsearchIndex,
  scope: SearchScope,
  model: string,
): Promise<VectorBuild | undefined> {
  const version = (await storedVersion(index, scope))?.document;
  if (version === undefined || version.removing) return undefined;
  const known = version.vectorFacts?.model === model ? version.vectorFacts : undefined;
  if (known?.isComplete) return undefined;
  await prepareVectors(index, known?.dimensions || undefined);
  await refresh(index);
  const engine = vectorStore(index, version, model);
  const bulk = bulkWriter(index, scope);
  let dimensions = known?.dimensions || undefined;

  const lacking = new Map<string, Place[]>();
  const missing = new Map<string, string>();
  const done = await engine.placesWithVector();
  for await (const { shown, filters, position } of engine.passages()) {
    if (filters.groups.join() !== everyone || done.has(placeOf({ filters, position }))) continue;
    const text = embeddedText(shown);
    const digest = vectorDigest(model, text);
    lacking.set(digest, [...(lacking.get(digest) ?? []), { filters, position }]);
    missing.set(digest, text);
  }

  async function add(vectors: ReadonlyMap<string, Float32Array | undefined>): Promise<void> {
    const before = dimensions;
    dimensions = checkLengths(vectors.values(), dimensions);
    if (before === undefined && dimensions !== undefined) await prepareVectors(index, dimensions);
    const { organization, domain } = version as VersionDocument;
    for (const [digest, vector] of vectors) {
      for (const place of lacking.get(digest) ?? []) {
        // The vector belongs to the build of its passage, so versions that share the passage share the vector, too.
        const build = buildWith(version as VersionDocument, place.filters.path);
        const document: VectorDocument = {
          ...{ organization, domain, build, kind: 'vector' },
          ...{ ...place, model, digest },
          ...(vector === undefined ? {} : { vectors: { [`d${vector.length}`]: rounded(vector) } }),
        };
        await bulk.add(vectorId(build, place.filters.path, place.position), document);
      }
      lacking.delete(digest);
      missing.delete(digest);
    }
    await bulk.flush();
  }

  for (let at = 0, digests = [...missing.keys()]; at < digests.length; at += vectorsAtOnce)
    await add(await engine.ofDomain(digests.slice(at, at + vectorsAtOnce)));

  return {
    missing,
    add,
    async commit() {
      await refresh(index);
      const typicalCosine = typicalCosineOf(dimensions === undefined ? [] : await engine.sample(dimensions));
      const now = await storedVersion(index, scope);
      if (now === undefined || now.document.build !== version.build)
        throw new SearchUnavailable('The version was replaced while vectors were added.');
      const vectorFacts = { model, dimensions: dimensions ?? 0, typicalCosine, isComplete: lacking.size === 0 };
      await storeVersion(index, scope, { ...now.document, vectorFacts }, now);
      // Vectors of the replaced builds have been copied.
      await releaseBuilds(index, scope, () => false, 'copied').catch(() => {});
    },
    close: async () => {},
  };
}

const placeOf = ({ filters, position }: Place): string => `${position} ${filters.path}`;

/** Seven digits, the precision of a 32-bit float. */
const rounded = (vector: Float32Array): number[] => Array.from(vector, (number) => Number(number.toPrecision(7)));

/** Reads the domain's vectors and passages. */
function vectorStore(index: ElasticsearchIndex, version: VersionDocument, model: string) {
  const { organization, domain } = version;
  const own = [...buildFilter(version, 'vector'), { term: { model } }];

  const search = async <T>(request: estypes.SearchRequest): Promise<estypes.SearchHit<T>[]> =>
    (await searchDocuments<T>(index, version, 'read passages and vectors', withinMs, request)).hits.hits;

  /** All documents that match the filter, in the order of paths. */
  async function* all<T>(filter: estypes.QueryDslQueryContainer[], _source: string[]): AsyncGenerator<T> {
    const request = {
      ...{ size: documentsAtOnce, _source, query: { bool: { filter } } },
      sort: [{ 'filters.path': 'asc' as const }, { position: 'asc' as const }],
    };
    for await (const hit of everyHit<T>(index, version, 'read passages and vectors', withinMs, request))
      if (hit._source !== undefined) yield hit._source;
  }

  const vectorIn = ({ fields = {} }: estypes.SearchHit): [string, Float32Array | undefined][] => {
    const digest = fields['digest']?.[0] as string | undefined;
    const field = Object.keys(fields).find((name) => name.startsWith('vectors.'));
    const numbers = field === undefined ? undefined : (fields[field] as number[]);
    return digest === undefined ? [] : [[digest, numbers && Float32Array.from(numbers)]];
  };

  return {
    passages: () =>
      all<PassageDocument>(buildFilter(version, 'passage'), [
        ...['filters', 'position', 'shown.title', 'shown.heading', 'shown.text'],
      ]),
    async placesWithVector(): Promise<Set<string>> {
      const places = new Set<string>();
      for await (const place of all<Place>(own, ['filters.path', 'position'])) places.add(placeOf(place));
      return places;
    },
    /** Vectors of these texts, from any build of the domain; undefined for those that the model refuses. */
    async ofDomain(digests: readonly string[]): Promise<Map<string, Float32Array | undefined>> {
      const filter = [
        ...[{ term: { organization } }, { term: { domain } }, { term: { kind: 'vector' } }, { term: { model } }],
        { terms: { digest: [...digests] } },
      ];
      const hits = await search({
        ...{ size: vectorsAtOnce, _source: false, query: { bool: { filter } }, collapse: { field: 'digest' } },
        fields: ['digest', 'vectors.*'],
      });
      return new Map(hits.flatMap(vectorIn));
    },
    /** A sample of the build's vectors: the first by their digests, which is practically random. */
    async sample(dimensions: number): Promise<Float32Array[]> {
      const field = vectorField(dimensions);
      const vectors: Float32Array[] = [];
      for (let from = 0; from < mostSampled; from += vectorsAtOnce) {
        const hits = await search({
          ...{ from, size: Math.min(vectorsAtOnce, mostSampled - from), _source: false, sort: [{ digest: 'asc' }] },
          ...{ query: { bool: { filter: [...own, { exists: { field } }] } }, collapse: { field: 'digest' } },
          fields: ['digest', field],
        });
        vectors.push(...hits.flatMap(vectorIn).flatMap(([, vector]) => vector ?? []));
        if (hits.length < vectorsAtOnce) break;
      }
      return vectors;
    },
  };
}
