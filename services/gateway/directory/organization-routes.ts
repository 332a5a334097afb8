import { z } from 'zod';
import {
  addDomain,
  changeOrganization,
  createOrganization,
  grantAdminKey,
} from '#shared/aggregates/directory/decide.ts';
import type { DirectoryState } from '#shared/aggregates/directory/directory.ts';
import {
  addDomainBodySchema,
  changeOrganizationBodySchema,
  createdApiKeySchema,
  createOrganizationBodySchema,
  domainAddedSchema,
  grantAdminKeyBodySchema,
  listOrganizationsQuerySchema,
  organizationCreatedSchema,
  organizationDetailSchema,
  organizationListSchema,
  organizationSchema,
  toListedDomains,
} from '#shared/interfaces/http/directory.ts';
import { organizationId } from '#shared/contracts/identifiers.ts';
import { organizationKey } from '#shared/interfaces/read-models.ts';
import { ApiError } from '#shared/http/errors.ts';
import { askBus } from '../ask-bus.ts';
import { readCursor, toCursor } from '../parse-input.ts';
import { publicRoute } from '../public-route.ts';
import { perHour } from '../rate-limits.ts';
import { appendToDirectory } from './append-to-directory.ts';
import { listedApiKeys } from './listed-api-keys.ts';
import { newApiKey, shownOnce } from './new-api-key.ts';

const mostAttempts = 5;
const idPattern = /^[a-z0-9-]{1,63}$/;

const limits = [perHour('operator', 'operatorPerHour')] as const;
const params = z.object({ org: organizationId.meta({ title: 'organization' }) });

