import type { ApiKey } from '#shared/aggregates/directory/directory.ts';
import { type ListedApiKey, toShownApiKey } from '#shared/interfaces/http/directory.ts';
import type { KeyUses } from '../auth/key-uses.ts';

/** The keys of an organization without their hashes, with the time of their last use. */
export async function listedApiKeys(
  keyUses: KeyUses,
  organization: string,
  keys: readonly ApiKey[],
): Promise<ListedApiKey[]> {
  const uses = await keyUses.lastUses(
    organization,
    keys.map(({ id }) => id),
  );
  return keys.map((key) => {
    const lastUsedAt = uses.get(key.id);
    return { ...toShownApiKey(key), ...(lastUsedAt === undefined ? {} : { lastUsedAt }) };
  });
}
