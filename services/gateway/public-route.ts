import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { DomainEntry } from '#shared/aggregates/directory/directory.ts';
import type { Actor } from '#shared/contracts/commit.ts';
import type { PersonRole } from '#shared/interfaces/http/person-token.ts';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import type { CallerOf, InternalCall } from '#shared/interfaces/internal/internal-call.ts';
import { disconnectSignal } from '#shared/http/client-connection.ts';
import { ApiError, errorCodes, type ErrorCode, toApiError } from '#shared/http/errors.ts';
import {
  type CallParts,
  callService,
  type ServiceAddress,
  type ServiceAnswer,
} from '#shared/interfaces/internal/internal-client.ts';
import { takesUpload } from '#shared/http/slow-bodies.ts';
import { addressHashOf, type RequestOrigin } from './audit/request-behind.ts';
import { traceparentOf } from '#shared/runtime/tracing.ts';
import { allowAnyOrigin, answerPreflight, checkOrigin } from './auth/cross-origin.ts';
import {
  authenticateKey,
  authenticateOperator,
  authenticateSiteHost,
  type Principal,
  resolveDomain,
} from './auth/authenticate.ts';
import { checkRole } from './auth/people.ts';
import { readerAddress } from './auth/reader-address.ts';
import { gatewaySettings } from './config.ts';
import type { GatewayContext } from './context.ts';
import { parseInput, parsePathParameters } from './parse-input.ts';
import { type RouteLimit, takeRateLimits } from './rate-limits.ts';
import { addBodyParser, type BodyKind, checkArchive } from './request-bodies.ts';

/**
 * The declaration of a public route, except for its handler. (`fastify-type-provider-zod` would check the schemas alone, and needs `@fastify/swagger`
 * beside it; keys, plans, domains and limits would still be ours.)
 */
export type RouteDeclaration = SharedDeclaration & (Reading | Changing);

type Reading = { method: 'GET'; limits?: Limits };

