import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { sha256Hex } from '#shared/contracts/identifiers.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { BundleRefused } from './bundle-refused.ts';
import { contentFile, type NewContent } from './content-folder.ts';
import { readWhole } from './read-whole.ts';

/*
 * Sorted lines, each a name, a tab and JSON, in shards of consecutive lines. A shard is a file of the site's content under its SHA-256, so a new version
 * shares all shards of the version before that did not change, and neither reads nor writes them. In memory a shard is its bytes, and a line is parsed
 * when it is looked up, so lines take as much memory as their files.
 */

/** A shard as the head of a version names it. `first`: the name of its first line. */
export const shardSchema = z.object({
  first: z.string(),
  lines: z.int().min(1),
  size: z.int().min(1),
  sha256: sha256Hex,
  /** True if some of its files are to get compressed copies. */
  lacksCopies: z.literal(true).optional(),
});

export type Shard = z.infer<typeof shardSchema>;

/** The bytes of a shard, with the offset of each line. */
export type ShardBytes = { bytes: Buffer; starts: Uint32Array };

/** A line: `bytes` is the line with its end, `value` its JSON. */
export type Line = { name: string; bytes: Buffer; value: Buffer };

/** A shard is lost, or has other bytes than its digest says. */
export class DamagedShard extends Error {
  override name = 'DamagedShard';
}

const separator = '\t';
const lineEnd = 10;
/** Size of a shard, unless one of its lines is longer. A change of one line reads and writes that many bytes. */
const mostShardBytes = 64 * 1024;

/** A line with its end. Throws `BundleRefused` for a name that no line can have. */
export function lineOf(name: string, value: object): Buffer {
  if (/[\t\n]/.test(name)) throw new BundleRefused(`${JSON.stringify(name)} has a tab or a line break`);
  return Buffer.from(`${name}${separator}${JSON.stringify(value)}\n`);
}

const nameIn = (line: Buffer): string => line.toString('utf8', 0, line.indexOf(separator));

/** Reads a shard; undefined if it is damaged. Rejects with the error of the file system. */
export async function readShard(content: string, { size, sha256 }: Shard): Promise<ShardBytes | undefined> {
  const bytes = await readWhole(contentFile(content, sha256), size).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  return bytes?.length === size && sha256Of(bytes) === sha256 ? shardOf(bytes) : undefined;
}

/** Reads a shard synchronously. Throws `DamagedShard`, and the error of the file system. */
function readShardNow(content: string, { size, sha256 }: Shard): ShardBytes {
  const damaged = () => new DamagedShard(`the shard ${sha256} of a list is lost or damaged`);
  try {
    const bytes = readFileSync(contentFile(content, sha256));
    if (bytes.length !== size || sha256Of(bytes) !== sha256) throw damaged();
    return shardOf(bytes);
  } catch (error) {
    throw errorCode(error) === 'ENOENT' ? damaged() : error;
  }
}

export const shardOf = (bytes: Buffer): ShardBytes => ({ bytes, starts: startsOf(bytes) });

/** The offset of each line. */
function startsOf(lines: Buffer): Uint32Array {
  let starts = new Uint32Array(256);
  let count = 0;
  for (let at = 0; at < lines.length; at = lines.indexOf(lineEnd, at) + 1) {
    if (count === starts.length) {
      const longer = new Uint32Array(count * 2);
      longer.set(starts);
      starts = longer;
    }
    starts[count] = at;
    count += 1;
  }
  return starts.slice(0, count);
}

/** Lines in shards. */
export type SortedLines = {
  shards: readonly Shard[];
  load: (shard: Shard) => ShardBytes;
  /** Number of the shard that has, or would have, the name; -1 for one before all shards. */
  placeOf: (name: string) => number;
  /** The JSON of a name's line, found by binary search; undefined if there is none. */
  find(name: string): Buffer | undefined;
  /** All lines in their order. */
  each(): Iterable<Line>;
};

