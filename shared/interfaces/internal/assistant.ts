import { z } from 'zod';
import {
  feedbackAnswerSchema,
  feedbackBodySchema,
  messageBodySchema,
  pageAnswerSchema,
  pageBodySchema,
  searchAnswerSchema,
  searchBodySchema,
  searchNoticeHeader,
  threadAnswerSchema,
  v1MessageBodySchema,
} from '#shared/interfaces/http/assistant.ts';
import { foundLinesSchema, lineSearchSchema } from './line-search.ts';
import { internalCall } from './internal-call.ts';

const answerWithinMs = 30_000;
/** Timeout between parts of an answer. The assistant sends a comment well before it. */
const idleMs = 60_000;

const readerHeaders = z.object({
  /** `ui`: a chat of the AI SDK, whose validation refuses keys that others need; `plain`: all other clients. */
  'x-bindery-client': z.enum(['ui', 'plain']).default('plain'),
  /** The form of sources for a client of AI SDK 4: as separate lines, which early versions refuse, or only as the result of a tool. */
  'x-bindery-sources': z.enum(['lines', 'tool']).default('tool'),
  /** Keyed hash of the chat, if the reader wants to be able to resume the answer. An older assistant ignores it. */
  'x-bindery-chat': z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .optional(),
  /** Proves, with the thread's id, that a thread belongs to the reader. */
  'x-thread-key': z.string().optional(),
});
const text = z.string().optional();

const streamHeaders = z.object({
  'content-type': text,
  'cache-control': text,
  'x-accel-buffering': text,
  'x-thread-id': text,
  'x-thread-key': text,
  'x-vercel-ai-ui-message-stream': text,
  'x-vercel-ai-data-stream': text,
  /** Id of an answer that can be resumed, for the gateway only. */
  'x-bindery-answer': text,
  /** Estimated tokens of the prompt, for the gateway only. Absent if no model is asked, or from an older assistant. */
  'x-bindery-prompt-tokens': text,
});

/** Trailer of a streamed answer, for the gateway only: the tokens that the language model reported for it. */
export const spentTokensTrailer = 'x-bindery-tokens';

const base = {
  service: 'assistant',
  callers: ['gateway'],
  method: 'POST',
  headers: readerHeaders,
  answerWithinMs,
  idleMs,
} as const;
const thread = {
  service: 'assistant',
  callers: ['gateway'],
  path: '/internal/threads/:threadId',
  params: z.object({ threadId: z.string() }),
  errors: ['not_found'],
  answerWithinMs,
  idleMs,
} as const;
const message = {
  ...base,
  answer: 'stream',
  answerHeaders: streamHeaders,
  errors: ['invalid_json', 'invalid_request', 'not_found', 'rate_limited'],
} as const;

/** Calls of the gateway to the assistant, about the caller's domain. */
export const assistant = {
  message: internalCall({
    ...message,
    path: '/internal/message',
    body: messageBodySchema,
  }),
  /** Asks as `message` does, for clients of AI SDK 4, which get its data stream. */
  messageV1: internalCall({
    ...message,
    path: '/internal/v1/message',
    body: v1MessageBodySchema,
  }),
  search: internalCall({
    ...base,
    path: '/internal/search',
    body: searchBodySchema,
    answer: searchAnswerSchema,
    answerHeaders: z.object({ [searchNoticeHeader]: text }),
    errors: ['invalid_json', 'invalid_request'],
  }),
  page: internalCall({
    ...base,
    path: '/internal/page',
    body: pageBodySchema,
    answer: pageAnswerSchema,
    errors: ['invalid_json', 'invalid_request', 'not_found'],
  }),
  /** Finds lines of pages' Markdown, which agents ask for. */
  findLines: internalCall({
    ...base,
    path: '/internal/find',
    body: lineSearchSchema,
    answer: foundLinesSchema,
    errors: ['invalid_json', 'invalid_request'],
  }),
  feedback: internalCall({
    ...base,
    path: '/internal/feedback',
    body: feedbackBodySchema,
    answer: feedbackAnswerSchema,
    errors: ['invalid_json', 'invalid_request', 'not_found', 'rate_limited'],
  }),
  readThread: internalCall({ ...thread, method: 'GET', answer: threadAnswerSchema }),
  /** Removes the thread from the log. */
  eraseThread: internalCall({ ...thread, method: 'DELETE', answer: z.object({}) }),
};
