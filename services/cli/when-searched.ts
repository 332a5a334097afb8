import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from './api-client.ts';

const deadlineMs = 60_000;

/** Resolves once the assistant searches this content version of the domain. */
export async function whenSearched(client: ApiClient, domain: string, contentVersion: string): Promise<void> {
  for (const deadline = performance.now() + deadlineMs; performance.now() < deadline; await delay(50)) {
    const contents = await client.json<{ searched?: string | null }>(`/v1/domains/${domain}/content`);
    if (contents.searched === contentVersion) return;
  }
  throw new Error(`${contentVersion} was not indexed within ${deadlineMs / 1000} s; the indexer's log says why.`);
}
