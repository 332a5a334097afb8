import { createPublicKey } from 'node:crypto';
import { z } from 'zod';
import {
  type ApiKey,
  apiKeySchema,
  type DomainEntry,
  groupTrusts,
  keyScopes,
  mostUserTokenKeys,
  type UserTokenKey,
  userTokenKeySchema,
} from '#shared/aggregates/directory/directory.ts';
import { bundlePathProblem } from '#shared/export/bundle/bundle-names.ts';
import { addressRange, familyNamedWhole } from '#shared/http/address-ranges.ts';
import { domainSlug, hostName, organizationId, organizationPlans, timestamp } from '#shared/contracts/identifiers.ts';

const expiresInDays = z.int().min(1).max(3650);

const organizationName = z.string().trim().min(1).max(100);

/** Body of `POST /v1/organizations`. */
export const createOrganizationBodySchema = z
  .strictObject({
    name: organizationName,
    plan: z.enum(organizationPlans).default('free'),
  })
  .meta({ title: 'CreateOrganization' });

/** Body of `PATCH /v1/organizations/{org}`. Absent fields are unchanged. */
export const changeOrganizationBodySchema = z
  .strictObject({ name: organizationName.optional(), plan: z.enum(organizationPlans).optional() })
  .refine((body) => body.name !== undefined || body.plan !== undefined, 'must have "name" or "plan"')
  .meta({ title: 'ChangeOrganization' });

/** Body of `POST /v1/organizations/{org}/domains`. */
export const addDomainBodySchema = z
  .strictObject({
    /** The slug is also the top folder of bundles. */
    domain: domainSlug.refine(
      (slug) => bundlePathProblem(slug) === undefined,
      'is a name that Windows reserves: bundles have a folder of this name and could not be unpacked there',
    ),
    hosts: z.array(hostName).max(50).default([]),
    groups: z.enum(groupTrusts).default('claimed'),
    /** Public keys of the issuers of `X-User-Token`. */
    userTokenKeys: z
      .array(userTokenKeySchema.refine(isUsableKey, 'is not a usable public key'))
      .min(1)
      .max(mostUserTokenKeys)
      .optional(),
  })
  .refine(({ groups, userTokenKeys }) => groups === 'signed' || userTokenKeys === undefined, {
    path: ['userTokenKeys'],
    message: 'is for domains with "groups": "signed"',
  })
  .meta({ title: 'AddDomain' });

/** Body of `POST /v1/organizations/{org}/api-keys`. */
export const grantAdminKeyBodySchema = z
  .strictObject({
    name: z.string().trim().min(1).max(100).default('key from the operator'),
    /**
     * Lifetime of the key. It limits how long the organization can do without the operator, because admin keys that it creates end with the
     * key that creates them.
     */
    expiresInDays: expiresInDays.optional(),
  })
  .meta({ title: 'GrantAdminKey' });

export const organizationSchema = z
  .object({ id: organizationId, name: z.string(), plan: z.enum(organizationPlans) })
  .meta({ title: 'Organization' });

export type ShownOrganization = z.infer<typeof organizationSchema>;

const listedDomainSchema = z.object({ domain: domainSlug, hosts: z.array(z.string()), groups: z.enum(groupTrusts) });

/** Answer of `GET /v1/whoami`. `caller.id`: the id of the key, or the name of the person. `address`: IP address of the request, as the platform sees it. */
export const whoamiSchema = z
  .object({
    caller: z.object({
      kind: z.enum(['key', 'person']),
      id: z.string(),
      name: z.string(),
      scopes: z.array(z.enum(keyScopes)),
      allowedAddresses: z.array(z.string()),
      expiresAt: timestamp.optional(),
    }),
    address: z.string(),
    organization: organizationSchema,
    domains: z.array(listedDomainSchema),
    /** Absent in answers of older gateways. */
    platformUrl: z.string().optional(),
  })
  .meta({ title: 'Whoami' });

/** Query of `GET /v1/organizations`. */
export const listOrganizationsQuerySchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(100),
  cursor: z.string().max(200).optional(),
});

/** All organizations of the installation, sorted by id. `apiKeys`: their number, with those that have ended and are still listed. */
export const organizationListSchema = z
  .object({
    organizations: z.array(
      organizationSchema.extend({ createdAt: timestamp, domains: z.array(domainSlug), apiKeys: z.int() }),
    ),
    nextCursor: z.string().optional(),
  })
  .meta({ title: 'OrganizationList' });

/** Contains the first admin key, which is shown only here. */
export const organizationCreatedSchema = z
  .object({
    organization: organizationSchema,
    adminKey: z.object({ id: z.string(), key: z.string(), expiresAt: z.iso.datetime().optional() }),
    platformUrl: z.string().optional(),
  })
  .meta({ title: 'OrganizationCreated' });

export type OrganizationCreated = z.infer<typeof organizationCreatedSchema>;

export const domainAddedSchema = z
  .object({
    domain: domainSlug,
    hosts: z.array(z.string()),
    groups: z.enum(groupTrusts),
    userTokenKeys: z.array(userTokenKeySchema).optional(),
  })
  .meta({ title: 'Domain' });

export type DomainAdded = z.infer<typeof domainAddedSchema>;

/** One address, or a network such as `10.0.0.0/8`. */
const addressOrNetwork = z
  .string()
  .refine((text) => addressRange(text) !== undefined, 'must be an IP address or a network such as 10.0.0.0/8');

