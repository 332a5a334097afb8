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
} from '../http/assistant.ts';
import { internalCall } from './internal-call.ts';

const answerWithinMs = 30_000;
/** The assistant sends a comment well before that. */
const idleMs = 60_000;

const readerHeaders = z.object({
  /** `ui`: a chat of the AI SDK, whose validation refuses keys that others need; `plain`: all others. */
  'x-bindery-client': z.enum(['ui', 'plain']).default('plain'),
  /** How a client of AI SDK 4 gets sources: as lines of their own, which early versions refuse, or only as the result of a tool. */
  'x-bindery-sources': z.enum(['lines', 'tool']).default('tool'),
  /** Proves, beside the thread's id, that a thread is the reader's own. */
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
  /** For the gateway alone: how many tokens the prompt is thought to have. Absent: no model is asked, or the assistant is older. */
  'x-bindery-prompt-tokens': text,
});

/** Trailer of a streamed answer, for the gateway alone: the tokens that the language model reported for it. */
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

/** What the gateway asks of the assistant, about the caller's domain. */
export const assistant = {
  message: internalCall({
    ...message,
    path: '/internal/message',
    body: messageBodySchema,
  }),
  /** For clients of AI SDK 4, which get its data stream. */
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
  feedback: internalCall({
    ...base,
    path: '/internal/feedback',
    body: feedbackBodySchema,
    answer: feedbackAnswerSchema,
    errors: ['invalid_json', 'invalid_request', 'not_found', 'rate_limited'],
  }),
  readThread: internalCall({ ...thread, method: 'GET', answer: threadAnswerSchema }),
  /** Takes the thread out of the log. */
  eraseThread: internalCall({ ...thread, method: 'DELETE', answer: z.object({}) }),
};