/** Organizations and their domains, for the operator of the installation. */
export const organizationRoutes = [
  publicRoute(
    {
      id: 'listOrganizations',
      method: 'GET',
      path: '/v1/organizations',
      summary: 'Lists the organizations of the installation, sorted by id.',
      key: 'operator',
      query: listOrganizationsQuerySchema,
      answer: organizationListSchema,
    },
    async ({ bus: { readModels } }, { query: { limit, cursor } }) => {
      const after = cursor === undefined ? '' : (readCursor(cursor, idPattern)[0] ?? '');
      const keys = (await askBus(readModels.directoryOrganizations.keys())).filter((key) => key > after).toSorted();
      const page = keys.slice(0, limit);
      const stored = await askBus(readModels.directoryOrganizations.getMany(page));
      const last = page.at(-1);
      return {
        organizations: stored
          .flatMap((read) => ('document' in read ? read.document.state : []))
          .map((state) => ({
            ...toOrganization(state),
            createdAt: state.createdAt,
            domains: state.domains.map(({ slug }) => slug),
            apiKeys: state.keys.length,
          }))
          .toSorted((one, other) => (one.id < other.id ? -1 : 1)),
        ...(last !== undefined && keys.length > limit && { nextCursor: toCursor(last) }),
      };
    },
  ),
  publicRoute(
    {
      id: 'createOrganization',
      method: 'POST',
      path: '/v1/organizations',
      summary: 'Creates an organization and its first admin key, which is shown only once.',
      key: 'operator',
      limits,
      body: createOrganizationBodySchema,
      status: 201,
      answer: organizationCreatedSchema,
      errors: ['in_use'],
    },
    async (context, { body, origin }) => {
      const key = newApiKey({ kind: 'admin', name: 'first key' }, context.clock.now(), context.random);
      const state = await createUnderFreeId(
        (id) => appendToDirectory(context, id, (before) => createOrganization(before, id, body, key.apiKey), origin),
        (attempt) => organizationIdFor(body.name, attempt === 1 ? undefined : context.random(6).toLowerCase()),
      );
      const { id, expiresAt } = key.apiKey;
      const ends = expiresAt === undefined ? {} : { expiresAt };
      const platformUrl = platformUrlOf(context.config);
      return { organization: toOrganization(state), adminKey: { id, key: key.secret, ...ends }, platformUrl };
    },
  ),
  publicRoute(
    {
      id: 'readOrganization',
      method: 'GET',
      path: '/v1/organizations/:org',
      summary: 'Returns an organization with its plan, its domains, and its API keys without their secrets.',
      key: 'operator',
      params,
      answer: organizationDetailSchema,
    },
    async ({ bus: { readModels }, keyUses, config }, { params: { org } }) => {
      const stored = await askBus(readModels.directoryOrganizations.get(organizationKey(org)));
      const state = found(stored?.document.state, org);
      return {
        ...toOrganization(state),
        platformUrl: platformUrlOf(config),
        createdAt: state.createdAt,
        domains: toListedDomains(state.domains),
        apiKeys: await listedApiKeys(keyUses, org, state.keys),
      };
    },
  ),
  publicRoute(
    {
      id: 'changeOrganization',
      method: 'PATCH',
      path: '/v1/organizations/:org',
      summary: 'Changes the name or the plan of an organization.',
      key: 'operator',
      limits,
      params,
      body: changeOrganizationBodySchema,
      answer: organizationSchema,
    },
    async (context, { params, body, origin }) =>
      toOrganization(
        await appendToDirectory(
          context,
          params.org,
          (state) => changeOrganization(found(state, params.org), body),
          origin,
        ),
      ),
  ),
  publicRoute(
    {
      id: 'addDomain',
      method: 'POST',
      path: '/v1/organizations/:org/domains',
      summary: 'Adds a domain, a documentation site, to an organization.',
      key: 'operator',
      limits,
      params,
      body: addDomainBodySchema,
      status: 201,
      answer: domainAddedSchema,
      errors: ['in_use'],
    },
    async (context, { params, body: { domain: slug, hosts, ...rest }, origin }) => {
      const domain = { slug, hosts: [...new Set(hosts)], ...rest };
      await appendToDirectory(
        context,
        params.org,
        (state, change) => addDomain(found(state, params.org), change, domain),
        origin,
      );
      return { domain: slug, hosts: domain.hosts, ...rest };
    },
  ),
  publicRoute(
    {
      id: 'grantAdminKey',
      method: 'POST',
      path: '/v1/organizations/:org/api-keys',
      summary:
        'Creates another admin key for an organization whose own keys are lost or have expired. Its secret is shown only once.',
      key: 'operator',
      limits,
      params,
      body: grantAdminKeyBodySchema,
      status: 201,
      answer: createdApiKeySchema,
      errors: ['in_use'],
    },
    async (context, { params, body, origin }) => {
      const key = newApiKey({ kind: 'admin', ...body }, context.clock.now(), context.random);
      await appendToDirectory(
        context,
        params.org,
        (state, change) => grantAdminKey(found(state, params.org), change, key.apiKey),
        origin,
      );
      return shownOnce(key);
    },
  ),
];

function found(state: DirectoryState | undefined, organization: string): DirectoryState {
  if (state === undefined) throw new ApiError('not_found', `There is no organization "${organization}".`);
  return state;
}

/** The address of the platform for its clients, without a slash at its end. */
export const platformUrlOf = ({ publicUrl }: { publicUrl: string }): string => publicUrl.replace(/\/+$/, '');

export const toOrganization = ({ organization, name, plan }: DirectoryState) => ({ id: organization, name, plan });

async function createUnderFreeId<T>(create: (id: string) => Promise<T>, idOf: (attempt: number) => string): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await create(idOf(attempt));
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'in_use') || attempt === mostAttempts) throw error;
    }
  }
}

const longest = 63;

/** An id made from an organization's name: `Acme, Inc.` → `acme-inc`; with a suffix if that is taken. Pure. */
function organizationIdFor(name: string, suffix?: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  const end = suffix === undefined ? '' : `-${suffix}`;
  return `${(plain === '' ? 'organization' : plain).slice(0, longest - end.length)}${end}`;
}
