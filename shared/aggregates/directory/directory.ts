import { z } from 'zod';
import { type Aggregate, commitSchema, type EventMetadata, eventSchema } from '#shared/contracts/commit.ts';
import { storedCommit } from '#shared/contracts/upcast.ts';
import {
  domainSlug,
  hostName,
  organizationId,
  organizationPlans,
  sha256Hex,
  timestamp,
} from '#shared/contracts/identifiers.ts';

/** The events of an organization, its domains and its API keys (`directory.<org>.log`). Keys are stored only as their SHA-256. */
const event = eventSchema({ organization: organizationId });

export const groupTrusts = ['claimed', 'signed'] as const;

/**
 * Permissions of a key. `proxy`: the key may name the reader of a request in a header, as a server between readers and the platform does. `export`: the
 * key opens the routes of exports, and no others without `read` or `write`.
 */
export const keyScopes = ['read', 'write', 'proxy', 'export'] as const;

export const apiKeySchema = z.object({
  id: z.string().regex(/^key_[0-9A-Za-z]{16}$/),
  kind: z.enum(['admin', 'assistant']),
  name: z.string().max(100),
  sha256: sha256Hex,
  scopes: z.array(z.enum(keyScopes)),
  allowedAddresses: z.array(z.string()),
  allowedOrigins: z.array(z.string()),
  createdAt: timestamp,
  expiresAt: timestamp.optional(),
  revokedAt: timestamp.optional(),
});

export type ApiKey = z.infer<typeof apiKeySchema>;

const base64url = (least: number, most: number) =>
  z.string().regex(new RegExp(`^[A-Za-z0-9_-]{${least},${most}}$`), 'must be base64url of the right length');

const publicKeyFields = {
  kid: z.string().min(1).max(200).optional(),
  use: z.literal('sig').optional(),
  key_ops: z.array(z.literal('verify')).optional(),
  ext: z.boolean().optional(),
};

/** A public key as a JWK. Other members are refused, so that no private part is ever stored. */
export const userTokenKeySchema = z.discriminatedUnion('kty', [
  z.strictObject({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: base64url(43, 43),
    alg: z.literal('EdDSA').optional(),
    ...publicKeyFields,
  }),
  z.strictObject({
    kty: z.literal('EC'),
    crv: z.literal('P-256'),
    x: base64url(43, 43),
    y: base64url(43, 43),
    alg: z.literal('ES256').optional(),
    ...publicKeyFields,
  }),
  z.strictObject({
    kty: z.literal('RSA'),
    // For keys of 2048 to 4096 bits.
    n: base64url(342, 683),
    e: base64url(1, 8),
    alg: z.literal('RS256').optional(),
    ...publicKeyFields,
  }),
]);

export type UserTokenKey = z.infer<typeof userTokenKeySchema>;

export const mostUserTokenKeys = 5;

export const domainEntrySchema = z.object({
  slug: domainSlug,
  hosts: z.array(hostName),
  groups: z.enum(groupTrusts),
  /** Public keys of the issuers of user tokens, which state a reader's groups. */
  userTokenKeys: z.array(userTokenKeySchema).max(mostUserTokenKeys).optional(),
});

export type DomainEntry = z.infer<typeof domainEntrySchema>;

export const directoryEventSchema = z.discriminatedUnion('type', [
  event('OrganizationCreated', { name: z.string(), plan: z.enum(organizationPlans) }),
  event('OrganizationChanged', { name: z.string(), plan: z.enum(organizationPlans) }),
  event('DomainAdded', { domain: domainEntrySchema }),
  event('ApiKeyCreated', { key: apiKeySchema }),
  /** The old key stays valid until `oldExpiresAt`. */
  event('ApiKeyRotated', { oldKeyId: z.string(), oldExpiresAt: timestamp, key: apiKeySchema }),
  event('ApiKeyRevoked', { keyId: z.string() }),
  /** Keys that had ended leave the state to make room. They are refused permanently. `endedAt`: their expiry or revocation, the earlier of the two. */
  event('ApiKeysForgotten', {
    keys: z.array(z.object({ id: z.string(), sha256: sha256Hex, endedAt: timestamp })).min(1),
  }),
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
    case 'ApiKeysForgotten': {
      const forgotten = new Set(event.data.keys.map(({ id }) => id));
      return { ...state, keys: state.keys.filter(({ id }) => !forgotten.has(id)) };
    }
  }
}

function changeKey(keys: readonly ApiKey[], id: string, change: Partial<ApiKey>): ApiKey[] {
  return keys.map((key) => (key.id === id ? { ...key, ...change } : key));
}
