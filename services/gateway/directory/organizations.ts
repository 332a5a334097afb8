import { LRUCache } from 'lru-cache';
import type { DirectoryState } from '#shared/aggregates/directory/directory.ts';
import { organizationKey } from '#shared/interfaces/read-models.ts';
import type { ReadModels } from '#shared/messaging/read-models.ts';
import { askBus } from '../ask-bus.ts';

/** Plans and domains of organizations for requests that come without an API key, cached for a second, as those of API keys are. */
export type Organizations = {
  /** Undefined if the organization does not exist. */
  find(organization: string): Promise<DirectoryState | undefined>;
};

const keptMs = 1_000;
const mostKept = 1_000;

export function cachedOrganizations(stored: Pick<ReadModels['directoryOrganizations'], 'get'>): Organizations {
  const kept = new LRUCache<string, Promise<DirectoryState | undefined>>({ max: mostKept, ttl: keptMs });
  return {
    async find(organization) {
      const known = kept.get(organization);
      if (known !== undefined) return await askBus(known);
      const reading = stored.get(organizationKey(organization)).then((found) => found?.document.state);
      kept.set(organization, reading);
      reading.catch(() => kept.delete(organization));
      return await askBus(reading);
    },
  };
}
