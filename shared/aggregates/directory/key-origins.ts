import type { ApiKey, DirectoryCommit, DirectoryState } from './directory.ts';

/**
 * Where keys come from, folded from the log of an organization: each commit names the key whose holder asked for it. No event says it and no
 * state has it, so it is known of the oldest keys, too, and whichever version of the program wrote in between.
 */
export type KeyOrigins = ReadonlyMap<string, KeyOrigin>;

/**
 * `madeBy`: the key that made it, by creation or by rotation, and so knew its secret; undefined for one from the operator. `beganAt`: when its
 * life began, which for a rotated key that kept its end is that of the first. `expiresAt`: its end, as far as the fold has got.
 */
export type KeyOrigin = { madeBy: string | undefined; beganAt: string; expiresAt: string | undefined };

/** Adds what one commit says; commits come in their order. */
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

/** The keys that a key made, those that they made, and so on, that are still good at a time. Pure. */
export function goodDescendants(state: DirectoryState, keyId: string, origins: KeyOrigins, time: string): ApiKey[] {
  const family = new Set([keyId]);
  // No key is made before its maker, and the map has them in the order in which they were made.
  for (const [id, { madeBy }] of origins) if (madeBy !== undefined && family.has(madeBy)) family.add(id);
  const isGood = ({ revokedAt, expiresAt }: ApiKey) =>
    revokedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > Date.parse(time));
  return state.keys.filter((key) => key.id !== keyId && family.has(key.id) && isGood(key));
}
