import type { FastifyInstance, FastifyReply } from 'fastify';
import { fingerprintHashOf } from '#shared/aggregates/thread/decide.ts';
import { withTurn } from '#shared/aggregates/thread/thread.ts';
import { type MessageBody, searchNoticeHeader } from '#shared/interfaces/http/assistant.ts';
import { assistant } from '#shared/interfaces/internal/assistant.ts';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import { ApiError } from '#shared/http/errors.ts';
import {
  answerCall,
  type CallRequest,
  internalApp,
  type InternalServerOptions,
} from '#shared/interfaces/internal/internal-server.ts';
import { findLines } from '#shared/search/find-lines.ts';
import { linePattern, PatternRefused } from '#shared/search/line-pattern.ts';
import { wordsWith } from '#shared/search/ranking/analyze-text.ts';
import { languageNotice } from '#shared/search/ranking/language-notice.ts';
import { budgetedThreads } from './conversation-budget.ts';
import { claimedTurns, lastQuestion } from './answer-prompt.ts';
import { answerQuestion, type QuestionToAnswer } from './answer-question.ts';
import { type AnswerWire, dataStreamWire, uiMessageWire } from '#shared/interfaces/http/answer-wire.ts';
import {
  type AssistantContext,
  pagePathOf,
  pageUrl,
  requireIndex,
  retrievePassages,
  searchedContent,
  trustedGroups,
} from './retrieval.ts';
import { threadView } from './thread-view.ts';
import { type Thread, threads } from './threads.ts';

const defaultPageSize = 10;

/** The assistant's HTTP server: questions, ratings of answers, search, and pages as Markdown. */
export function assistantApp(context: AssistantContext, options: InternalServerOptions): FastifyInstance {
  const app = internalApp('assistant', options);
  const { bus, searchIndex, hashKey } = context;
  const log = budgetedThreads(bus.threads, bus.conversationSizes, {
    ...context,
    onUncounted: (error) => context.logger.error({ err: error }, 'the storage of conversations could not be counted'),
  });
  const stored = threads(log, context.clock, context.random);

  answerCall(app, assistant.message, (request) => {
    const { 'x-bindery-client': client, 'x-bindery-chat': chat } = request.headers;
    const wire = uiMessageWire(client, { isNumbered: chat !== undefined });
    return answer(request, wire, chat === undefined ? undefined : { chat, client, askedAtMs: performance.now() });
  });
  answerCall(app, assistant.messageV1, (request) =>
    answer(request, dataStreamWire({ sources: request.headers['x-bindery-sources'] === 'lines' })),
  );

  /** A failure before the first byte is answered as an HTTP error; later failures are reported in the stream. */
  async function answer(
    request: CallRequest<typeof assistant.message> | CallRequest<typeof assistant.messageV1>,
    wire: AnswerWire,
    resumable?: QuestionToAnswer['resumable'],
  ): Promise<FastifyReply> {
    const { caller, body, reply, log } = request;
    const question = lastQuestion(body);
    await stored.checkBudget(caller.organization);
    const thread = await threadOf(body, caller, request.headers['x-thread-key'] ?? body.threadKey ?? undefined);
    // The stored thread is authoritative: earlier messages that the client sends are ignored.
    const turns =
      thread.stored === undefined
        ? claimedTurns(body.messages)
        : withTurn(await stored.turns(thread), { role: 'user', text: question });
    const toAnswer = { caller, body, thread, turns, question, wire, resumable };
    const answering = answerQuestion({ ...context, threads: stored, log }, reply, toAnswer);
    // An answer may outlast its connection, so the server's end does not wait for it.
    context.keeping?.inFlight.add(answering);
    await answering.finally(() => context.keeping?.inFlight.delete(answering));
    return reply;
  }

  async function threadOf(body: MessageBody, caller: Caller, threadKey: string | undefined): Promise<Thread> {
    const { organization, domain } = caller;
    const owner = fingerprintHashOf(hashKey, organization, domain, body.fp);
    if (!body.threadId) return stored.begin(organization, domain, owner);
    return stored.resume({ organization, domain, threadId: body.threadId }, owner, threadKey);
  }

  answerCall(app, assistant.feedback, async ({ caller, body, headers }) => {
    const { threadId, messageId, rating, comment } = body;
    await stored.rate(
      { organization: caller.organization, domain: caller.domain, threadId },
      { messageId, rating, ...(comment ? { comment } : {}) },
      headers['x-thread-key'] ?? body.threadKey ?? undefined,
      caller,
    );
    return { body: { threadId, messageId, rating } };
  });

  answerCall(app, assistant.readThread, async ({ caller: { organization, domain }, params: { threadId } }) => {
    const commits = await stored.history({ organization, domain, threadId });
    return { body: threadView(commits, context.clock.now(), context.answerTimeoutMs) };
  });

  answerCall(app, assistant.eraseThread, async ({ caller, params: { threadId } }) => {
    const { organization, domain } = caller;
    await stored.erase({ organization, domain, threadId }, caller);
    return { body: {} };
  });

  answerCall(app, assistant.search, async ({ caller, body }) => {
    const { query, pageSize, scoreThreshold, filter, explain } = body;
    const scope = await searchedContent(context, caller);
    if (!scope) return { body: [], headers: {} };
    const limit = pageSize ?? defaultPageSize;
    const all = await retrievePassages(context, caller, scope, { query, limit, filter, explain: explain === true });
    if (all.length === 0) await requireIndex(context, scope);
    const found = all.filter(({ score }) => score >= (scoreThreshold ?? 0));
    const notice = languageNotice(query, found)?.inEnglish;
    return {
      headers: notice === undefined ? {} : { [searchNoticeHeader]: notice },
      body: found.map(
        ({ path, anchor, title, heading, text, score, coverage, language, version, tag, terms, explanation }) => {
          const shown = { title, heading, url: pageUrl(path, anchor), score, highlights: wordsWith(text, terms) };
          const explained = explanation && { explanation: { coverage, ...explanation } };
          return { content: text, path, metadata: { ...shown, language, version, tag, ...explained } };
        },
      ),
    };
  });

  answerCall(
    app,
    assistant.findLines,
    async ({ caller, body: { pattern, isExpression, isCaseSensitive, ...search } }) => {
      const compiled = await linePattern(pattern, { isExpression, isCaseSensitive }).catch((error: unknown) => {
        throw error instanceof PatternRefused
          ? new ApiError('invalid_request', error.message, { cause: error })
          : error;
      });
      const scope = await searchedContent(context, caller);
      if (!scope) return { body: { pages: [], searched: 0 } };
      const found = await findLines(searchIndex, scope, trustedGroups(caller, undefined), {
        ...search,
        pattern: compiled,
      });
      if (found.searched === 0) await requireIndex(context, scope);
      return { body: found };
    },
  );

  answerCall(app, assistant.page, async ({ caller, body }) => {
    const path = pagePathOf(body.path);
    const scope = await searchedContent(context, caller);
    const notFound = new ApiError('not_found', `There is no page "${body.path.slice(0, 200)}" in this documentation.`);
    if (!scope || path === undefined) throw notFound;
    const page = await searchIndex.findPage(scope, path, trustedGroups(caller, body.groups));
    if (!page) {
      await requireIndex(context, scope);
      throw notFound;
    }
    return { body: { path: page.path, content: page.markdown } };
  });
  return app;
}
