import type { ShardBytes } from './sorted-lines.ts';
import { readVersionList, type VersionList } from './version-list.ts';

/** A stored version is damaged: a list or file is lost or has other bytes. */
export class DamagedVersion extends Error {
  override name = 'DamagedVersion';
  readonly version: string;
  constructor(version: string, what: string) {
    super(`${what} of the stored version ${version} is lost or damaged`);
    this.version = version;
  }
}

type Version = { id: string; folder: string; content: string };

/**
 * Cache of the lists of versions, for all sites of a host. Lists share the shards that are the same. Above `mostBytes`, lists that were not used for the
 * longest time are evicted, except the last used one, and read again from disk when they are needed: once, however many readers wait for one.
 */
export function versionLists(mostBytes: number = Number.POSITIVE_INFINITY) {
  /** Lists in memory, in the order of their last use. */
  const kept = new Map<string, VersionList>();
  /** The shards of these lists, and the number of lists that have each. */
  const shards = new Map<string, { bytes: ShardBytes; lists: number }>();
  const reading = new Map<string, Promise<VersionList>>();
  let bytes = 0;
  let newest: string | undefined;
  let reads = 0;

  function keep({ id }: Pick<Version, 'id'>, list: VersionList): void {
    // The shards that the new list shares with the one before must stay.
    const before = kept.get(id);
    kept.delete(id);
    kept.set(id, list);
    newest = id;
    bytes += list.headBytes;
    for (const shard of list.shards) {
      const known = shards.get(shard.sha256);
      if (known === undefined) {
        const read = list.load(shard);
        shards.set(shard.sha256, { bytes: read, lists: 1 });
        bytes += memoryOf(read);
      } else known.lists += 1;
    }
    if (before !== undefined) release(before);
    for (const oldest of kept.keys()) {
      if (bytes <= mostBytes || oldest === id) break;
      forget({ id: oldest });
    }
  }

  function release(list: VersionList): void {
    bytes -= list.headBytes;
    for (const { sha256 } of list.shards) {
      const known = shards.get(sha256);
      if (known === undefined) continue;
      known.lists -= 1;
      if (known.lists > 0) continue;
      shards.delete(sha256);
      bytes -= memoryOf(known.bytes);
    }
  }

  function forget({ id }: Pick<Version, 'id'>): void {
    const list = kept.get(id);
    kept.delete(id);
    if (list !== undefined) release(list);
  }

  const shard = (sha256: string): ShardBytes | undefined => shards.get(sha256)?.bytes;

  async function read(version: Version): Promise<VersionList> {
    reads += 1;
    const list = await readVersionList(version.folder, version.content, shard);
    if (list === undefined) throw new DamagedVersion(version.id, 'the list');
    keep(version, list);
    return list;
  }

  return {
    keep,
    forget,
    /** A shard of the lists in memory. */
    shard,
    /** The list of a version, at once if it is in memory. Rejects with `DamagedVersion`, and as `readVersionList`. */
    of(version: Version): VersionList | Promise<VersionList> {
      const { id } = version;
      const list = kept.get(id);
      if (list !== undefined) {
        if (newest !== id) {
          kept.delete(id);
          kept.set(id, list);
          newest = id;
        }
        return list;
      }
      let found = reading.get(id);
      if (found === undefined) {
        found = read(version).finally(() => reading.delete(id));
        reading.set(id, found);
      }
      return found;
    },
    /** Numbers of lists and bytes in memory, and number of lists that were read from disk. */
    counts: () => ({ lists: kept.size, bytes, reads }),
  };
}

const memoryOf = ({ bytes, starts }: ShardBytes): number => bytes.length + starts.byteLength;

export type VersionLists = ReturnType<typeof versionLists>;
