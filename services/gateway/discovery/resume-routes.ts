import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { DomainEntry } from '#shared/aggregates/directory/directory.ts';
import { domainName, organizationId } from '#shared/contracts/identifiers.ts';
import { uiMessageWire } from '#shared/interfaces/http/answer-wire.ts';
import type { AnswerKey, ChatKey, StoredPart } from '#shared/messaging/answer-parts.ts';
import type { Principal } from '../auth/authenticate.ts';
import { trustedGroupsOf } from '../auth/user-token.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';
import { publicRoute } from '../public-route.ts';
import { perAddressPerDay, perHour } from '../rate-limits.ts';
import { chatKeyOf } from './chat-key.ts';
import { followAnswer, lostAfterMs } from './follow-answer.ts';

/** Interval at which a gateway tells the assistant that someone reads. Without a reader an answer goes on for a minute. */
const readingEveryMs = 10_000;
const stopWithinMs = 3_000;
const chatDigits = 22;

const path = '/discovery/v2/assistant/:domain/message/:chatId/stream';
const sitePath = '/v1/sites/readers/:org/:domain/message/:chatId/stream';
const params = z.object({ domain: domainName, chatId: z.string().min(1).max(200) });
const siteParams = z.object({ org: organizationId.meta({ title: 'organization' }), ...params.shape });
const readerHeaders = {
  'X-User-Token': z.string().optional(),
  'X-Reader-Fingerprint': z.string().min(1).max(200).optional(),
};
/** A host of sites names the address of its reader. */
const siteHeaders = { ...readerHeaders, 'X-Reader-Address': z.string().optional() };

/**
 * The chat of a question that asks to be resumable. A client without a chat, or with an id that cannot be in a path, gets the id of a new one. The id is
 * as it is in a path, because a header has few characters.
 */
export function askedChat(
  { config, random }: Pick<GatewayContext, 'config' | 'random'>,
  domain: DomainEntry,
  { organization }: Principal,
  body: unknown,
): { chatId: string; key: ChatKey } | undefined {
  const { id, fp } = (typeof body === 'object' && body !== null ? body : {}) as { id?: unknown; fp?: unknown };
  const isNamed = typeof id === 'string' && params.shape.chatId.safeParse(id).success && !/^\.{1,2}$/.test(id);
  const chatId = isNamed ? id.toWellFormed() : `chat_${random(chatDigits)}`;
  const of = { organization, domain: domain.slug };
  const key = chatKeyOf(config.hashKey, of, chatId, typeof fp === 'string' ? fp : undefined);
  return key && { chatId: encodeURIComponent(chatId), key };
}

/** Notes that a reader has an answer to its end, so that a page that is opened again does not get it twice. */
export function markWhenRead(
  { bus, logger }: Pick<GatewayContext, 'bus' | 'logger'>,
  reply: FastifyReply,
  answerId: string,
): void {
  reply.raw.once('finish', () => {
    bus.resumedAnswers.markSeen(answerId).catch((error: unknown) => {
      logger.warn({ err: error }, 'the end of a resumable answer was not noted');
    });
  });
}

type Asked = {
  principal: Principal;
  domain: DomainEntry;
  params: { chatId: string };
  headers: { 'X-User-Token'?: string | undefined; 'X-Reader-Fingerprint'?: string | undefined };
};

type Found = StoredPart & {
  key: AnswerKey;
  /** True if no further part can come: it has ended, or its assistant is lost. */
  isOver: boolean;
};

/**
 * The newest answer of a chat, if the caller may read it: with a key of its organization and domain, the chat's id, the fingerprint of its reader if the id
 * is guessable, and all restricted groups that the asker was in. A caller cannot tell why there is none.
 */
async function findAnswer(
  { bus, config, clock }: GatewayContext,
  { principal, domain, params: { chatId }, headers }: Asked,
): Promise<Found | 'not theirs' | undefined> {
  const trusted = await trustedGroupsOf(domain, principal, headers['X-User-Token'], clock.now());
  const of = { organization: principal.organization, domain: domain.slug };
  const chat = chatKeyOf(config.hashKey, of, chatId, headers['X-Reader-Fingerprint']);
  const newest = chat && (await askBus(bus.resumedAnswers.newest(chat)));
  if (chat === undefined || newest === undefined) return undefined;
  const { part, answerId, storedAt } = newest;
  if (trusted !== 'named' && !part.groups.every((group) => trusted.includes(group))) return 'not theirs';
  const isLost = clock.now().getTime() - storedAt.getTime() > lostAfterMs;
  return { ...newest, key: { ...chat, answerId }, isOver: part.state === 'ended' || isLost };
}

type Resumed = Asked & {
  headers: Asked['headers'] & { 'Last-Event-ID'?: string | undefined };
  request: FastifyRequest;
  reply: FastifyReply;
};

