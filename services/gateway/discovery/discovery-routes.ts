import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { admissionOf, admitByKey, callerOf, resolveDomain } from '#services/gateway/auth/admission.ts';
import { allowAnyOrigin, answerPreflight, checkOrigin } from '#services/gateway/auth/cross-origin.ts';
import { ApiError } from '#shared/http/errors.ts';
import { callService, serviceAnswerError } from '#shared/http/internal-client.ts';
import { addressGroup } from '#shared/http/rate-limit.ts';
import { clientGone } from '../ask-service.ts';
import type { GatewayContext } from '../context.ts';
import { countRequest, daySeconds, hourSeconds } from '../count-request.ts';

const answerWithinMs = 30_000;
/** The assistant sends a comment well before that. */
const idleMs = 60_000;

/** Headers of the assistant's answers that clients need. */
const passedHeaders = [
  'content-type',
  'cache-control',
  'x-accel-buffering',
  'x-thread-id',
  'x-thread-key',
  'x-vercel-ai-ui-message-stream',
  'x-vercel-ai-data-stream',
];

/** Public path → what the assistant is asked. */
const paths: Readonly<Record<string, AssistantTarget>> = {
  '/discovery/v2/assistant/:domain/message': { path: '/internal/message', protocol: 'v2' },
  '/discovery/v1/assistant/:domain/message': { path: '/internal/message', protocol: 'v1' },
  '/discovery/v1/search/:domain': { path: '/internal/search' },
  '/discovery/v1/page/:domain': { path: '/internal/page' },
  '/discovery/v1/feedback/:domain': { path: '/internal/feedback' },
};

type AssistantTarget = { path: string; protocol?: 'v1' | 'v2' };

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

  for (const path of Object.keys(paths)) app.options(path, answerPreflight);

  await app.register(async (admitted) => {
    // An answer costs its organization nothing but a count, so reading rights are enough.
    admitted.addHook('onRequest', admitByKey(context, { kinds: ['assistant', 'admin'], scope: 'read' }));
    admitted.addHook('onRequest', checkOrigin);
    for (const [path, target] of Object.entries(paths)) {
      admitted.post<DiscoveryRequest>(path, (request, reply) => passThrough(request, reply, target));
    }
    // Chats ask whether an answer goes on that they lost; answers do not outlive their connection.
    admitted.get('/discovery/v2/assistant/:domain/message/:chatId/stream', async (_request, reply) =>
      reply.code(204).send(),
    );
  });

  async function passThrough(
    request: FastifyRequest<DiscoveryRequest>,
    reply: FastifyReply,
    target: AssistantTarget,
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
    const answer = await callService({
      service: 'assistant',
      baseUrl: context.config.assistantUrl,
      serviceToken: context.config.serviceToken,
      method: 'POST',
      path: target.path,
      caller: callerOf(request, domain),
      headers: assistantHeaders(request, parseJson(body), target),
      body,
      signal: clientGone(reply),
      answerWithinMs,
      idleMs,
    });
    if (answer.status >= 300) throw await serviceAnswerError('assistant', answer);
    for (const name of passedHeaders) {
      const value = answer.headers[name];
      if (value !== undefined) reply.header(name, value);
    }
    return reply.code(answer.status).send(answer.body);
  }
}

function assistantHeaders(request: FastifyRequest, body: unknown, target: AssistantTarget): Record<string, string> {
  const passed = ['x-thread-key', 'x-user-token'].flatMap((name) => {
    const value = request.headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return {
    ...Object.fromEntries(passed),
    'content-type': 'application/json',
    'x-bindery-client': clientKind(body, request.headers),
    ...(target.protocol === undefined ? {} : { 'x-bindery-protocol': target.protocol }),
  };
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
