import { createPublicKey } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import {
  type ApiKey,
  apiKeySchema,
  groupTrusts,
  mostUserTokenKeys,
  type UserTokenKey,
  userTokenKeySchema,
} from '#shared/aggregates/directory/directory.ts';
import { domainSlug, hostName, organizationId, organizationPlans } from '../identifiers.ts';

const organizationName = z.string().trim().min(1).max(100);

/** Body of `POST /v1/organizations`. */
export const createOrganizationBodySchema = z.object({
  name: organizationName,
  plan: z.enum(organizationPlans).default('free'),
});

/** Body of `PATCH /v1/organizations/{org}`; what is absent stays. */
export const changeOrganizationBodySchema = z
  .object({ name: organizationName.optional(), plan: z.enum(organizationPlans).optional() })
  .refine((body) => body.name !== undefined || body.plan !== undefined, 'give "name" or "plan"');

/** Body of `POST /v1/organizations/{org}/domains`. */
export const addDomainBodySchema = z
  .object({
    domain: domainSlug,
    hosts: z.array(hostName).max(50).default([]),
    groups: z.enum(groupTrusts).default('claimed'),
    /** Public keys of those who sign `X-User-Token`. */
    userTokenKeys: z
      .array(userTokenKeySchema.refine(isUsableKey, 'is not a public key that can be used'))
      .min(1)
      .max(mostUserTokenKeys)
      .optional(),
  })
  .refine(({ groups, userTokenKeys }) => groups === 'signed' || userTokenKeys === undefined, {
    path: ['userTokenKeys'],
    message: 'is for domains with "groups": "signed"',
  });

export const organizationSchema = z.object({ id: organizationId, name: z.string(), plan: z.enum(organizationPlans) });

export type ShownOrganization = z.infer<typeof organizationSchema>;

/** The first admin key; this is the only time it is shown. */
export const organizationCreatedSchema = z.object({
  organization: organizationSchema,
  adminKey: z.object({ id: z.string(), key: z.string() }),
});

export type OrganizationCreated = z.infer<typeof organizationCreatedSchema>;

export const domainAddedSchema = z.object({
  domain: domainSlug,
  hosts: z.array(z.string()),
  groups: z.enum(groupTrusts),
  userTokenKeys: z.array(userTokenKeySchema).optional(),
});

export type DomainAdded = z.infer<typeof domainAddedSchema>;

/** One address, or a network such as `10.0.0.0/8`. */
const addressOrNetwork = z.string().refine(isAddressOrNetwork, 'must be an IP address or a network such as 10.0.0.0/8');

/** Scheme, host and port, as browsers send it in `Origin`. */
const origin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'must be an origin such as https://docs.acme.com',
  );

/** Body of `POST /v1/api-keys`. Without `expiresInDays` admin keys live 90 days and assistant keys for ever, because exported pages contain them. */
export const createApiKeyBodySchema = z.object({
  kind: z.enum(['admin', 'assistant']),
  name: z.string().trim().max(100).default(''),
  scopes: z
    .array(z.enum(['read', 'write']))
    .min(1)
    .max(2)
    .optional(),
  allowedAddresses: z.array(addressOrNetwork).max(100).default([]),
  allowedOrigins: z.array(origin).max(100).default([]),
  expiresInDays: z.int().min(1).max(3650).optional(),
});

export type CreateApiKeyBody = z.infer<typeof createApiKeyBodySchema>;

/** Body of `POST /v1/api-keys/{id}/rotate`: how long the old key still works. */
export const rotateApiKeyBodySchema = z
  .object({ overlapHours: z.number().min(0).max(720).default(24) })
  .default({ overlapHours: 24 });

/** A key without its hash. */
const shownApiKeySchema = apiKeySchema.omit({ sha256: true });

export type ShownApiKey = z.infer<typeof shownApiKeySchema>;

export const apiKeyListSchema = z.object({ apiKeys: z.array(shownApiKeySchema) });

/** Answer when a key was created; `key` is the secret, which is shown this once. */
export const createdApiKeySchema = shownApiKeySchema.extend({ key: z.string() });

export type CreatedApiKey = z.infer<typeof createdApiKeySchema>;

/** Pure. */
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

function isAddressOrNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  if (!/^[0-9]{1,3}$/.test(prefix)) return false;
  try {
    new BlockList().addSubnet(address, Number(prefix), family === 6 ? 'ipv6' : 'ipv4');
    return true;
  } catch {
    return false;
  }
}
