import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { admissionOf, admitByKey, resolveDomain } from '#services/gateway/auth/admission.ts';
import { trustedGroupsOf } from '#services/gateway/auth/user-token.ts';
import { allowAnyOrigin, answerPreflight, checkOrigin } from '#services/gateway/auth/cross-origin.ts';
import { assistant } from '#shared/contracts/internal/assistant.ts';
import { ApiError } from '#shared/http/errors.ts';
import { addressGroup } from '#shared/http/rate-limit.ts';
import { askService } from '../ask-service.ts';
import type { GatewayContext } from '../context.ts';
import { countRequest, daySeconds, hourSeconds } from '../count-request.ts';

/** Public path → what the assistant is asked. */
const calls = {
  '/discovery/v2/assistant/:domain/message': assistant.message,
  '/discovery/v1/assistant/:domain/message': assistant.messageV1,
  '/discovery/v1/search/:domain': assistant.search,
  '/discovery/v1/page/:domain': assistant.page,
  '/discovery/v1/feedback/:domain': assistant.feedback,
} as const;

type AssistantCall = (typeof calls)[keyof typeof calls];

type DiscoveryRequest = { Params: { domain: string }; Body: Buffer | undefined };

/** The assistant, search, pages and feedback: what a documentation site's own pages call. */
export async function discoveryRoutes(app: FastifyInstance, context: GatewayContext): Promise<void> {
  app.addHook('onRequest', allowAnyOrigin);
  app.removeAllContentTypeParsers();
  // The bytes as they came: the assistant gets them unchanged, and the order of keys tells clients apart.
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => body,
  );

  for (const path of Object.keys(calls)) app.options(path, answerPreflight);

  await app.register(async (admitted) => {
    // An answer costs its organization nothing but a count, so reading rights are enough.
    admitted.addHook('onRequest', admitByKey(context, { kinds: ['assistant', 'admin'], scope: 'read' }));
    admitted.addHook('onRequest', checkOrigin);
    for (const [path, call] of Object.entries(calls)) {
      admitted.post<DiscoveryRequest>(path, (request, reply) => passThrough(request, reply, call));
    }
    // Chats ask whether an answer goes on that they lost; answers do not outlive their connection.
    admitted.get('/discovery/v2/assistant/:domain/message/:chatId/stream', async (_request, reply) =>
      reply.code(204).send(),
    );
  });

  async function passThrough(
    request: FastifyRequest<DiscoveryRequest>,
    reply: FastifyReply,
    call: AssistantCall,
  ): Promise<FastifyReply> {
    const { organization, organizationPlan, domains } = admissionOf(request);
    const { assistantPerHour, assistantPerAddressPerDay } = context.config;
    const domain = resolveDomain(domains, request.params.domain);
    await countRequest(context, reply, [
      {
        limit: { name: 'assistant', requests: assistantPerHour[organizationPlan], windowSeconds: hourSeconds },
        key: organization,
      },
      {
        limit: { name: 'assistant-address', requests: assistantPerAddressPerDay, windowSeconds: daySeconds },
        key: addressGroup(request.ip),
      },
    ]);
    const body = request.body ?? Buffer.alloc(0);
    const threadKey = request.headers['x-thread-key'];
    const headers = {
      'x-bindery-client': clientKind(parseJson(body), request.headers),
      ...(typeof threadKey === 'string' ? { 'x-thread-key': threadKey } : {}),
    };
    const trustedGroups = await trustedGroupsOf(request, domain, context.clock.now());
    const answer = await askService(context, { request, reply, domain, trustedGroups }, call, { headers, body });
    return reply
      .code(answer.status)
      .headers({ 'content-type': 'application/json; charset=utf-8', ...answer.headers })
      .send(answer.body);
  }
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new ApiError('invalid_json', undefined, { cause: error });
  }
}

/** `ui`: a chat of the AI SDK, whose validation refuses keys that others need; `plain`: everyone else. */
export type ClientKind = 'ui' | 'plain';

const stockMessageId = /^[0-9A-Za-z]{16}$/;

/**
 * Which kind of client sent a message, told by its body as it was parsed, before any schema reorders keys. Custom ids and proxies break
 * single signs, so any one suffices; the header `x-stream-finish` (`always` or `metadata`) decides without a guess. Pure.
 */
export function clientKind(body: unknown, headers: IncomingHttpHeaders): ClientKind {
  const wish = headers['x-stream-finish'];
  if (wish === 'always') return 'plain';
  if (wish === 'metadata') return 'ui';
  const agent = headers['user-agent'] ?? '';
  if (agent.startsWith('ai-sdk/') || agent.startsWith('ai/')) return 'ui';
  if (!isRecord(body)) return 'plain';
  if (body.trigger === 'submit-message' || body.trigger === 'regenerate-message') return 'ui';
  if (!Array.isArray(body.messages)) return 'plain';
  if (body.id !== undefined) return 'ui';
  return body.messages.some(isStockMessage) ? 'ui' : 'plain';
}

function isStockMessage(message: unknown): boolean {
  if (!isRecord(message)) return false;
  if (message.role === 'assistant') {
    const parts = Array.isArray(message.parts) ? message.parts.filter(isRecord) : [];
    const metadata = isRecord(message.metadata) ? message.metadata : {};
    return parts.some((part) => part.type === 'step-start' || 'state' in part) || metadata.threadId !== undefined;
  }
  if (message.role !== 'user') return false;
  const hasStockId = typeof message.id === 'string' && stockMessageId.test(message.id);
  return hasStockId && Object.keys(message)[0] === 'parts';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