async function resume(context: GatewayContext, asked: Resumed): Promise<FastifyReply> {
  const { headers, request, reply } = asked;
  const { resumedAnswers: reading } = context.bus;
  const lastEvent = headers['Last-Event-ID'] ?? '';
  const after = Number(lastEvent);
  const found = await findAnswer(context, asked);
  if (found === undefined || found === 'not theirs') return reply.code(204).send();
  const { key, part, isOver } = found;
  const hasAll = part.state === 'ended' && after >= part.first + part.count - 1;
  const isSeen = isOver && lastEvent === '' && (await askBus(reading.isSeen(key.answerId)));
  if (hasAll || isSeen) return reply.code(204).send();
  // Fastify answers HEAD with the handler of GET, and would read the whole answer for a reader who gets nothing of it.
  if (request.method === 'HEAD') return reply.headers(uiMessageWire(part.client).headers).send();
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const answer = await askBus(followAnswer({ reading, key, after, gone: gone.signal }));
  if (answer === undefined) return reply.code(204).send();
  const reads = (): void => reading.signal(key.chat, { kind: 'reading', answerId: key.answerId });
  reads();
  const timer = setInterval(reads, readingEveryMs);
  reply.raw.once('close', () => clearInterval(timer));
  markWhenRead(context, reply, key.answerId);
  return reply
    .headers({
      ...uiMessageWire(part.client).headers,
      ...(answer.threadId !== '' && { 'x-thread-id': answer.threadId }),
    })
    .send(Readable.from(answer.events));
}

async function stop(context: GatewayContext, asked: Asked): Promise<void> {
  const { resumedAnswers: reading } = context.bus;
  const {
    principal,
    domain,
    params: { chatId },
    headers,
  } = asked;
  const of = { organization: principal.organization, domain: domain.slug };
  const chat = chatKeyOf(context.config.hashKey, of, chatId, headers['X-Reader-Fingerprint']);
  const found = await findAnswer(context, asked);
  if (found === 'not theirs') return;
  // The answer to a question that was asked just now may not have begun.
  if (chat !== undefined && (found === undefined || found.isOver)) reading.signal(chat.chat, { kind: 'stop' });
  if (found === undefined || found.isOver) return;
  const ended = Promise.withResolvers<void>();
  const unfollow = reading.onPart(found.key, ({ state }) => {
    if (state === 'ended') ended.resolve();
  });
  reading.signal(found.key.chat, { kind: 'stop' });
  await Promise.race([ended.promise, delay(stopWithinMs, undefined, { ref: false })]);
  unfollow();
  await askBus(reading.markSeen(found.key.answerId));
}

const lastEventId = z
  .string()
  .regex(/^\d{0,9}$/, 'must be the number of an event')
  .optional();

const resuming = {
  method: 'GET',
  limits: [perAddressPerDay('resumed-answers-address', 'assistantPerAddressPerDay')],
  alsoAs: { 'text/event-stream': { description: 'The chunks of the answer, each with its number as `id`.' } },
  answerHeaders: {
    'X-Thread-Id': 'Id of the thread; a message that names it continues it.',
    'X-Vercel-AI-UI-Message-Stream': 'Version of the stream: `v1`.',
  },
  ofProtocol: { 204: { description: 'There is no answer to resume, or a reader has it to its end.' } },
} as const;

const stopping = {
  method: 'DELETE',
  limits: [
    perHour('stopped-answers', 'assistantPerHour'),
    perAddressPerDay('stopped-answers-address', 'assistantPerAddressPerDay'),
  ],
  status: 204,
} as const;

/** The routes by which a reader comes back to an answer, or stops it: with a key, and through a host of sites. */
export const resumeRoutes = [
  publicRoute(
    {
      ...{ id: 'resumeAnswer', path, params, ...resuming },
      summary: 'Resumes the newest answer of a chat: from its first chunk, or after those that the client has.',
      key: 'assistant',
      headers: z.object({ ...readerHeaders, 'Last-Event-ID': lastEventId }),
      crossOrigin: true,
    },
    resume,
  ),
  publicRoute(
    {
      ...{ id: 'stopAnswer', path, params, ...stopping },
      summary: 'Stops the answers of a chat, for all its readers. Their text so far is recorded.',
      key: 'assistant',
      scope: 'read',
      headers: z.object(readerHeaders),
      crossOrigin: true,
    },
    stop,
  ),
  publicRoute(
    {
      ...{ id: 'resumeSiteAnswer', path: sitePath, params: siteParams, ...resuming },
      summary: 'Resumes the newest answer of a chat for a reader of a site, for its host.',
      key: 'site',
      forReaders: true,
      headers: z.object({ ...siteHeaders, 'Last-Event-ID': lastEventId }),
    },
    resume,
  ),
  publicRoute(
    {
      ...{ id: 'stopSiteAnswer', path: sitePath, params: siteParams, ...stopping },
      summary: 'Stops the answers of a chat of a reader of a site, for its host.',
      key: 'site',
      forReaders: true,
      headers: z.object(siteHeaders),
    },
    stop,
  ),
];
