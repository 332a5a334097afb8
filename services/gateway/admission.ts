import type { FastifyRequest } from 'fastify';
import type { ApiKeyKind } from '#shared/api-key/api-key.ts';
import { parseApiKey } from '#shared/api-key/api-key.ts';
import type { Actor } from '#shared/contracts/actor.ts';
import type { ApiKey, DomainEntry } from '#shared/contracts/directory-events.ts';
import type { OrganizationPlan } from '#shared/contracts/organization-plan.ts';
import { ApiError } from '#shared/errors/api-error.ts';
import type { GatewayContext } from './context.ts';
import { keyRefusal } from './key-refusal.ts';

/** Whom a request is from: everything that follows is about this organization and no other. */
export type Admission = {
  organization: string;
  organizationPlan: OrganizationPlan;
  domains: readonly DomainEntry[];
  key: ApiKey;
  actor: Actor;
};

const admissions = new WeakMap<FastifyRequest, Admission>();

/** A hook that lets a request in by its API key. `scope: 'method'`: GET and HEAD need `read`, everything else `write`. */
export function admitByKey(
  context: GatewayContext,
  need: { kinds: readonly ApiKeyKind[]; scope: 'method' | 'read' | 'write' },
): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const parsed = parseApiKey(bearerToken(request));
    if (parsed === undefined) throw new ApiError('invalid_key');
    const document = await context.keys.find(parsed.sha256);
    const scope = need.scope === 'method' ? methodScope(request.method) : need.scope;
    const refusal = keyRefusal(document, { ...need, scope }, { now: context.clock.now(), address: request.ip });
    if (refusal !== undefined)
      throw new ApiError(refusal, refusal === 'wrong_key_kind' ? kindSentence(need.kinds) : undefined);
    if (document === undefined) throw new ApiError('invalid_key');
    const { organization, organizationPlan, domains, key } = document;
    admissions.set(request, { organization, organizationPlan, domains, key, actor: { kind: 'key', id: key.id } });
  };
}

/** Whom the hook let in. */
export function admissionOf(request: FastifyRequest): Admission {
  const admission = admissions.get(request);
  if (admission === undefined) throw new Error(`${request.url} is not behind the hook that admits by key`);
  return admission;
}

/** The credential of a request; throws `missing_key` when there is none. */
export function bearerToken(request: FastifyRequest): string {
  const header = request.headers.authorization ?? '';
  const [scheme = '', token = '', ...rest] = header.trim().split(/\s+/);
  if (header.trim() === '') throw new ApiError('missing_key');
  if (scheme.toLowerCase() !== 'bearer' || token === '' || rest.length > 0) {
    throw new ApiError('invalid_key', 'The header "Authorization" must be "Bearer <key>".');
  }
  return token;
}

const methodScope = (method: string): 'read' | 'write' => (method === 'GET' || method === 'HEAD' ? 'read' : 'write');

function kindSentence(kinds: readonly ApiKeyKind[]): string {
  return kinds.includes('assistant')
    ? 'This request takes an assistant key (svc_dsc_…) or an admin key (svc_…).'
    : 'This request needs an admin key (svc_…); assistant keys (svc_dsc_…) are public and cannot be used for it.';
}
