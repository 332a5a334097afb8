import type { FastifyInstance, FastifyRequest } from 'fastify';
import { admitOperator, traceparentOf } from '#services/gateway/auth/admission.ts';
import { addDomain, changeOrganization, createOrganization } from '#shared/aggregates/directory/decide.ts';
import type { DirectoryState } from '#shared/aggregates/directory/directory.ts';
import {
  addDomainBodySchema,
  changeOrganizationBodySchema,
  createOrganizationBodySchema,
} from '#shared/contracts/http/directory.ts';
import { organizationId } from '#shared/contracts/identifiers.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { GatewayContext } from '../context.ts';
import { parseInput } from '../parse-input.ts';
import { appendToDirectory, type RequestOrigin } from './append-to-directory.ts';
import { newApiKey } from './new-api-key.ts';

const attempts = 5;

/** Organizations and their domains, for whoever runs the installation. */
export async function operatorRoutes(app: FastifyInstance, context: GatewayContext): Promise<void> {
  app.addHook('onRequest', admitOperator(context.config.operatorToken));

  app.post('/v1/organizations', async (request, reply) => {
    const body = parseInput(createOrganizationBodySchema, request.body);
    const key = newApiKey(
      { kind: 'admin', name: 'first key', allowedAddresses: [], allowedOrigins: [] },
      context.clock.now(),
      context.random,
    );
    const state = await createUnderFreeId(
      (id) =>
        appendToDirectory(context, id, (before) => createOrganization(before, id, body, key.apiKey), originOf(request)),
      (attempt) => organizationIdFor(body.name, attempt === 1 ? undefined : context.random(6).toLowerCase()),
    );
    return reply.code(201).send({ organization: shown(state), adminKey: { id: key.apiKey.id, key: key.secret } });
  });

  app.patch<{ Params: { org: string } }>('/v1/organizations/:org', async (request) => {
    const organization = existingId(request.params.org);
    const body = parseInput(changeOrganizationBodySchema, request.body);
    return shown(
      await appendToDirectory(context, organization, (state) => changeOrganization(state, body), originOf(request)),
    );
  });

  app.post<{ Params: { org: string } }>('/v1/organizations/:org/domains', async (request, reply) => {
    const organization = existingId(request.params.org);
    const { domain: slug, hosts, ...rest } = parseInput(addDomainBodySchema, request.body);
    const domain = { slug, hosts: [...new Set(hosts)], ...rest };
    await appendToDirectory(context, organization, (state) => addDomain(state, domain), originOf(request));
    return reply.code(201).send({ domain: slug, hosts: domain.hosts, ...rest });
  });
}

const shown = ({ organization, name, plan }: DirectoryState) => ({ id: organization, name, plan });

function originOf(request: FastifyRequest): RequestOrigin {
  return {
    actor: { kind: 'operator', id: 'operator' },
    requestId: request.id,
    traceparent: traceparentOf(request),
  };
}

/** An id that cannot be one is the id of nothing. */
function existingId(text: string): string {
  if (!organizationId.safeParse(text).success) throw new ApiError('not_found', `There is no organization "${text}".`);
  return text;
}

async function createUnderFreeId<T>(create: (id: string) => Promise<T>, idOf: (attempt: number) => string): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await create(idOf(attempt));
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'in_use') || attempt === attempts) throw error;
    }
  }
}

const longest = 63;

/** An id made of an organization's name: `Acme, Inc.` → `acme-inc`; with a suffix when that one is taken. Pure. */
export function organizationIdFor(name: string, suffix?: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  const end = suffix === undefined ? '' : `-${suffix}`;
  return `${(plain === '' ? 'organization' : plain).slice(0, longest - end.length)}${end}`;
}
