import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiKey } from '#shared/aggregates/directory/directory.ts';
import { searchNoticeHeader } from '#shared/interfaces/http/assistant.ts';
import { ApiError } from '#shared/http/errors.ts';

const preflightSeconds = 86_400;

/** The headers of an answer that scripts of other sites may read. */
export const exposedHeaders = [
  'x-thread-id',
  'x-thread-key',
  'x-chat-id',
  'x-vercel-ai-ui-message-stream',
  'x-vercel-ai-data-stream',
  searchNoticeHeader,
  'x-request-id',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'www-authenticate',
].join(', ');

/** Before the key is known, any site may read the answer; otherwise it could not read errors. Credentials are never allowed. */
export function allowAnyOrigin(reply: FastifyReply): void {
  reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedHeaders });
}

/** Checks the origin once the key is known: a key with allowed origins serves only these. A request without `Origin` does not come from a browser. */
export function checkOrigin(request: FastifyRequest, reply: FastifyReply, { allowedOrigins }: ApiKey): void {
  if (allowedOrigins.length === 0) return;
  reply.header('vary', 'Origin');
  const { origin } = request.headers;
  if (origin === undefined) return;
  reply.removeHeader('access-control-allow-origin');
  if (!allowedOrigins.includes(origin)) {
    throw new ApiError('origin_not_allowed', `The API key may not be used from "${origin.slice(0, 200)}".`);
  }
  reply.header('access-control-allow-origin', origin);
}

/** Answers the preflight request of browsers. It comes without a key. */
export async function answerPreflight(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const wanted = request.headers['access-control-request-headers'];
  return reply
    .code(204)
    .headers({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      // The requested headers are reflected, because some clients set others, and `*` does not cover `authorization`.
      'access-control-allow-headers': wanted ?? 'authorization, content-type',
      'access-control-max-age': String(preflightSeconds),
      vary: 'Access-Control-Request-Headers',
    })
    .send();
}
