import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { SearchUnavailable } from '../search-index.ts';

/** Passages that are looked at because of their meaning: the nearest ones. What is farther away has none of that signal. */
export const mostNeighbours = 200;
/** Of these, the ones without a word of the question that become candidates. */
const mostOnlyByMeaning = 50;
/** What they must have at least: anything is near to something. */
const leastMeaning = 0.2;
/** Vectors that the typical cosine is measured on: the first by their digests, which is as good as at random. */
export const mostSampled = 500;

/** Vectors of a version: of which model, how long, and the mean cosine between passages of it. */
export type VectorFacts = { model: string; dimensions: number; typicalCosine: number };

/** What is embedded of a passage. Nobody sees it. */
export const embeddedText = ({ title, heading, text }: { title: string; heading: string; text: string }): string =>
  [title, heading, text].filter((part) => part !== '').join('\n');

/** Names the vector of a text. */
export const vectorDigest = (model: string, text: string): string => sha256Of(`${model}\n${text}`);

/**
 * How near a passage is, 0–1: its cosine above that of any two passages of the site, as a share of what is possible. Cosines of unrelated texts are near 0 in
 * one model and near 0.7 in another ("anisotropy", Ethayarajh 2019, https://aclanthology.org/D19-1006), and those of a site about one matter are higher still. Pure.
 */
export function meaningOf(cosine: number, typicalCosine: number): number {
  return typicalCosine >= 1 ? 0 : Math.min(1, Math.max(0, (cosine - typicalCosine) / (1 - typicalCosine)));
}

export type Neighbours<Id> = ReadonlyMap<Id, number>;

/** Of the nearest passages, those that are candidates although nothing is known of their words. In their order, which is the nearest first. Pure. */
export function onlyByMeaning<Id>(neighbours: Neighbours<Id>, known: { has(id: Id): boolean }): Id[] {
  const ids: Id[] = [];
  for (const [id, meaning] of neighbours) {
    if (ids.length === mostOnlyByMeaning || meaning < leastMeaning) break;
    if (!known.has(id)) ids.push(id);
  }
  return ids;
}

/** The mean cosine between two of these vectors of length 1: |Σv|² has each pair twice, and each vector with itself. Pure. */
export function typicalCosineOf(vectors: readonly Float32Array[]): number {
  const count = vectors.length;
  if (count < 2) return 0;
  const sum = new Float64Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] ?? 0) + (vector[at] ?? 0);
  const square = sum.reduce((total, value) => total + value * value, 0);
  return Math.min(1, Math.max(0, (square - count) / (count * (count - 1))));
}

/** @throws SearchUnavailable when there is a vector of another length: the model is another one than it says */
export function checkLengths(
  vectors: Iterable<Float32Array | undefined>,
  dimensions: number | undefined,
): number | undefined {
  let length = dimensions;
  for (const vector of vectors) {
    if (vector === undefined) continue;
    length ??= vector.length;
    if (vector.length !== length) {
      throw new SearchUnavailable(
        `A vector has ${vector.length} numbers, and others of the same model have ${length}.`,
      );
    }
  }
  return length;
}
