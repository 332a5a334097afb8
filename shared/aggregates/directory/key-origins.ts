import type { ApiKey, DirectoryCommit, DirectoryState } from './directory.ts';

/**
 * The origins of keys, folded from the log of an organization. Every commit names the key of its request, so origins need no event or state of their
 * own, and are known for keys of any age and for commits of every version of the program.
 */
export type KeyOrigins = ReadonlyMap<string, KeyOrigin>;

/**
 * `madeBy`: the key that created or rotated it and so knew its secret; undefined for a key from the operator. `beganAt`: start of its life;
 * for a rotated key that kept its end, that of the first key. `expiresAt`: its end, as of the last folded commit.
 */
export type KeyOrigin = { madeBy: string | undefined; beganAt: string; expiresAt: string | undefined };

/** Adds the origins in one commit. Commits have to come in order. */
export function noteOrigins(
  origins: Map<string, KeyOrigin>,
  { actor, data }: Pick<DirectoryCommit, 'actor'> & { data: Pick<DirectoryCommit['data'], 'events'> },
): void {
  const madeBy = actor.kind === 'key' ? actor.id : undefined;
  for (const { type, data: event } of data.events) {
    if (type === 'ApiKeyCreated') {
      const { id, createdAt, expiresAt } = event.key;
      origins.set(id, { madeBy, beganAt: createdAt, expiresAt });
    } else if (type === 'ApiKeyRotated') {
      const { key, oldKeyId, oldExpiresAt } = event;
      const old = origins.get(oldKeyId);
      const beganAt = old !== undefined && old.expiresAt === key.expiresAt ? old.beganAt : key.createdAt;
      if (old !== undefined) origins.set(oldKeyId, { ...old, expiresAt: oldExpiresAt });
      origins.set(key.id, { madeBy, beganAt, expiresAt: key.expiresAt });
    }
  }
}

/** The keys that a key created, directly or through other keys, and that are valid at a time. Pure. */
export function goodDescendants(state: DirectoryState, keyId: string, origins: KeyOrigins, time: string): ApiKey[] {
  const family = new Set([keyId]);
  // A key is created after its maker, and the map keeps the order of creation.
  for (const [id, { madeBy }] of origins) if (madeBy !== undefined && family.has(madeBy)) family.add(id);
  const isGood = ({ revokedAt, expiresAt }: ApiKey) =>
    revokedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > Date.parse(time));
  return state.keys.filter((key) => key.id !== keyId && family.has(key.id) && isGood(key));
}
