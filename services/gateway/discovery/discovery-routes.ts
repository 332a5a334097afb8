import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { dataStreamWire, uiMessageWire } from '#shared/interfaces/http/answer-wire.ts';
import { threadAnswerSchema } from '#shared/interfaces/http/assistant.ts';
import type { DomainEntry } from '#shared/aggregates/directory/directory.ts';
import { domainName, organizationId, threadId } from '#shared/contracts/identifiers.ts';
import { assistant } from '#shared/interfaces/internal/assistant.ts';
import type { ApiKeyKind } from '#shared/http/api-key.ts';
import { ApiError } from '#shared/http/errors.ts';
import { trustedGroupsOf } from '../auth/user-token.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { publicRoute, type RouteDeclaration, type RouteRequest } from '../public-route.ts';
import { askedChat, markWhenRead, resumeRoutes } from './resume-routes.ts';
import { endedAnswer } from './ended-answer.ts';
import { tokenBudget } from './token-budget.ts';
import { changes, perAddressPerDay, perHour } from '../rate-limits.ts';

const params = z.object({ domain: domainName });
const siteParams = z.object({ org: organizationId.meta({ title: 'organization' }), ...params.shape });
const threadParams = params.extend({ threadId: threadId.meta({ title: 'thread' }) });

type AssistantCall = Exclude<
  (typeof assistant)[keyof typeof assistant],
  typeof assistant.readThread | typeof assistant.eraseThread
>;

/** The headers of a reader that the assistant gets. */
const readerHeaders = (call: AssistantCall) =>
  z.object({
    ...(call === assistant.message ? { 'X-Resumable': z.string().optional() } : {}),
    'X-User-Token': z.string().optional(),
    'X-Thread-Key': z.string().optional(),
    'X-Reader-Address': z.string().optional(),
    ...(call === assistant.messageV1 ? { 'X-Stream-Sources': z.string().optional() } : {}),
  });

type RouteAnswer = {
  stream?: { type: string; description: string };
  answerHeaders?: Readonly<Record<string, string>>;
};

/** The parts of the declaration that the two routes of an assistant call share. */
const askingOf = (call: AssistantCall, { stream, answerHeaders }: RouteAnswer) =>
  ({
    method: 'POST',
    headers: readerHeaders(call),
    body: { passedOn: call.body },
    limits: [
      perHour('assistant', 'assistantPerHour'),
      perAddressPerDay('assistant-address', 'assistantPerAddressPerDay'),
    ],
    ...(call.answer === 'stream' ? {} : { answer: call.answer }),
    ...(stream && { alsoAs: { [stream.type]: { description: stream.description } } }),
    ...(answerHeaders && { answerHeaders }),
  }) as const;

/** A route of documentation sites: the assistant gets the unchanged bytes of the body, and its answer is streamed back. */
const siteRoute = (
  id: string,
  path: `/${string}/:domain${string}`,
  summary: string,
  call: AssistantCall,
  answer: RouteAnswer = {},
) =>
  publicRoute(
    {
      ...{ id, path, summary, params },
      ...askingOf(call, answer),
      key: 'assistant',
      // An answer only adds to counts, so reading rights are enough.
      scope: 'read',
      errors: call === assistant.search ? [...call.errors, 'wrong_key_kind'] : call.errors,
      crossOrigin: true,
    },
    async (context, request) => answerReader(context, call, request),
  );

/** The variant of a site route for a host of sites, which asks for readers of one site. */
const hostRoute = (
  id: string,
  path: `/${string}/:domain${string}`,
  summary: string,
  call: AssistantCall,
  answer: RouteAnswer = {},
) =>
  publicRoute(
    {
      ...{ id, path, summary, params: siteParams },
      ...askingOf(call, answer),
      key: 'site',
      forReaders: true,
      errors: call.errors,
    },
    async (context, request) => answerReader(context, call, request),
  );

type ReaderRequest = Pick<RouteRequest<RouteDeclaration>, 'ask' | 'request' | 'reply'> & {
  principal: Principal;
  domain: DomainEntry;
  body: Buffer;
  headers: z.output<ReturnType<typeof readerHeaders>>;
};

/** True if the header `X-Resumable` asks for an answer that can be resumed. */
const wantsToResume = (header: unknown): boolean =>
  typeof header === 'string' && !['', '0', 'false', 'never', 'no'].includes(header.trim().toLowerCase());

