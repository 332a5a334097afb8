import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { mcpPath, preflightHeaders } from './agent-answers.ts';
import { readerAddressHeader } from '#shared/interfaces/http/assistant.ts';
import { isOriginOf } from '#shared/http/own-origin.ts';
import { addressGroup } from '#shared/http/rate-limit.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { AskedPlatform } from './config.ts';
import { safeRequest } from './download-bundle.ts';
import { type ReaderShares, readerShares } from './reader-shares.ts';
import type { SitesPlatform } from './sites-settings.ts';

const mostBodyBytes = 1024 * 1024;
/** Limits of answers in flight. Each answer holds a connection to the platform. */
const answersUnderWay = { mostOfAll: 256, mostOfOne: 64 };
const answersOfSite = { mostOfAll: 256, mostOfOne: 192 };
/** Limits of the bytes of questions in memory. Bytes count from their arrival until the answer has ended. */
const questionBytes = { mostOfAll: 64 * 1024 * 1024, mostOfOne: 8 * 1024 * 1024 };

/** Routes that pages may call, and the last part of the platform's route for hosts of sites. The paths are the platform's, so pages need not know about the host. */
const routes = [
  ['/discovery/v1/search/:domain', 'search'],
  ['/discovery/v1/page/:domain', 'page'],
  ['/discovery/v1/feedback/:domain', 'feedback'],
  ['/discovery/v2/assistant/:domain/message', 'message'],
  ['/discovery/v1/mcp/:domain', 'mcp'],
] as const;

/** True for the path, below that of the site, at which a reader comes back to an answer. */
export const isAnswerOfChat = (path: string): boolean =>
  /^\/discovery\/v2\/assistant\/[^/]+\/message\/[^/]+\/stream$/.test(path);

/** The path of a route on this host. Agents (MCP) get one that is the same for all sites. */
const pathHere = ([path, name]: (typeof routes)[number]): string => (name === 'mcp' ? mcpPath : path);

/** The site whose pages ask, found from the request and the domain in its path. */
type Asked = {
  /** Identity of the site; sites share the limits of this host. */
  site: string;
  /** Address of the platform's route, and a key for it. */
  upstream: string;
  key: string;
  /** True for the origin of a page of the site. */
  isOwn: (origin: string, host: string) => boolean;
  /** True if the site's address is known, so that no other name that leads to this host counts as its own. */
  isNamed: boolean;
  onSearch?: OnSearch | undefined;
};

/** A site of a platform whose pages ask through this host, with the host names of its pages. */
export type AskedSite = {
  organization: string;
  domain: string;
  hosts: readonly string[];
  onSearch?: OnSearch;
};

/** Called with each answered search: its query, true if nothing was found, and a text that tells its reader from others. */
type OnSearch = (query: string, isEmpty: boolean, reader: string) => void;

/** Finds the site that a request asks; undefined: there is none, or it does not ask. */
type AskedBy = {
  base: string;
  /** The domain in the paths of the routes: a name, or a parameter. */
  domain: string;
  of: (request: IncomingMessage, asked: string | undefined, route: (typeof routes)[number]) => Asked | undefined;
};

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/**
 * The only site of a host, which asks with an assistant key. If the site's address is known, only that is accepted: `Host` is the name that the browser
 * used for the server, which may be any name that resolves here (DNS rebinding). Pure.
 */
export function oneAsked({ url, key, domain }: AskedPlatform, base: string, siteUrl: string | undefined): AskedBy {
  const ownOrigin = siteUrl === undefined ? undefined : new URL(siteUrl).origin;
  return {
    base,
    domain,
    of: (_request, _domain, [path]) => ({
      site: domain,
      upstream: withoutSlash(url) + path.replace(':domain', domain),
      key,
      isNamed: ownOrigin !== undefined,
      isOwn: (origin, host) => (ownOrigin === undefined ? URL.parse(origin)?.host === host : origin === ownOrigin),
    }),
  };
}

/** The sites of a platform, which ask with the key of the host. A host name leads to its site alone, so an origin is a site's own by its host name. Pure. */
export function askedOfSites(
  { url, key }: SitesPlatform,
  siteOf: (request: IncomingMessage) => AskedSite | undefined,
): AskedBy {
  return {
    base: '',
    domain: ':domain',
    of(request, asked, [, route]) {
      const site = siteOf(request);
      if (site === undefined || (asked !== undefined && site.domain !== asked)) return undefined;
      const { organization, domain, hosts, onSearch } = site;
      return {
        site: `${organization}/${domain}`,
        upstream: `${withoutSlash(url)}/v1/sites/readers/${organization}/${domain}/${route}`,
        key,
        isNamed: true,
        isOwn: (origin) => hosts.includes(URL.parse(origin)?.hostname ?? ''),
        onSearch: route === 'search' ? onSearch : undefined,
      };
    },
  };
}