/** Scheme, host and port, as browsers send them in `Origin`. */
const origin = z
  .string()
  .max(300)
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'must be an origin such as https://docs.acme.com',
  );

/** An empty list allows every address. A list with all addresses looks like a restriction without being one, so it is refused. */
const allowedAddresses = z
  .array(addressOrNetwork)
  .max(100)
  .superRefine((list, context) => {
    const family = familyNamedWhole(list);
    if (family === undefined) return;
    const message = `names every ${family} address, which restricts nothing: leave "allowedAddresses" empty to allow all, or name fewer`;
    context.addIssue({ code: 'custom', message });
  });

/**
 * Body of `POST /v1/api-keys`. Absent fields are taken from the key that creates it. `expiresInDays` is at most 90 for an admin key. An
 * assistant key does not end, because exported pages contain it, unless a key with a lifetime below 30 days creates it.
 */
export const createApiKeyBodySchema = z
  .strictObject({
    kind: z.enum(['admin', 'assistant']),
    name: z.string().trim().max(100).default(''),
    scopes: z.array(z.enum(keyScopes)).min(1).max(keyScopes.length).optional(),
    allowedAddresses: allowedAddresses.optional(),
    allowedOrigins: z.array(origin).max(100).optional(),
    expiresInDays: expiresInDays.optional(),
  })
  .refine(({ kind, scopes }) => kind === 'assistant' || scopes?.includes('proxy') !== true, {
    path: ['scopes'],
    message: 'may have "proxy" for assistant keys only',
  })
  .refine(({ kind, scopes }) => kind === 'admin' || scopes?.includes('export') !== true, {
    path: ['scopes'],
    message: 'may have "export" for admin keys only',
  })
  .meta({ title: 'CreateApiKey' });

export type CreateApiKeyBody = z.infer<typeof createApiKeyBodySchema>;

/**
 * Body of `POST /v1/api-keys/{id}/rotate`: the time that the old key still works, and the lifetime of the new one, by default the remaining
 * life of the old key.
 */
export const rotateApiKeyBodySchema = z
  .strictObject({ overlapHours: z.number().min(0).max(720).default(24), expiresInDays: expiresInDays.optional() })
  .default({ overlapHours: 24 })
  .meta({ title: 'RotateApiKey' });

export type RotateApiKeyBody = z.infer<typeof rotateApiKeyBodySchema>;

/** Query of `DELETE /v1/api-keys/{id}`. `descendants`: `revoke` also revokes the keys that it created, directly or through other keys. */
export const revokeApiKeyQuerySchema = z.strictObject({
  descendants: z.enum(['keep', 'revoke']).default('keep'),
});

/** A key without its hash. */
const shownApiKeySchema = apiKeySchema.omit({ sha256: true }).meta({ title: 'ApiKey' });

export type ShownApiKey = z.infer<typeof shownApiKeySchema>;

/** `lastUsedAt`: precise to the minute, and delayed by up to two minutes. Absent if the key was never used. */
const listedApiKeySchema = shownApiKeySchema
  .extend({ lastUsedAt: timestamp.optional() })
  .meta({ title: 'ListedApiKey' });

export type ListedApiKey = z.infer<typeof listedApiKeySchema>;

/**
 * Answer after a key was revoked. `descendants`: the keys that it created, directly or through other keys, that were valid until then.
 * Those without `revokedAt` still are.
 */
export const apiKeyRevokedSchema = z
  .object({ id: z.string(), revokedAt: timestamp, descendants: z.array(shownApiKeySchema) })
  .meta({ title: 'ApiKeyRevoked' });

export type ApiKeyRevoked = z.infer<typeof apiKeyRevokedSchema>;

export const apiKeyListSchema = z.object({ apiKeys: z.array(listedApiKeySchema) }).meta({ title: 'ApiKeyList' });

/** Answer of `GET /v1/organizations/{org}`: an organization with its domains, sorted by slug, and all API keys that are still listed. */
export const organizationDetailSchema = organizationSchema
  .extend({
    createdAt: timestamp,
    platformUrl: z.string().optional(),
    domains: z.array(listedDomainSchema),
    apiKeys: z.array(listedApiKeySchema),
  })
  .meta({ title: 'OrganizationDetail' });

export type OrganizationDetail = z.infer<typeof organizationDetailSchema>;

/** Answer after a key was created. `key` is the secret, which is shown only here. */
export const createdApiKeySchema = shownApiKeySchema.extend({ key: z.string() }).meta({ title: 'CreatedApiKey' });

export type CreatedApiKey = z.infer<typeof createdApiKeySchema>;

/** The domains of an organization, sorted by slug. Pure. */
export const toListedDomains = (domains: readonly DomainEntry[]): z.infer<typeof listedDomainSchema>[] =>
  domains
    .map(({ slug, hosts, groups }) => ({ domain: slug, hosts, groups }))
    .toSorted((one, other) => (one.domain < other.domain ? -1 : 1));

/** The key without its hash. Pure. */
export function toShownApiKey(apiKey: ApiKey): ShownApiKey {
  const { sha256: _, ...shown } = apiKey;
  return shown;
}

function isUsableKey(key: UserTokenKey): boolean {
  try {
    createPublicKey({ key, format: 'jwk' });
    return true;
  } catch {
    return false;
  }
}
