import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { ApiKey, DomainEntry } from '#shared/aggregates/directory/directory.ts';
import type { Actor } from '#shared/contracts/commit.ts';
import type { OrganizationPlan } from '#shared/contracts/identifiers.ts';
import type { KeyDocument } from '#shared/interfaces/read-models.ts';
import { addressRange, addressRanges, covers, withoutPort } from '#shared/http/address-ranges.ts';
import { type ApiKeyKind, parseApiKey } from '#shared/http/api-key.ts';
import { ApiError, type ErrorCode } from '#shared/http/errors.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { KeyDirectory } from './key-directory.ts';

/** The authenticated caller: the rest of the request concerns this organization alone. */
export type Principal = {
  organization: string;
  organizationPlan: OrganizationPlan;
  domains: readonly DomainEntry[];
  key: ApiKey;
  actor: Actor;
};

/** Authenticates the API key of a request. Throws the reason if the key does not open the route. */
export async function authenticateKey(
  { keys, clock }: { keys: KeyDirectory; clock: Clock },
  request: FastifyRequest,
  need: KeyNeed,
): Promise<Principal> {
  const parsed = parseApiKey(bearerToken(request));
  if (parsed === undefined) throw new ApiError('invalid_key');
  const document = await keys.find(parsed.sha256);
  const refusal = keyRefusal(document, need, { now: clock.now(), address: request.ip });
  if (refusal !== undefined || document === undefined)
    throw new ApiError(refusal ?? 'invalid_key', refusal === 'wrong_key_kind' ? kindSentence(need.kinds) : undefined);
  const { organization, organizationPlan, domains, key } = document;
  return { organization, organizationPlan, domains, key, actor: { kind: 'key', id: key.id } };
}

/** The credential of a request; throws `missing_key` if there is none. */
export function bearerToken(request: FastifyRequest): string {
  const header = request.headers.authorization ?? '';
  const [scheme = '', token = '', ...rest] = header.trim().split(/\s+/);
  if (header.trim() === '') throw new ApiError('missing_key');
  if (scheme.toLowerCase() !== 'bearer' || token === '' || rest.length > 0) {
    throw new ApiError('invalid_key', 'The header "Authorization" must be "Bearer <key>".');
  }
  return token;
}

function kindSentence(kinds: readonly ApiKeyKind[]): string {
  return kinds.includes('assistant')
    ? 'This request takes an assistant key (svc_dsc_…) or an admin key (svc_…).'
    : 'This request needs an admin key (svc_…); assistant keys (svc_dsc_…) are public and cannot be used for it.';
}

/** The key that a route requires. `forExports`: the scope `export` is enough. */
export type KeyNeed = { kinds: readonly ApiKeyKind[]; scope: 'read' | 'write'; forExports?: boolean };

/** The reason why a key does not open a route, or undefined if it does. Nothing else decides this. Pure. */
export function keyRefusal(
  document: KeyDocument | undefined,
  need: KeyNeed,
  use: { now: Date; address: string },
): ErrorCode | undefined {
  if (document === undefined) return 'invalid_key';
  const { key } = document;
  const isOver = (end: string | undefined) => end !== undefined && Date.parse(end) <= use.now.getTime();
  if (isOver(key.revokedAt)) return 'invalid_key';
  if (isOver(key.expiresAt)) return 'expired_key';
  if (!need.kinds.includes(key.kind)) return 'wrong_key_kind';
  if (!key.scopes.includes(need.scope) && !(need.forExports && key.scopes.includes('export'))) return 'missing_scope';
  if (key.allowedAddresses.length > 0 && !isAllowed(key.allowedAddresses, use.address)) return 'address_not_allowed';
  return undefined;
}

function isAllowed(allowed: readonly string[], caller: string): boolean {
  const address = addressRange(withoutPort(caller));
  return address !== undefined && covers(addressRanges(allowed), address);
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Throws unless a request has the operator token. */
export function authenticateOperator(request: FastifyRequest, operatorToken: string): void {
  const shown = bearerToken(request);
  if (timingSafeEqual(digest(shown), digest(operatorToken))) return;
  if (parseApiKey(shown) === undefined)
    throw new ApiError('invalid_key', 'This is not the operator token of this installation.');
  throw new ApiError('wrong_key_kind', 'This request needs the operator token of the installation, not an API key.');
}

/** Throws unless a request has the key of a host of sites. `siteKeys`: the keys of the installation; with two, a key can be rotated. */
export function authenticateSiteHost(request: FastifyRequest, siteKeys: readonly string[]): void {
  const shown = digest(bearerToken(request));
  if (siteKeys.some((key) => timingSafeEqual(shown, digest(key)))) return;
  if (parseApiKey(bearerToken(request)) !== undefined)
    throw new ApiError('wrong_key_kind', 'This request needs the key of a host of sites (svc_site_…).');
  throw new ApiError(
    'invalid_key',
    siteKeys.length === 0 ? 'This installation has no host of sites: BINDERY_SITES_KEYS is not set.' : undefined,
  );
}

/** The organization's domain with that slug or host name. Throws `not_found`. Pure. */
export function resolveDomain(domains: readonly DomainEntry[], name: string): DomainEntry {
  const wanted = name.toLowerCase();
  const domain = domains.find(({ slug, hosts }) => slug === wanted || hosts.includes(wanted));
  if (domain === undefined)
    throw new ApiError(
      'not_found',
      `There is no domain "${name}" in this organization. Check its name; an operator adds domains with "bindery orgs add-domain <organization> <domain>".`,
    );
  return domain;
}
