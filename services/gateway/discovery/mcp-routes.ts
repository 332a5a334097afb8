import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { domainName, organizationId } from '#shared/contracts/identifiers.ts';
import { disconnectSignal } from '#shared/http/client-connection.ts';
import { ApiError } from '#shared/http/errors.ts';
import { isOriginOf } from '#shared/http/own-origin.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { trustedGroupsOf } from '../auth/user-token.ts';
import type { GatewayContext } from '../context.ts';
import { publicRoute, type RouteDeclaration, type RouteRequest } from '../public-route.ts';
import { perAddressPerDay, perKeyPerHour } from '../rate-limits.ts';
import { isPublicReader } from '../sites/site-readers.ts';
import { docsOfDomain } from './docs-of-domain.ts';

const path = '/discovery/v1/mcp/:domain';
const params = z.object({ domain: domainName });
const siteParams = z.object({ org: organizationId.meta({ title: 'organization' }), ...params.shape });
const perAddress = perAddressPerDay('mcp-address', 'assistantPerAddressPerDay');

/** A message of JSON-RPC, or a list of them, which clients of the revision 2025-03-26 may send. */
const messageSchema = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int()]).optional(),
    method: z.string(),
    params: z.looseObject({}).optional(),
  })
  .meta({ title: 'McpRequest' });

/** The result of a request, or its error. */
const answerSchema = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int()]).nullish(),
    result: z.looseObject({}).optional(),
    error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
  })
  .meta({ title: 'McpAnswer' });

const asking = {
  method: 'POST',
  headers: z.object({
    'X-User-Token': z.string().optional(),
    'X-Reader-Address': z.string().optional(),
    'MCP-Protocol-Version': z.string().optional(),
  }),
  body: { passedOn: messageSchema },
  limits: [perKeyPerHour('mcp', 'assistantPerHour'), perAddress],
  countsLater: true,
  answer: answerSchema,
  ofProtocol: {
    202: { description: 'The message was a notification.' },
    400: {
      description: 'The message is no request of the protocol, or of a version that is not known.',
      schema: answerSchema,
    },
    404: { description: 'The method is not known.', schema: answerSchema },
  },
} as const;

/** The endpoint of the Model Context Protocol for each domain. Nothing is kept between requests, so each copy of the gateway answers each of them. */
export const mcpRoutes = [
  publicRoute(
    {
      ...asking,
      id: 'answerMcp',
      path,
      summary: 'Answers a message of the Model Context Protocol, over Streamable HTTP without sessions.',
      params,
      key: 'assistant',
      publicSites: true,
      // Tools only read, and feedback only adds to counts.
      scope: 'read',
      crossOrigin: true,
    },
    async (context, request) => answerAgent(context, request),
  ),
  publicRoute(
    {
      ...asking,
      id: 'answerSiteMcp',
      path: '/v1/sites/readers/:org/:domain/mcp',
      summary: 'Answers a message of the Model Context Protocol of a reader of a site, for its host.',
      params: siteParams,
      key: 'site',
      forReaders: true,
    },
    async (context, request) => answerAgent(context, request),
  ),
  // The standard asks for this answer of a server that has no stream of its own messages and no sessions.
  publicRoute({ ...refused('openMcpStream'), method: 'GET' }, async (_context, { reply }) => refuse(reply)),
  publicRoute({ ...refused('endMcpSession'), method: 'DELETE', limits: [perAddress] }, async (_context, { reply }) =>
    refuse(reply),
  ),
];

function refused<const Id extends string>(id: Id) {
  return {
    id,
    path,
    summary: 'Refuses streams and sessions, which the endpoint does not have.',
    key: 'none',
    params,
    errors: ['method_not_allowed'],
    undocumented: true,
  } as const;
}

function refuse(reply: FastifyReply): never {
  reply.header('allow', 'POST');
  throw new ApiError(
    'method_not_allowed',
    'This endpoint of the Model Context Protocol accepts only POST: it has no sessions.',
  );
}

type AgentRequest = Pick<RouteRequest<RouteDeclaration>, 'ask' | 'request' | 'reply' | 'count'> &
  Pick<RouteRequest<{ key: 'assistant' } & RouteDeclaration>, 'principal'> & {
    domain: Parameters<typeof docsOfDomain>[1]['domain'];
    body: Buffer;
    headers: { 'X-User-Token'?: string | undefined };
  };

async function answerAgent(context: GatewayContext, asked: AgentRequest): Promise<FastifyReply> {
  const { principal, domain, headers, request, reply } = asked;
  await asked.count(messagesIn(asked.body));
  if (isPublicReader(principal)) await checkOrigin(context, asked);
  const trusted = await trustedGroupsOf(domain, principal, headers['X-User-Token'], context.clock.now());
  // Agents name no groups.
  const source = docsOfDomain(context, asked, trusted === 'named' ? [] : trusted);
  // The packages take 25 MB of the process, and many installations have no agents.
  const [{ answerMcp }, { docsServer }] = await Promise.all([
    import('#shared/mcp/answer-mcp.ts'),
    import('#shared/mcp/docs-server.ts'),
  ]);
  const answer = await answerMcp(
    new Request(`http://mcp${request.url}`, {
      method: 'POST',
      headers: mcpHeaders(request.headers),
      body: new Uint8Array(asked.body),
      signal: disconnectSignal(reply.raw),
    }),
    async () => docsServer(source, { name: domain.slug, title: (await source.outline()).name }),
    (error) => request.log.info({ err: error, requestId: request.id }, 'a message of an agent was refused'),
  );
  const type = answer.headers.get('content-type');
  const text = Buffer.from(await answer.arrayBuffer());
  reply.code(answer.status);
  // A notification is answered without a body, and some clients take any media type for one of an answer.
  return type === null ? reply.send() : reply.header('content-type', type).send(text);
}

const mostMessages = 20;

/** The number of messages in a body, each of them a request for the limits. Throws `too_large` above the limit of one body. */
function messagesIn(body: Buffer): number {
  const text = body.toString('utf8').trim();
  const list = text.startsWith('[') ? jsonIn(text) : undefined;
  if (!Array.isArray(list)) return 1;
  if (list.length > mostMessages)
    throw new ApiError('too_large', `The body has more than ${mostMessages} messages. Send them one by one.`);
  return Math.max(1, list.length);
}

/** Throws `origin_not_allowed` for pages that may not ask without a key: those of other sites, also under a name that leads to this server (DNS rebinding). */
async function checkOrigin(
  { sitesFeed }: Pick<GatewayContext, 'sitesFeed'>,
  { principal, domain, request, reply }: AgentRequest,
): Promise<void> {
  const { origin } = request.headers;
  if (origin === undefined) return;
  const site = await sitesFeed.liveSite(principal.organization, domain.slug);
  if (isOriginOf(origin, site?.hosts ?? [])) return;
  reply.removeHeader('access-control-allow-origin');
  throw new ApiError(
    'origin_not_allowed',
    `Pages of "${origin.slice(0, 200)}" may not ask here without a key. Send an assistant key in the header "Authorization: Bearer <key>".`,
  );
}

/** The headers that the protocol has. */
function mcpHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const own = Object.entries(headers).filter(([name]) => name === 'content-type' || name.startsWith('mcp-'));
  return Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
}
