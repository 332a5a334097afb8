import { z } from 'zod';
import { type Aggregate, commitSchema, type EventMetadata } from '#shared/contracts/commit.ts';
import { storedCommit } from '#shared/contracts/upcast.ts';
import {
  domainSlug,
  hostName,
  organizationId,
  organizationPlans,
  sha256Hex,
  timestamp,
} from '#shared/contracts/identifiers.ts';

/** What can happen to an organization, its domains and its API keys (`directory.<org>.log`). Keys are known by their SHA-256 only. */
const event = <T extends string, D extends z.ZodRawShape>(type: T, data: D) =>
  z.object({ type: z.literal(type), version: z.literal(1), data: z.object({ organization: organizationId, ...data }) });

export const groupTrusts = ['claimed', 'signed'] as const;

export const apiKeySchema = z.object({
  id: z.string().regex(/^key_[0-9A-Za-z]{16}$/),
  kind: z.enum(['admin', 'assistant']),
  name: z.string().max(100),
  sha256: sha256Hex,
  scopes: z.array(z.enum(['read', 'write'])),
  allowedAddresses: z.array(z.string()),
  allowedOrigins: z.array(z.string()),
  createdAt: timestamp,
  expiresAt: timestamp.optional(),
  revokedAt: timestamp.optional(),
});

export type ApiKey = z.infer<typeof apiKeySchema>;

export const domainEntrySchema = z.object({ slug: domainSlug, hosts: z.array(hostName), groups: z.enum(groupTrusts) });

export type DomainEntry = z.infer<typeof domainEntrySchema>;

export const directoryEventSchema = z.discriminatedUnion('type', [
  event('OrganizationCreated', { name: z.string(), plan: z.enum(organizationPlans) }),
  event('OrganizationChanged', { name: z.string(), plan: z.enum(organizationPlans) }),
  event('DomainAdded', { domain: domainEntrySchema }),
  event('ApiKeyCreated', { key: apiKeySchema }),
  /** The old key goes on until `oldExpiresAt`. */
  event('ApiKeyRotated', { oldKeyId: z.string(), oldExpiresAt: timestamp, key: apiKeySchema }),
  event('ApiKeyRevoked', { keyId: z.string() }),
]);

export type DirectoryEvent = z.infer<typeof directoryEventSchema>;

export const directoryStateSchema = z.object({
  organization: organizationId,
  name: z.string(),
  plan: z.enum(organizationPlans),
  createdAt: timestamp,
  domains: z.array(domainEntrySchema),
  keys: z.array(apiKeySchema),
});

export type DirectoryState = z.infer<typeof directoryStateSchema>;

export const directoryCommitSchema = commitSchema(directoryEventSchema, directoryStateSchema);

export type DirectoryCommit = z.infer<typeof directoryCommitSchema>;

/** One organization with its domains and API keys. */
export const directoryAggregate: Aggregate<DirectoryEvent, DirectoryState> = {
  commitIdPrefix: 'dc',
  storedCommit: storedCommit(directoryCommitSchema, {}),
  evolve,
};

/** Throws when the organization does not exist yet. */
function evolve(state: DirectoryState | undefined, event: DirectoryEvent, { time }: EventMetadata): DirectoryState {
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
