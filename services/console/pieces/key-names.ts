import { z } from 'zod';
import type { Visit } from '../page.ts';

/** An organization may have thousands of keys, so only their names are read. */
const keyNamesSchema = z.object({ apiKeys: z.array(z.object({ id: z.string(), name: z.string() })) });

/** Names of the listed keys by id; a key without a name has its id. */
export async function keyNames({ ask }: Pick<Visit<unknown, unknown>, 'ask'>): Promise<Map<string, string>> {
  const { apiKeys } = await ask({ path: '/v1/api-keys' }, keyNamesSchema);
  return new Map(apiKeys.map((key) => [key.id, key.name === '' ? key.id : key.name]));
}