/** Headers of a reader that the platform needs. All others are dropped: cookies, keys, addresses. */
const passedOn: ReadonlySet<string> = new Set([
  'content-type',
  'accept',
  'x-thread-key',
  'x-stream-finish',
  'x-user-token',
  ...['x-resumable', 'x-reader-fingerprint', 'last-event-id'],
]);
const passedBack =
  /^(content-type|retry-after|ratelimit|ratelimit-policy|x-search-notice|x-thread-id|x-thread-key|x-chat-id|x-vercel-ai-[a-z-]+)$/;

/**
 * Passes search and questions of a site's own pages on to the platform: fixed routes, one server, one domain, with the host's key. The key
 * never reaches a reader, and only the headers above reach the platform. The platform also gets the reader's address, which it uses for limits.
 */
export function addPlatformRoutes(app: FastifyInstance, { base, domain, of }: AskedBy): void {
  const answers = readerShares(answersUnderWay);
  const answersOfSites = readerShares(answersOfSite);
  const bodies = readerShares(questionBytes);
  for (const route of routes) {
    const url = base + pathHere(route).replace(':domain', domain);
    const isForAgents = route[1] === 'mcp';
    const asked = new WeakMap<FastifyRequest, Asked>();
    const find = (request: FastifyRequest): Asked | undefined =>
      of(request.raw, isForAgents ? undefined : ((request.params as { domain?: string }).domain ?? domain), route);
    if (isForAgents)
      app.route({
        method: 'OPTIONS',
        url,
        onRequest: async (request, reply) => {
          const found = find(request);
          if (found === undefined) return refuse(reply, 404, 'not_found', nothingHere);
          const problem = agentProblem(request, found);
          if (problem !== undefined) return refuse(reply, 403, 'origin_not_allowed', problem);
          return reply.code(204).headers(preflightHeaders(request)).send();
        },
        handler: () => {},
      });
    app.route({
      method: ['PUT', 'PATCH', 'DELETE', ...(isForAgents ? [] : ['OPTIONS'])],
      url,
      onRequest: async (_request, reply) =>
        refuse(reply.header('allow', 'POST'), 405, 'method_not_allowed', 'This address accepts only POST.'),
      handler: () => {},
    });
    app.route({
      method: 'POST',
      url,
      bodyLimit: mostBodyBytes,
      // The origin is checked before the body is read, because a refused request needs no body.
      onRequest: async (request, reply) => {
        const found = find(request);
        if (found === undefined) return refuse(reply, 404, 'not_found', nothingHere);
        const problem = isForAgents ? agentProblem(request, found) : originProblem(request, found);
        if (problem !== undefined) return refuse(reply, 403, 'origin_not_allowed', problem);
        asked.set(request, found);
        return undefined;
      },
      preParsing: async (request, reply, payload) => metered(payload, bodies, addressGroup(request.ip), reply),
      errorHandler,
      handler: async (request, reply) => {
        const found = asked.get(request);
        if (found !== undefined) await inItsShare(request, reply, found);
      },
    });
    // The answer of a chat: a reader comes back to it, or stops it.
    if (route[1] === 'message')
      app.route({
        method: ['GET', 'DELETE'],
        url: `${url}/:chatId/stream`,
        exposeHeadRoute: false,
        onRequest: async (request, reply) => {
          const found = find(request);
          if (found === undefined) return refuse(reply, 404, 'not_found', nothingHere);
          const problem = originProblem(request, found, request.method === 'GET');
          if (problem !== undefined) return refuse(reply, 403, 'origin_not_allowed', problem);
          const { chatId } = request.params as { chatId: string };
          asked.set(request, { ...found, upstream: `${found.upstream}/${encodeURIComponent(chatId)}/stream` });
          return undefined;
        },
        errorHandler,
        handler: async (request, reply) => {
          const found = asked.get(request);
          if (found !== undefined) await inItsShare(request, reply, found);
        },
      });
  }

  async function inItsShare(request: FastifyRequest, reply: FastifyReply, found: Asked): Promise<void> {
    const reader = addressGroup(request.ip);
    const spent = answers.take(reader, 1);
    if (spent !== undefined) throw new Spent(reply, spent);
    try {
      // The limit of answers for one site leaves room for other sites.
      if (answersOfSites.take(found.site, 1) !== undefined) throw new Spent(reply, 'all');
      try {
        await passOn(request, reply, found);
      } finally {
        answersOfSites.giveBack(found.site, 1);
      }
    } finally {
      answers.giveBack(reader, 1);
    }
  }
}

function errorHandler(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const { statusCode: status = 500, message } = error;
  if (status >= 500 && !(error instanceof Spent)) request.log.error({ err: error }, 'a question failed');
  if (reply.raw.headersSent) return void reply.raw.destroy();
  const said = status < 500 || error instanceof Spent ? message : 'Something went wrong here.';
  refuse(reply, status, codes[status] ?? (status < 500 ? 'invalid_request' : 'internal_error'), said);
}

