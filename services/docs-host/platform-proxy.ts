import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pipeline } from 'node:stream/promises';
import { readerAddressHeader } from '#shared/contracts/http/assistant.ts';
import { addressGroup } from '#shared/http/rate-limit.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { AskedPlatform } from './config.ts';
import { safeRequest } from './download-bundle.ts';

const mostBodyBytes = 1024 * 1024;
/** Answers under way: each is a connection to the platform. */
const mostAtOnce = 256;
/** Of them, those of one reader's address: a reader who lets answers stand must not keep others from asking. */
const mostOfOne = 64;

/** What pages may ask. The paths are those of the platform, so that the pages need not know that there is a host in between. */
const routes = [
  '/discovery/v1/search/',
  '/discovery/v1/page/',
  '/discovery/v1/feedback/',
  '/discovery/v2/assistant/ /message',
] as const;

/** Headers of a reader that mean something to the platform. Everything else stays here: cookies, keys, addresses. */
const passedOn = ['content-type', 'accept', 'x-thread-key', 'x-stream-finish', 'x-user-token'] as const;
const passedBack =
  /^(content-type|retry-after|ratelimit|ratelimit-policy|x-thread-id|x-thread-key|x-vercel-ai-[a-z-]+)$/;

/**
 * Passes search and questions of this site's own pages on to the platform: four fixed routes, one host, one domain, with the host's key. The
 * key never reaches a reader, and no header of a reader but the few above reaches the platform. It hears the reader's address, which counts
 * there when the key has the scope `proxy`.
 */
export function addPlatformRoutes(
  app: FastifyInstance,
  platform: AskedPlatform,
  base: string,
  ownOrigin: string | undefined,
): void {
  let underWay = 0;
  const underWayBy = new Map<string, number>();
  for (const route of routes) {
    const [before, after = ''] = route.split(' ');
    const upstream = `${platform.url.replace(/\/+$/, '')}${before}${platform.domain}${after}`;
    const url = `${base}${before}${platform.domain}${after}`;
    app.route({
      method: ['PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      url,
      onRequest: async (_request, reply) =>
        refuse(reply.header('allow', 'POST'), 405, 'method_not_allowed', 'Here only POST is answered.'),
      handler: () => {},
    });
    app.route({
      method: 'POST',
      url,
      bodyLimit: mostBodyBytes,
      handler: async (request, reply) => {
        const origin = originProblem(request, ownOrigin);
        if (origin !== undefined) return void refuse(reply, 403, 'origin_not_allowed', origin);
        const reader = addressGroup(request.ip);
        const ofReader = underWayBy.get(reader) ?? 0;
        if (ofReader >= mostOfOne)
          return void refuse(
            reply.header('retry-after', '1'),
            429,
            'rate_limited',
            `${mostOfOne} questions from your address are being answered. Ask again when one of them has its answer.`,
          );
        if (underWay >= mostAtOnce)
          return void refuse(
            reply.header('retry-after', '1'),
            503,
            'unavailable',
            'Too many questions at once. Try again.',
          );
        underWay += 1;
        underWayBy.set(reader, ofReader + 1);
        try {
          await passOn(request, reply, upstream, platform.key);
        } finally {
          underWay -= 1;
          const left = (underWayBy.get(reader) ?? 1) - 1;
          if (left === 0) underWayBy.delete(reader);
          else underWayBy.set(reader, left);
        }
      },
    });
  }
}

async function passOn(request: FastifyRequest, reply: FastifyReply, upstream: string, key: string): Promise<void> {
  const gone = new AbortController();
  // Fastify, the pipeline and we wait for its end: a few more than Node takes for a leak.
  reply.raw.setMaxListeners(20);
  reply.raw.once('close', () => gone.abort());
  const headers: Record<string, string> = { authorization: `Bearer ${key}`, [readerAddressHeader]: request.ip };
  for (const name of passedOn) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  let answer: Awaited<ReturnType<typeof safeRequest>>;
  try {
    answer = await safeRequest(new URL(upstream), {
      method: 'POST',
      headers,
      body: request.body as Buffer,
      signal: gone.signal,
    });
  } catch (error) {
    if (gone.signal.aborted) return;
    request.log.warn(`a question was not answered: ${messageOf(error)}`);
    return void refuse(
      reply.header('retry-after', '5'),
      503,
      'unavailable',
      'Search and assistant cannot be reached now. Try again later.',
    );
  }
  reply.hijack();
  const shown = Object.entries(answer.headers).filter(([name, value]) => passedBack.test(name) && value !== undefined);
  reply.raw.writeHead(answer.statusCode, {
    ...(Object.fromEntries(shown) as Record<string, string>),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  // A reader who goes away, or an answer that breaks off, ends the other side as well.
  await pipeline(answer.body, reply.raw).catch(() => {});
}

/** Why a request is not from a page of this site; browsers always say where a POST comes from. Pure. */
function originProblem(
  { headers }: Pick<FastifyRequest, 'headers'>,
  ownOrigin: string | undefined,
): string | undefined {
  const { origin, host = '', 'sec-fetch-site': site } = headers;
  const isOwn =
    typeof origin === 'string' && URL.canParse(origin) && (origin === ownOrigin || new URL(origin).host === host);
  if (site !== undefined && site !== 'same-origin') return 'Only pages of this site may ask here.';
  return isOwn ? undefined : 'Only pages of this site may ask here.';
}

/** In the form of the platform's errors, which the pages know. */
function refuse(reply: FastifyReply, status: number, code: string, error: string): FastifyReply {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .send({ error, code, requestId: `req_${randomUUID().replaceAll('-', '').slice(0, 22)}` });
}
