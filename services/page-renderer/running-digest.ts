import { createHash, type Hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { sha256Of } from '#shared/runtime/canonical-json.ts';

/** States of unfinished digests by the names of everything that was digested. */
export type DigestStates = Pick<LRUCache<string, Hash>, 'get' | 'set'>;

/** Number of states in memory. Each takes less than a kilobyte; a site of 25,000 pages has some hundreds. */
const mostStates = 4_096;

export const digestStates = (): DigestStates => new LRUCache<string, Hash>({ max: mostStates });

/** Size limit of bytes that are named by their own digest. */
const mostNamedBytes = 4_096;
/** Number of named texts between two stored states. */
const textsBetweenStates = 16;

/**
 * SHA-256 of a file with a few bytes and many texts. Most texts are also those of an earlier file. A text has a name, which stands for its
 * bytes. The state of the digest is remembered at some places, so that the texts before such a place need not be read again. Without `states`, all
 * texts are read.
 */
export function runningDigest(states: DigestStates | undefined) {
  let digest = createHash('sha256');
  /** Name of everything that was digested; undefined if a part of it has no name. */
  let chain: string | undefined = states && '';
  let sinceState = 0;
  const after = (before: string, name: string): string => sha256Of(`${before} ${name}`);
  const remember = (): void => {
    sinceState = 0;
    if (chain !== undefined) states?.set(chain, digest.copy());
  };
  return {
    add(bytes: Uint8Array): void {
      digest.update(bytes);
      const isNamed = chain !== undefined && bytes.length <= mostNamedBytes;
      chain = isNamed ? after(chain ?? '', `bytes ${sha256Of(bytes)}`) : undefined;
    },
    /** Digests the first of these texts, as many as are known from an earlier file, and returns their number. */
    addKnown(names: readonly string[]): number {
      let known = 0;
      let name = chain;
      for (const [at, next] of names.entries()) {
        if (name === undefined) break;
        name = after(name, next);
        const state = states?.get(name);
        if (state === undefined) continue;
        [known, chain, digest] = [at + 1, name, state.copy()];
      }
      return known;
    },
    addText(name: string, raw: Uint8Array): void {
      digest.update(raw);
      if (chain !== undefined) chain = after(chain, name);
      sinceState += 1;
      if (sinceState === textsBetweenStates) remember();
    },
    /** Remembers the state at the end of the texts of a file. */
    remember,
    hex: (): string => digest.digest('hex'),
  };
}