async function answerReader(
  context: GatewayContext,
  call: AssistantCall,
  { principal, domain, body, headers, ask, request, reply }: ReaderRequest,
): Promise<FastifyReply> {
  const parsed = parseJson(body);
  if (call === assistant.search) checkExplaining(parsed, principal.key.kind);
  const sources: 'lines' | 'tool' = readsSources(parsed, request.headers) ? 'lines' : 'tool';
  const client = clientKind(parsed, request.headers);
  const asksToResume = call === assistant.message && wantsToResume(headers['X-Resumable']);
  const resumable = asksToResume ? askedChat(context, domain, principal, parsed) : undefined;
  const parts = {
    body,
    headers: {
      'x-bindery-client': client,
      'x-bindery-chat': resumable?.key.chat,
      'x-bindery-sources': sources,
      'x-thread-key': headers['X-Thread-Key'],
    },
  };
  const trustedGroups = await trustedGroupsOf(domain, principal, headers['X-User-Token'], context.clock.now());
  const budget = call.answer === 'stream' ? tokenBudget(context, reply, principal) : undefined;
  await budget?.check();
  const answer = await ask(call, domain, parts, trustedGroups, { goesOn: resumable !== undefined });
  budget?.takeWhenEnded(answer);
  const {
    'x-bindery-prompt-tokens': _,
    'x-bindery-answer': answerId,
    ...answerHeaders
  }: Record<string, string | undefined> = answer.headers;
  const kept = resumable && answerId !== undefined ? { chat: resumable.key.chat, answerId } : undefined;
  const resumed = context.bus.resumedAnswers;
  const onLeft = () => kept && resumed.signal(kept.chat, { kind: 'left', answerId: kept.answerId });
  if (kept !== undefined) markWhenRead(context, reply, kept.answerId);
  const wire = call === assistant.messageV1 ? dataStreamWire({ sources: false }) : uiMessageWire(client);
  const ended = (stream: Readable): Readable =>
    endedAnswer(
      stream,
      wire,
      answerHeaders['x-thread-id'] ?? '',
      (error) => request.log.warn({ err: error }, 'the assistant broke off an answer'),
      kept && { onLeft },
    );
  // The reader of a call that goes on may have left before the answer began.
  if (resumable !== undefined && reply.raw.destroyed) {
    if (kept === undefined) answer.body.destroy();
    else answer.body.resume();
    answer.body.on('error', () => {});
    onLeft();
    return reply.hijack();
  }
  return reply
    .code(answer.status)
    .headers({
      'content-type': 'application/json; charset=utf-8',
      ...answerHeaders,
      ...(kept && { 'x-chat-id': resumable?.chatId }),
    })
    .send(call.answer === 'stream' ? ended(answer.body) : answer.body);
}

const threadHeaders = {
  'X-Thread-Id': 'Id of the thread; a message that names it continues it.',
  'X-Thread-Key': 'Key of a new thread; together with the id it proves that a request comes from its reader.',
};

const messageAnswer: RouteAnswer = {
  stream: {
    type: 'text/event-stream',
    description: 'The chunks of the answer. The last one, `finish`, has the `threadId`.',
  },
  answerHeaders: {
    ...threadHeaders,
    'X-Vercel-AI-UI-Message-Stream': 'Version of the stream: `v1`.',
    'X-Chat-Id': 'Id by which the answer can be resumed and stopped, if it can; encoded as in a path.',
  },
};
const searchAnswer: RouteAnswer = {
  answerHeaders: {
    'X-Search-Notice': 'A sentence for the reader, if the question is in another language than the passages.',
  },
};