/** Every changing route has limits, without exception. */
type Changing = { method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'; limits: Limits };

type Limits = readonly [RouteLimit, ...RouteLimit[]];

type SharedDeclaration = {
  /** Names the operation in the description and in generated clients. */
  id: string;
  /** `:name` stands for a parameter; `:domain` is the slug or a host name of a domain of the caller's organization. */
  path: `/${string}`;
  /** A sentence about the route, for the reference. */
  summary: string;
  /** The kind of credential that opens it. `assistant`: an assistant key or an admin key. */
  key: 'admin' | 'assistant' | 'operator' | 'site' | 'none';
  /** True if a host of sites asks for readers of the site in the path (`:org` and `:domain`): the request counts as its organization's. */
  forReaders?: true;
  /** True if a public site needs no key: one that is live without a login and passes questions on. A request without a key counts as its organization's. */
  publicSites?: true;
  /** The scope that an API key needs; by default `read` for GET and `write` for everything else. */
  scope?: 'read' | 'write';
  /** True if the scope `export` of an admin key is enough. */
  forExports?: true;
  /** The role that a person who signed in at the console needs; by default `viewer` with the scope `read`, and `editor` with `write`. */
  role?: PersonRole;
  /** The plan that the organization needs. */
  plan?: 'enterprise';
  /** An invalid value cannot name anything, and is answered with 404. */
  params?: z.ZodObject;
  query?: z.ZodType;
  /** Request headers, as documentation spells them. */
  headers?: z.ZodObject;
  /** Without a kind, the body of a request is dropped. */
  body?: BodyKind;
  /** True if the handler decides when a request counts, by `count()`. */
  countsLater?: true;
  status?: 200 | 201 | 202 | 204;
  answer?: z.ZodType;
  /** Other forms of the answer, by the media type in `Accept`. `item`: schema of each line or event of a stream. */
  alsoAs?: Readonly<Record<string, { description: string; item?: z.ZodType }>>;
  /** Answers in the form of another protocol, by their status; without a schema they have no body. An error may have this form or the usual one. */
  ofProtocol?: Readonly<Record<number, { description: string; schema?: z.ZodType }>>;
  /** Headers of the answer with descriptions, beside those of every route and of limits. */
  answerHeaders?: Readonly<Record<string, string>>;
  /** Error codes beside those that follow from the declaration. */
  errors?: readonly ErrorCode[];
  /** True if scripts of other sites may call the route. */
  crossOrigin?: true;
  /** True for a file that pages of all sites may load; its headers say so. */
  isPublicFile?: true;
  /** True if the handler answers HEAD as well. */
  answersHead?: true;
  /** True for a route that the reference leaves out, because clients get its address in answers. */
  undocumented?: true;
};

/** All codes that a route may answer with: those that follow from its declaration, and those that it names. */
export function routeErrors(declaration: RouteDeclaration): ErrorCode[] {
  const { key, plan, params, query, headers, body, crossOrigin, errors = [] } = declaration;
  const codes: (readonly ErrorCode[] | false)[] = [
    key !== 'none' && ['missing_key', 'invalid_key'],
    (key === 'admin' || key === 'operator' || key === 'site') && ['wrong_key_kind'],
    (key === 'admin' || key === 'assistant') && ['expired_key', 'missing_scope', 'address_not_allowed'],
    key === 'operator' && ['missing_scope'],
    crossOrigin === true && ['origin_not_allowed'],
    plan !== undefined && ['plan_required'],
    params !== undefined && ['not_found'],
    (query !== undefined || headers !== undefined) && ['invalid_request'],
    body !== undefined && ['request_timeout', 'too_large', 'unsupported_media_type'],
    body === 'archive' ? ['invalid_project'] : body !== undefined && ['invalid_json', 'invalid_request'],
    errors,
    // The limit of concurrent requests from one address applies to any route.
    ['rate_limited', 'internal', 'unavailable'],
  ];
  const declared = new Set(codes.flatMap((some) => some || []));
  return errorCodes.filter((code) => declared.has(code));
}

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

/** The argument of a handler. */
export type RouteRequest<D extends RouteDeclaration> = {
  principal: D['key'] extends 'admin' | 'assistant'
    ? Principal
    : D extends { forReaders: true }
      ? Principal
      : undefined;
  params: D extends { params: infer S } ? Output<S> : undefined;
  domain: D['path'] extends `${string}/:domain${string}` ? DomainEntry : undefined;
  query: D extends { query: infer S } ? Output<S> : undefined;
  headers: D extends { headers: infer S } ? Output<S> : undefined;
  body: D extends { body: infer S }
    ? S extends z.ZodType
      ? z.output<S>
      : S extends 'archive'
        ? IncomingMessage
        : Buffer
    : undefined;
  origin: D['key'] extends 'none' ? undefined : RequestOrigin;
  /** Counts the request against the limits of the route, once or as often as `times` says; throws `rate_limited`. */
  count: (times?: number) => Promise<void>;
  /** Calls another service about a domain. The call is aborted if the client disconnects, unless it `goesOn`. */
  ask: <C extends InternalCall>(
    call: C,
    domain: DomainEntry,
    parts: CallParts<C>,
    trustedGroups?: Caller['trustedGroups'],
    options?: { goesOn?: boolean },
  ) => Promise<ServiceAnswer<C>>;
  /** Calls another service for a caller that is no principal, such as a host of sites for the organization of a site. */
  askAs: <C extends InternalCall>(caller: CallerOf<C>, call: C, parts: CallParts<C>) => Promise<ServiceAnswer<C>>;
  /** Calls another service about no domain, in the name of the person, key or operator who asks. */
  askInstallation: <C extends InternalCall & { of: 'installation' }>(
    call: C,
    parts: CallParts<C>,
  ) => Promise<ServiceAnswer<C>>;
  request: FastifyRequest;
  reply: FastifyReply;
};

type Answer<D> = D extends { answer: infer S extends z.ZodType } ? z.input<S> : void;

export type PublicRoute = {
  declaration: RouteDeclaration;
  handle: (context: GatewayContext, request: never) => Promise<unknown>;
};

/** A public route. Its handler returns the body, or sends the reply. */
export const publicRoute = <const D extends RouteDeclaration>(
  declaration: D,
  handle: (context: GatewayContext, request: RouteRequest<D>) => Promise<Answer<D> | FastifyReply>,
): PublicRoute => ({ declaration, handle });

declare module 'fastify' {
  interface FastifyContextConfig {
    declaration?: RouteDeclaration;
  }
}

/** Adds a route: credential, origin, plan, body, parameters, limits, in this order, then its handler. A request that is refused for its body counts too. */
export function addPublicRoute(app: FastifyInstance, context: GatewayContext, route: PublicRoute): void {
  const { declaration } = route;
  const { method, path, crossOrigin, answersHead, status = 200 } = declaration;
  const config = { declaration };
  const callers = new WeakMap<FastifyRequest, Known>();
  /** Authenticated requests that are not counted yet, with the function that counts them. */
  const uncounted = new WeakMap<FastifyRequest, (times?: number) => Promise<void>>();
  void app.register(async (scope) => {
    addBodyParser(scope, declaration.body);
    // Requests that are refused for their body or cut off before its end count too, because they cost as much as valid ones.
    scope.setErrorHandler(async (error, request) => {
      const isCutOff = request.raw.destroyed && !request.raw.complete;
      if (isCutOff || bodyRefusals.has(toApiError(error).code)) await uncounted.get(request)?.();
      throw error;
    });
    // Routes of one path have one preflight.
    if (crossOrigin && !scope.hasRoute({ method: 'OPTIONS', url: path }))
      scope.options(path, { config }, answerPreflight);
    scope.route({
      method: answersHead ? [method, 'HEAD'] : method,
      url: path,
      config,
      onRequest: async (request, reply) => {
        if (crossOrigin) allowAnyOrigin(reply);
        const known = await authenticate(context, declaration, request, reply);
        const principal = known?.principal;
        uncounted.set(request, async (times) => {
          uncounted.delete(request);
          const address = readerAddress(request, principal?.key);
          const from = { principal, address, isShared: declaration.forReaders !== true };
          await takeRateLimits(context, reply, declaration.limits ?? [], from, times);
        });
        if (known !== undefined) callers.set(request, known);
        if (principal === undefined || declaration.forReaders) return;
        if (crossOrigin) checkOrigin(request, reply, principal.key);
        if (declaration.plan !== undefined) requirePlan(declaration.plan, principal);
        if (declaration.body === 'archive') takesUpload(request.raw);
      },
      handler: async (request, reply) => {
        const count = async (times?: number) => await uncounted.get(request)?.(times);
        const read = { ...readRequest(context, declaration, request, reply, callers.get(request)), count };
        if (declaration.limits !== undefined && !declaration.countsLater) await read.count();
        const answer = await route.handle(context, read as never);
        // A handler that sends the reply returns it, and awaiting a reply waits until it is sent. If the client disconnects meanwhile, it counts as
        // sent.
        if (reply.sent || reply.raw.headersSent) return reply;
        context.onAnswer?.({ route: `${method} ${path}`, body: answer, declared: declaration.answer });
        return reply.code(status).send(answer);
      },
    });
  });
}

/** Errors in the request itself, rather than in its credential or in missing resources. */
const bodyRefusals: ReadonlySet<ErrorCode> = new Set([
  ...(['invalid_json', 'invalid_request', 'invalid_project'] as const),
  ...(['too_large', 'unsupported_media_type'] as const),
]);

/** The credential of a host of sites or of the operator is a setting, and that of a person lasts for a request. */
const neverEnded = (): AbortSignal => new AbortController().signal;

/** An authenticated caller. `address`: that of a person's browser. `keyEnded`: aborts when the API key of the request ends. */
type Known = { principal?: Principal; actor: Actor; address?: string | undefined; keyEnded: () => AbortSignal };

/**
 * A request is valid while its key is. When the key ends, an answer in flight is cut off, and one that has not begun fails with `invalid_key` when it
 * checks the signal.
 */
function endsWithKey({ keys }: GatewayContext, { key }: Principal, { raw }: FastifyReply): () => AbortSignal {
  let ended: AbortController | undefined;
  let reason: ApiError | undefined;
  const stop = keys.onEnd(key.sha256, () => {
    reason = new ApiError('invalid_key', 'The API key was revoked or expired during the request.');
    ended?.abort(reason);
    if (raw.headersSent && !raw.writableEnded) raw.destroy();
  });
  raw.once('close', stop);
  // The signal is made on demand, because most requests are answered before anything needs it.
  return () => {
    if (reason !== undefined) return AbortSignal.abort(reason);
    ended ??= new AbortController();
    return ended.signal;
  };
}

async function authenticate(
  context: GatewayContext,
  declaration: RouteDeclaration,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Known | undefined> {
  const { key, method, forReaders, forExports = false, scope = scopeOf(method) } = declaration;
  if (key === 'none') return undefined;
  if (key === 'site') {
    authenticateSiteHost(request, context.config.siteKeys);
    const { org = '', domain = '' } = request.params as Record<string, string>;
    const principal = forReaders && (await context.siteReaders.principalOf(org, domain));
    return { ...(principal && { principal }), actor: siteHostActor, keyEnded: neverEnded };
  }
  if (declaration.publicSites && request.headers.authorization === undefined) {
    const { domain = '' } = request.params as Record<string, string>;
    const principal = await context.siteReaders.ofPublicSite(domain);
    if (principal !== undefined) return { principal, actor: principal.actor, keyEnded: neverEnded };
  }
  const person = await context.people.find(request);
  if (person !== undefined) {
    const actor = { kind: 'person', id: person.name } as const;
    const role = key === 'operator' ? 'operator' : (declaration.role ?? (scope === 'read' ? 'viewer' : 'editor'));
    checkRole(person, role);
    const caller = { actor, address: person.address, keyEnded: neverEnded };
    return key === 'operator' ? caller : { ...caller, principal: await context.people.principalOf(person) };
  }
  if (key === 'operator') {
    authenticateOperator(request, context.config.operatorToken);
    return { actor: operatorActor, keyEnded: neverEnded };
  }
  const kinds = key === 'admin' ? (['admin'] as const) : (['assistant', 'admin'] as const);
  const principal = await authenticateKey(context, request, { kinds, scope, forExports });
  context.keyUses.note(principal.organization, principal.key.id);
  return { principal, actor: principal.actor, keyEnded: endsWithKey(context, principal, reply) };
}

export const scopeOf = (method: RouteDeclaration['method']): 'read' | 'write' => (method === 'GET' ? 'read' : 'write');

function requirePlan(plan: 'enterprise', { organizationPlan }: Principal): void {
  if (organizationPlan === plan) return;
  throw new ApiError(
    'plan_required',
    `Static export needs the ${plan} plan; this organization has "${organizationPlan}".`,
  );
}

function readRequest(
  context: GatewayContext,
  declaration: RouteDeclaration,
  request: FastifyRequest,
  reply: FastifyReply,
  known: Known | undefined,
) {
  const principal = known?.principal;
  const { params, query, headers, body } = declaration;
  const given = request.params as Record<string, string>;
  const origin: RequestOrigin = {
    // A route without a credential has no origin.
    actor: known?.actor ?? operatorActor,
    requestId: request.id,
    get traceparent() {
      return traceparentOf(request);
    },
    address: known?.address ?? request.ip,
  };
  return {
    principal,
    params: params && parsePathParameters(params, given),
    domain: principal && given.domain !== undefined ? resolveDomain(principal.domains, given.domain) : undefined,
    query: query && parseInput(query, request.query, 'query'),
    headers: headers && parseInput(headers, headersAs(headers, request), 'headers'),
    body: body instanceof z.ZodType ? parseInput(body, request.body) : bodyAsItCame(body, request),
    origin,
    ask: async <C extends InternalCall>(
      call: C,
      domain: DomainEntry,
      parts: CallParts<C>,
      trustedGroups: Caller['trustedGroups'] = [],
      { goesOn = false } = {},
    ) => {
      if (principal === undefined || known === undefined)
        throw new Error(`${declaration.path} calls ${call.service} without an authenticated caller`);
      const caller: Caller = {
        ...origin,
        organization: principal.organization,
        organizationPlan: principal.organizationPlan,
        domain: domain.slug,
        groupTrust: domain.groups,
        trustedGroups,
        address: readerAddress(request, principal.key),
        addressHash: addressHashOf(context.config.hashKey, principal.organization, origin.address),
      };
      const ended = [...(goesOn ? [] : [disconnectSignal(reply.raw)]), known.keyEnded()];
      const asked = (cut: readonly AbortSignal[]) =>
        callService(
          call,
          addressOf(context, call),
          Object.assign({ caller, signal: AbortSignal.any([...ended, ...cut]) }, parts),
        );
      // All services need the bus. An upload may outlast an outage while it arrives, but not after it.
      return await context.busOutage.orGone((cut) => asked([cut()]), {
        ...(call.body === 'stream' ? { changes: true, arrived: bodyEnd(request.raw) } : {}),
      });
    },
    askAs: async <C extends InternalCall>(caller: CallerOf<C>, call: C, parts: CallParts<C>) => {
      const signal = disconnectSignal(reply.raw);
      return await callService(call, addressOf(context, call), Object.assign({ caller, signal }, parts));
    },
    askInstallation: async <C extends InternalCall & { of: 'installation' }>(call: C, parts: CallParts<C>) => {
      const { requestId, actor, address, traceparent } = origin;
      const caller = { requestId, actor, address, traceparent } as CallerOf<C>;
      const ended = disconnectSignal(reply.raw);
      return await context.busOutage.orGone((cut) => {
        const signal = AbortSignal.any([ended, cut()]);
        return callService(call, addressOf(context, call), Object.assign({ caller, signal }, parts));
      });
    },
    request,
    reply,
  };
}

const operatorActor = { kind: 'operator', id: 'operator' } as const;
const siteHostActor = { kind: 'service', id: 'docs-host' } as const;

const bodyEnd = (body: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    if (body.readableEnded) resolve();
    else body.once('end', resolve);
  });

function bodyAsItCame(kind: BodyKind | undefined, request: FastifyRequest): unknown {
  if (kind === 'archive') checkArchive(request);
  return kind === undefined ? undefined : (request.body ?? Buffer.alloc(0));
}

/** Headers by their names in the declaration, so that errors name them as documentation does. */
const headersAs = (schema: z.ZodObject, request: FastifyRequest): Record<string, unknown> =>
  Object.fromEntries(Object.keys(schema.shape).map((name) => [name, request.headers[name.toLowerCase()]]));

const addressSettings = {
  publisher: ['publisherUrl', 'publisherToken'],
  'link-signer': ['linkSignerUrl', 'linkSignerToken'],
  assistant: ['assistantUrl', 'assistantToken'],
  projector: ['projectorUrl', 'projectorToken'],
  orchestrator: ['orchestratorUrl', 'orchestratorToken'],
  housekeeper: ['housekeeperUrl', 'housekeeperToken'],
} as const;

function addressOf({ config }: GatewayContext, { service }: InternalCall): ServiceAddress {
  const [url, token] = addressSettings[service];
  const [baseUrl, serviceToken] = [config[url], config[token]];
  if (baseUrl !== undefined && serviceToken !== undefined) return { baseUrl, serviceToken };
  const variable = (setting: keyof typeof gatewaySettings) => gatewaySettings[setting].env;
  const missing = baseUrl === undefined ? variable(url) : variable(token);
  throw new ApiError('unavailable', `The gateway cannot ask the ${service}: ${missing} is not set.`);
}
