import { setTimeout } from 'node:timers/promises';
import { Poison } from '#shared/runtime/failures.ts';
import type { DocumentStore, ReadDocument, ReadModels } from '#shared/messaging/read-models.ts';
import { sha256OfJson } from '#shared/runtime/canonical-json.ts';

export type Comparison = {
  /** Number of documents in either generation. */
  documentCount: number;
  /** Documents that differ: `<store>/<key>`. */
  different: string[];
};

const pauseMs = 50;
const patienceMs = 2_000;

/** Limit of differences that are compared again; with more, the generations have little in common. */
const mostSuspects = 10_000;

/**
 * Compares two generations document by document, in the memory of one page of documents. Both may be written meanwhile: documents that differ are
 * read again for up to two seconds, until the generation that lags has caught up.
 */
export async function compareReadModels(
  one: ReadModels,
  other: ReadModels,
  names: readonly (keyof ReadModels)[],
  signal: AbortSignal,
): Promise<Comparison> {
  const comparison: Comparison = { documentCount: 0, different: [] };
  for (const name of names) {
    const seen = await compareStores(one[name], other[name], signal);
    comparison.documentCount += seen.documentCount;
    let suspects = [...seen.suspects];
    for (const end = performance.now() + patienceMs; suspects.length > 0; ) {
      suspects = await stillDifferent(one[name], other[name], suspects);
      if (performance.now() > end) break;
      if (suspects.length > 0) await setTimeout(pauseMs, undefined, { signal });
    }
    comparison.different.push(...suspects.map((key) => `${name}/${key}`));
  }
  return comparison;
}

type Pages = Pick<DocumentStore<unknown>, 'pages' | 'getMany'>;

/** The number of documents, and the keys of those that differed when they were read: first all of one store, then those only in the other. */
export async function compareStores(
  one: Pages,
  other: Pages,
  signal: AbortSignal,
): Promise<{ documentCount: number; suspects: Set<string> }> {
  const suspects = new Set<string>();
  let documentCount = 0;
  const suspect = (key: string) => suspects.size < mostSuspects && suspects.add(key);
  for await (const page of one.pages()) {
    signal.throwIfAborted();
    const found = await other.getMany(page.map(({ key }) => key));
    const there = new Map(found.map((document) => [document.key, digestOf(document)]));
    documentCount += page.length;
    for (const document of page) if (there.get(document.key) !== digestOf(document)) suspect(document.key);
  }
  for await (const page of other.pages()) {
    signal.throwIfAborted();
    const known = new Set((await one.getMany(page.map(({ key }) => key))).map(({ key }) => key));
    for (const { key } of page) {
      if (known.has(key)) continue;
      documentCount += 1;
      suspect(key);
    }
  }
  return { documentCount, suspects };
}

const digestOf = (read: ReadDocument<unknown>): string =>
  'problem' in read ? read.problem : sha256OfJson(read.document);

async function stillDifferent(
  one: DocumentStore<unknown>,
  other: DocumentStore<unknown>,
  keys: string[],
): Promise<string[]> {
  const different: string[] = [];
  for (const key of keys) {
    const [left, right] = await Promise.all([digest(one, key), digest(other, key)]);
    if (left !== right) different.push(key);
  }
  return different;
}

async function digest(store: DocumentStore<unknown>, key: string): Promise<string> {
  try {
    const stored = await store.get(key, { fromLeader: true });
    return sha256OfJson(stored?.document ?? null);
  } catch (error) {
    if (!(error instanceof Poison)) throw error;
    return error.message;
  }
}
