import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { SearchUnavailable } from '../search-index.ts';

/** Number of nearest passages whose meaning counts. Passages farther away do not get this signal. */
export const mostNeighbours = 200;
/** Limit of passages without a word of the question that become candidates. */
const mostOnlyByMeaning = 50;
/** Minimum similarity of such passages, because some passage is always the nearest. */
const leastMeaning = 0.2;
/** Number of vectors from which the typical cosine is measured: the first by their digests, which is practically a random sample. */
export const mostSampled = 500;

/** Facts about a version's vectors: their model, their length, and the mean cosine between its passages. */
export type VectorFacts = { model: string; dimensions: number; typicalCosine: number };

/** The text of a passage that is embedded. It is never shown. */
export const embeddedText = ({ title, heading, text }: { title: string; heading: string; text: string }): string =>
  [title, heading, text].filter((part) => part !== '').join('\n');

/** Identifies the vector of a text. */
export const vectorDigest = (model: string, text: string): string => sha256Of(`${model}\n${text}`);

/**
 * Similarity of a passage to the question, 0–1: its cosine above the mean of any two passages of the site, as a share of the possible
 * range. Cosines of unrelated texts are near 0 in one model and near 0.7 in another ("anisotropy", Ethayarajh 2019,
 * https://aclanthology.org/D19-1006), and those of a site about one subject are higher still. Pure.
 */
export function meaningOf(cosine: number, typicalCosine: number): number {
  return typicalCosine >= 1 ? 0 : Math.min(1, Math.max(0, (cosine - typicalCosine) / (1 - typicalCosine)));
}

export type Neighbours<Id> = ReadonlyMap<Id, number>;

/** The nearest passages that become candidates although they are not found by their words, the nearest first. Pure. */
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

/** @throws SearchUnavailable when vectors have different lengths, which means that they come from different models */
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
