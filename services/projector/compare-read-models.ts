import { setTimeout } from 'node:timers/promises';
import { Poison } from '#shared/runtime/failures.ts';
import type { DocumentStore, ReadModels } from '#shared/messaging/read-models.ts';
import { sha256OfJson } from '#shared/runtime/canonical-json.ts';

export type Comparison = {
  /** Documents that are in either. */
  documentCount: number;
  /** Those that are not the same in both: `<store>/<key>`. */
  different: string[];
};

const pauseMs = 50;
const patienceMs = 2_000;

/**
 * Compares two generations document by document. Both may be written meanwhile: documents that differ are read again for up to two
 * seconds, until the one that is behind has caught up.
 */
export async function compareReadModels(
  one: ReadModels,
  other: ReadModels,
  names: readonly (keyof ReadModels)[],
  signal: AbortSignal,
): Promise<Comparison> {
  const comparison: Comparison = { documentCount: 0, different: [] };
  for (const name of names) {
    const [left, right] = await Promise.all([digests(one[name], signal), digests(other[name], signal)]);
    const keys = new Set([...left.keys(), ...right.keys()]);
    comparison.documentCount += keys.size;
    let suspects = [...keys].filter((key) => left.get(key) !== right.get(key));
    for (const end = performance.now() + patienceMs; suspects.length > 0; ) {
      suspects = await stillDifferent(one[name], other[name], suspects);
      if (performance.now() > end) break;
      if (suspects.length > 0) await setTimeout(pauseMs, undefined, { signal });
    }
    comparison.different.push(...suspects.map((key) => `${name}/${key}`));
  }
  return comparison;
}

/** Digest of each document by key, in one read of the whole store. */
async function digests(store: DocumentStore<unknown>, signal: AbortSignal): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const change of store.watch('>', signal)) {
    if (change.kind === 'caught-up') return found;
    if (change.kind === 'put') found.set(change.key, sha256OfJson(change.document));
    else if (change.kind === 'unreadable') found.set(change.key, change.problem);
    else found.delete(change.key);
  }
  signal.throwIfAborted();
  throw new Error('A read model could not be read to its end.');
}

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