/** Lines in shards, which `load` returns. Looking up a line throws the error of `load`. */
export function sortedLines(shards: readonly Shard[], load: (shard: Shard) => ShardBytes): SortedLines {
  const firsts = shards.map(({ first }) => Buffer.from(first + separator));

  function placeOf(wanted: Buffer): number {
    let low = 0;
    let high = firsts.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (Buffer.compare(firsts[middle] ?? wanted, wanted) <= 0) low = middle + 1;
      else high = middle - 1;
    }
    return high;
  }

  return {
    shards,
    load,
    placeOf: (name) => placeOf(Buffer.from(name + separator)),
    find(name) {
      const wanted = Buffer.from(name + separator);
      const shard = shards[placeOf(wanted)];
      if (shard === undefined) return undefined;
      const { bytes, starts } = load(shard);
      let low = 0;
      let high = starts.length - 1;
      while (low <= high) {
        const middle = (low + high) >> 1;
        const start = starts[middle] ?? 0;
        const order = wanted.compare(bytes, start, Math.min(start + wanted.length, bytes.length));
        if (order === 0) return bytes.subarray(start + wanted.length, (starts[middle + 1] ?? bytes.length) - 1);
        if (order < 0) high = middle - 1;
        else low = middle + 1;
      }
      return undefined;
    },
    *each() {
      for (const shard of shards) yield* linesIn(load(shard));
    },
  };
}

/** The lines of a shard in their order. */
export function* linesIn({ bytes, starts }: ShardBytes): Generator<Line> {
  for (const [index, start] of starts.entries()) {
    const end = bytes.indexOf(separator, start);
    const next = starts[index + 1] ?? bytes.length;
    yield {
      name: bytes.toString('utf8', start, end),
      bytes: bytes.subarray(start, next),
      value: bytes.subarray(end + 1, next - 1),
    };
  }
}

/** Lines whose shards are read from a content when they are needed, once and synchronously. Looking up a line throws `DamagedShard`. */
export function storedLines(content: string, shards: readonly Shard[]): SortedLines {
  const read = new Map<string, ShardBytes>();
  return sortedLines(shards, (shard) => {
    const found = read.get(shard.sha256) ?? readShardNow(content, shard);
    read.set(shard.sha256, found);
    return found;
  });
}

/** Tells for a line whether its file is to get compressed copies. */
export type LacksCopies = (name: string, value: Buffer) => boolean;

/** Stores lines of different names in shards. */
export async function storeShards(
  content: NewContent,
  lines: readonly Buffer[],
  lacksCopies: LacksCopies = () => false,
): Promise<Shard[]> {
  const sorted = lines.toSorted((one, other) => one.compare(other));
  const shards: Shard[] = [];
  for (let from = 0; from < sorted.length; ) {
    let to = from;
    for (let size = 0; to < sorted.length; to += 1) {
      size += sorted[to]?.length ?? 0;
      if (to > from && size > mostShardBytes) break;
    }
    const bytes = Buffer.concat(sorted.slice(from, to));
    const lacks = [...linesIn(shardOf(bytes))].some(({ name, value }) => lacksCopies(name, value));
    shards.push({
      ...{ first: nameIn(bytes), lines: to - from, ...(await content.put(bytes)) },
      ...(lacks && { lacksCopies: true as const }),
    });
    from = to;
  }
  return shards;
}

/** Stores lines with some changes: a new line by its name, or undefined for a name that has none. Shards without changes stay, and are not read. */
export async function storeChanges(
  content: NewContent,
  { shards, load, placeOf }: Pick<SortedLines, 'shards' | 'load' | 'placeOf'>,
  changes: ReadonlyMap<string, Buffer | undefined>,
  lacksCopies?: LacksCopies,
): Promise<Shard[]> {
  const byPlace = Map.groupBy(changes, ([name]) => Math.max(0, placeOf(name)));
  const places = shards.length === 0 ? [0] : shards.keys();
  const found: Shard[] = [];
  for (const place of places) {
    const shard = shards[place];
    const changed = byPlace.get(place);
    if (changed === undefined) {
      if (shard !== undefined) found.push(shard);
      continue;
    }
    const kept = shard === undefined ? [] : [...linesIn(load(shard))].filter(({ name }) => !changes.has(name));
    const added = changed.flatMap(([, line]) => line ?? []);
    found.push(...(await storeShards(content, [...kept.map(({ bytes }) => bytes), ...added], lacksCopies)));
  }
  return found;
}
