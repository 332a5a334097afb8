import type { ApiKey, DirectoryEvent, DirectoryState } from '#shared/contracts/directory-events.ts';

/** An organization after one more event. Pure: `time` is the commit's. Throws when the organization does not exist yet. */
export function evolveDirectory(
  state: DirectoryState | undefined,
  event: DirectoryEvent,
  time: string,
): DirectoryState {
  if (event.type === 'OrganizationCreated') {
    const { organization, name, plan } = event.data;
    return { organization, name, plan, createdAt: time, domains: [], keys: [] };
  }
  if (state === undefined) throw new Error(`${event.type} of ${event.data.organization} comes before its creation`);
  switch (event.type) {
    case 'OrganizationChanged':
      return { ...state, name: event.data.name, plan: event.data.plan };
    case 'DomainAdded':
      return { ...state, domains: [...state.domains, event.data.domain] };
    case 'ApiKeyCreated':
      return { ...state, keys: [...state.keys, event.data.key] };
    case 'ApiKeyRotated': {
      const { oldKeyId, oldExpiresAt, key } = event.data;
      return { ...state, keys: [...changeKey(state.keys, oldKeyId, { expiresAt: oldExpiresAt }), key] };
    }
    case 'ApiKeyRevoked':
      return { ...state, keys: changeKey(state.keys, event.data.keyId, { revokedAt: time }) };
    default:
      return event satisfies never;
  }
}

function changeKey(keys: readonly ApiKey[], id: string, change: Partial<ApiKey>): ApiKey[] {
  return keys.map((key) => (key.id === id ? { ...key, ...change } : key));
}