/** A request exceeds the share of its reader, or the limit of all readers together. */
class Spent extends Error {
  readonly statusCode: number;
  constructor(reply: FastifyReply, whose: 'one' | 'all') {
    super(
      whose === 'one'
        ? 'Too many questions from your address are being answered. Ask again when one of them has its answer.'
        : 'Too many questions at once. Try again.',
    );
    this.statusCode = whose === 'one' ? 429 : 503;
    reply.header('retry-after', '1');
  }
}

const nothingHere = 'This site has no search or assistant at this address.';

const codes: Readonly<Record<number, string>> = {
  413: 'too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  503: 'unavailable',
};

/** The body of a question, limited by the remaining share. */
function metered(payload: RequestPayload, bodies: ReaderShares, reader: string, reply: FastifyReply): Transform {
  let held = 0;
  reply.raw.once('close', () => bodies.giveBack(reader, held));
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const spent = bodies.take(reader, chunk.length);
      if (spent === undefined) {
        held += chunk.length;
        return done(null, chunk);
      }
      // The rest of the body is not read.
      payload.unpipe(meter);
      reply.header('connection', 'close');
      done(new Spent(reply, spent));
    },
  });
  // A pipeline would close the connection on an error, and the error could not be answered.
  payload.pipe(meter);
  return meter;
}

/** Characters of an answer that show if it is an empty list. */
const longestEmptyAnswer = 100;

function queryIn(body: Buffer): string | undefined {
  const asked = jsonIn(body.toString('utf8'));
  return typeof asked === 'object' && asked !== null && 'query' in asked && typeof asked.query === 'string'
    ? asked.query
    : undefined;
}

async function passOn(request: FastifyRequest, reply: FastifyReply, { upstream, key, onSearch }: Asked): Promise<void> {
  const gone = new AbortController();
  // Fastify, the pipeline and this code all listen for the end, which exceeds Node's limit for a suspected leak.
  reply.raw.setMaxListeners(20);
  reply.raw.once('close', () => gone.abort());
  const headers: Record<string, string> = { authorization: `Bearer ${key}`, [readerAddressHeader]: request.ip };
  for (const [name, value] of Object.entries(request.headers))
    if (typeof value === 'string' && (passedOn.has(name) || name.startsWith('mcp-'))) headers[name] = value;
  let answer: Awaited<ReturnType<typeof safeRequest>>;
  try {
    answer = await safeRequest(new URL(upstream), {
      method: request.method as 'GET' | 'POST' | 'DELETE',
      headers,
      body: request.method === 'POST' ? (request.body as Buffer) : null,
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
  if (onSearch !== undefined && answer.statusCode === 200) {
    const query = queryIn(request.body as Buffer);
    let beginning = '';
    answer.body.on('data', (chunk: Buffer) => {
      if (beginning.length < longestEmptyAnswer) beginning += chunk.toString('latin1', 0, longestEmptyAnswer);
    });
    answer.body.once('end', () => {
      if (query !== undefined) onSearch(query, /^\s*\[\s*\]\s*$/.test(beginning), addressGroup(request.ip));
    });
  }
  // If the reader disconnects or the answer breaks off, the other side is closed as well.
  await pipeline(answer.body, reply.raw).catch(() => {});
}

/**
 * Says why a request does not come from a page of this site. Browsers always send the origin of a POST or DELETE, and none of a GET of the page's own
 * site (`isRead`). Pure.
 */
function originProblem(
  { headers }: Pick<FastifyRequest, 'headers'>,
  { isOwn }: Pick<Asked, 'isOwn'>,
  isRead = false,
): string | undefined {
  const { origin, host = '', 'sec-fetch-site': site } = headers;
  const isOfPage = origin === undefined ? isRead : isOwn(origin, host);
  const isSame = isOfPage && (site === undefined || site === 'same-origin');
  return isSame ? undefined : 'Only pages of this site may ask here.';
}

/**
 * Says why a request is not from an agent: programs send no origin, and pages only if they are of this site or on the reader's own machine, as a tool for
 * developers. Other names that lead here are refused (DNS rebinding). Pure.
 */
function agentProblem(
  { headers }: Pick<FastifyRequest, 'headers'>,
  { isOwn, isNamed }: Pick<Asked, 'isOwn' | 'isNamed'>,
): string | undefined {
  const { origin, host = '' } = headers;
  const isAllowed = origin === undefined || isOriginOf(origin, []) || (isNamed && isOwn(origin, host));
  return isAllowed ? undefined : 'Pages of other sites may not ask here.';
}

/** Refuses in the form of the platform's errors, which pages can read. */
function refuse(reply: FastifyReply, status: number, code: string, error: string): FastifyReply {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .send({ error, code, requestId: `req_${randomUUID().replaceAll('-', '').slice(0, 22)}` });
}
