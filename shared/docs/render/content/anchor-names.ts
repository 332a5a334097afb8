import { decoded } from '#shared/docs/project/url-policy.ts';

/** Letters and digits of an anchor, which all sluggers keep: `What's new?`, `what-s-new` and `whats_new` have the same key. */
const anchorKey = (anchor: string): string =>
  anchor
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '');

/** Joins repeated hyphens as other sluggers do: `param-max-time` for an option `--max-time`. */
const withSingleHyphens = (anchor: string): string => anchor.replace(/-{2,}/g, '-');

/**
 * Prefixes that ids have elsewhere: `h-` in earlier bundles, for headings such as "Links"; `param-` on other sites, for a field of any kind; `id-` of
 * another slugger, for headings that begin with a digit.
 */
const otherPrefix = /^(?:h|param|id)-(?=.)/;

/**
 * Resolves anchors of links to the ids of one page. Authors and other sites write anchors of other sluggers, and ids that pages had earlier. The
 * page's script resolves the address of a reader in the same way, in `site/scripts/site/anchor-names.js`.
 */
export class AnchorNames {
  readonly #ids: ReadonlySet<string>;
  #byKey: ReadonlyMap<string, string | undefined> | undefined;
  #hyphenated: ReadonlyMap<string, string | undefined> | undefined;
  #pairs: ReadonlyMap<string, ReadonlySet<string>> | undefined;

  constructor(ids: ReadonlySet<string>) {
    this.#ids = ids;
  }

  /**
   * The id for an anchor without its `#`: the same id, or the only one with the same letters and digits. If several ids have them, it is the one that
   * differs only in repeated hyphens.
   */
  find(anchor: string): string | undefined {
    const name = decoded(anchor);
    if (this.#ids.has(name)) return name;
    if (this.#ids.has(anchor)) return anchor;
    return this.#only(name) ?? (otherPrefix.test(name) ? this.#plain(name.replace(otherPrefix, '')) : undefined);
  }

  /** The id that is most similar to an anchor; undefined if none is similar enough, or if the page has too many to compare. */
  nearest(anchor: string): string | undefined {
    if (this.#ids.size > mostCompared) return undefined;
    this.#pairs ??= new Map(Array.from(this.#ids, (id) => [id, pairsOf(id)]));
    const wanted = pairsOf(decoded(anchor));
    let found: string | undefined;
    let most = leastLikeness;
    for (const [id, pairs] of this.#pairs) {
      const likeness = likenessOf(wanted, pairs);
      if (likeness <= most) continue;
      most = likeness;
      found = id;
    }
    return found;
  }

  /**
   * The id that an anchor most certainly means: the only one that differs in a few letters and in no digit, while all others differ in more.
   * Undefined if there is none, or if the page has too many ids to compare.
   */
  meant(anchor: string): string | undefined {
    if (this.#ids.size > mostCompared) return undefined;
    const wanted = anchorKey(decoded(anchor).slice(0, 200));
    const most = Math.min(mostSlips, Math.floor(wanted.length / lettersPerSlip));
    const within = (limit: number): string[] =>
      [...this.#ids].filter((id) => {
        const key = anchorKey(id);
        return digitsOf(key) === digitsOf(wanted) && editsWithin(wanted, key, limit);
      });
    const [only, ...others] = most < 1 ? [] : within(most + 1);
    return only !== undefined && others.length === 0 && editsWithin(wanted, anchorKey(only), most) ? only : undefined;
  }

  #plain(name: string): string | undefined {
    return this.#ids.has(name) ? name : this.#only(name);
  }

  #only(name: string): string | undefined {
    const key = anchorKey(name);
    if (key === '') return undefined;
    const byKey = (this.#byKey ??= onlyByKey(this.#ids));
    if (byKey.get(key) !== undefined || !byKey.has(key)) return byKey.get(key);
    return (this.#hyphenated ??= onlyBy(this.#ids, withSingleHyphens)).get(withSingleHyphens(name));
  }
}

/** Keys, each with the only id that has it; undefined if several ids have it. */
function onlyBy(ids: ReadonlySet<string>, keyOf: (id: string) => string): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  for (const id of ids) {
    const key = keyOf(id);
    found.set(key, found.has(key) ? undefined : id);
  }
  return found;
}

function onlyByKey(ids: ReadonlySet<string>): Map<string, string | undefined> {
  const found = onlyBy(ids, anchorKey);
  for (const [key, id] of fieldsOfAnswers(ids)) if (!found.has(key)) found.set(key, id);
  return found;
}

/**
 * Ids of response fields by their names without the status. Other sites use these names for the first status: `response-created-at` for
 * `response-200-createdAt`.
 */
function fieldsOfAnswers(ids: ReadonlySet<string>): Map<string, string> {
  const found = new Map<string, string>();
  for (const id of ids) {
    const field = fieldOfAnswer.exec(id)?.[1];
    const key = field === undefined ? '' : anchorKey(`response${field}`);
    if (key !== '' && !found.has(key)) found.set(key, id);
  }
  return found;
}

const fieldOfAnswer = /^response-2\d\d-(.+)$/;

/** One letter in this many may be wrong in an anchor that still means an id for certain. */
const lettersPerSlip = 6;
const mostSlips = 2;

const digitsOf = (key: string): string => key.replace(/\P{N}+/gu, ' ').trim();

/** True if one text becomes the other by at most `most` insertions, deletions and replacements of a character. */
function editsWithin(one: string, other: string, most: number): boolean {
  if (Math.abs(one.length - other.length) > most) return false;
  let before = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let at = 1; at <= other.length; at += 1) {
      const replaced = (before[at - 1] ?? 0) + (one[row - 1] === other[at - 1] ? 0 : 1);
      next.push(Math.min(replaced, (before[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    if (Math.min(...next) > most) return false;
    before = next;
  }
  return (before[other.length] ?? 0) <= most;
}

const mostCompared = 500;
/** Least similarity of two names: twice the number of their shared letter pairs, divided by the number of pairs of both. */
const leastLikeness = 0.5;

function pairsOf(name: string): Set<string> {
  const key = anchorKey(name.slice(0, 200));
  const pairs = new Set<string>();
  for (let at = 0; at < key.length - 1; at += 1) pairs.add(key.slice(at, at + 2));
  return pairs;
}

function likenessOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of one) if (other.has(pair)) shared += 1;
  return (2 * shared) / Math.max(1, one.size + other.size);
}