/** The routes that pages of a documentation site call: assistant, search, pages and feedback; and conversations, for their organization. */
export const discoveryRoutes = [
  siteRoute(
    'answerQuestion',
    '/discovery/v2/assistant/:domain/message',
    'Answers a question as a UI message stream of the AI SDK, version 5 or later.',
    assistant.message,
    messageAnswer,
  ),
  siteRoute(
    'answerQuestionV1',
    '/discovery/v1/assistant/:domain/message',
    'Answers a question as a data stream of the AI SDK, version 4.',
    assistant.messageV1,
    {
      stream: { type: 'text/plain', description: 'The parts of the answer, one per line.' },
      answerHeaders: { ...threadHeaders, 'X-Vercel-AI-Data-Stream': 'Version of the stream: `v1`.' },
    },
  ),
  siteRoute(
    'searchPassages',
    '/discovery/v1/search/:domain',
    'Finds the best passages for a query.',
    assistant.search,
    searchAnswer,
  ),
  siteRoute('readPage', '/discovery/v1/page/:domain', 'Reads the Markdown of a page.', assistant.page),
  siteRoute('rateAnswer', '/discovery/v1/feedback/:domain', 'Rates an answer.', assistant.feedback),
  hostRoute(
    'answerSiteQuestion',
    '/v1/sites/readers/:org/:domain/message',
    'Answers a question of a reader of a site, for its host. The site has to be open, and to pass questions on.',
    assistant.message,
    messageAnswer,
  ),
  hostRoute(
    'searchSite',
    '/v1/sites/readers/:org/:domain/search',
    'Finds passages for a reader of a site, for its host.',
    assistant.search,
    searchAnswer,
  ),
  hostRoute(
    'readSitePage',
    '/v1/sites/readers/:org/:domain/page',
    'Reads the Markdown of a page for a reader of a site, for its host.',
    assistant.page,
  ),
  hostRoute(
    'rateSiteAnswer',
    '/v1/sites/readers/:org/:domain/feedback',
    'Rates an answer for a reader of a site, for its host.',
    assistant.feedback,
  ),
  publicRoute(
    {
      id: 'readThread',
      method: 'GET',
      path: '/v1/assistant/:domain/threads/:threadId',
      summary: 'Reads a conversation: its questions, answers, sources and ratings.',
      key: 'admin',
      params: threadParams,
      answer: threadAnswerSchema,
      errors: assistant.readThread.errors,
    },
    async (_context, { domain, params: { threadId }, ask }) => {
      const answer = await ask(assistant.readThread, domain, { params: { threadId } });
      return await answer.json();
    },
  ),
  publicRoute(
    {
      id: 'eraseThread',
      method: 'DELETE',
      path: '/v1/assistant/:domain/threads/:threadId',
      summary: 'Erases a conversation completely.',
      key: 'admin',
      params: threadParams,
      limits: [changes],
      status: 204,
      errors: assistant.eraseThread.errors,
    },
    async (_context, { domain, params: { threadId }, ask }) => {
      const answer = await ask(assistant.eraseThread, domain, { params: { threadId } });
      answer.body.resume();
    },
  ),
  ...resumeRoutes,
];

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new ApiError('invalid_json', undefined, { cause: error });
  }
}

/** The details of ranking are for the authors of a site, and an assistant key is public. */
function checkExplaining(body: unknown, kind: ApiKeyKind): void {
  if (kind === 'admin' || !isRecord(body) || body.explain !== true) return;
  throw new ApiError(
    'wrong_key_kind',
    'The field "explain" needs an admin key (svc_…); assistant keys (svc_dsc_…) are public. Use an admin key, or leave it out.',
  );
}

/** `ui`: a chat of the AI SDK, whose validation refuses keys that others need; `plain`: all others. */
export type ClientKind = 'ui' | 'plain';

const stockMessageId = /^[0-9A-Za-z]{16}$/;

/**
 * The kind of client that sent a message, detected from the parsed body before any schema reorders keys. Custom ids and proxies may hide some of the
 * signs of an AI SDK, so one sign is enough. The header `x-stream-finish` (`always` or `metadata`) decides explicitly. Pure.
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

/**
 * True if a client of AI SDK 4 reads lines of sources: 4.1.35 and later do, and earlier versions fail the whole message. The first body of a chat is
 * the same in both, so only an answer that the client sends back shows it; the header `x-stream-sources` (`always` or `never`) decides explicitly.
 * Pure.
 */
export function readsSources(body: unknown, headers: IncomingHttpHeaders): boolean {
  const wish = headers['x-stream-sources'];
  if (wish === 'always' || wish === 'never') return wish === 'always';
  if (!isRecord(body) || !Array.isArray(body.messages)) return false;
  return body.messages
    .filter(isRecord)
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ parts }) => (Array.isArray(parts) ? parts.filter(isRecord) : []))
    .some((part) => part.type === 'source' || part.type === 'step-start' || 'details' in part);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
