import { z } from 'zod';
import { problemText } from '#shared/runtime/problem-text.ts';

/** IP address of the reader for whom a server sends the request. It counts for keys with the scope `proxy`. */
export const readerAddressHeader = 'x-reader-address';

/** Header of an answer to a search: a sentence for the reader, if the question is in another language than the found passages. */
export const searchNoticeHeader = 'x-search-notice';

/** The fields that the specification lists for each kind of part. Other kinds are not checked. */
const namedParts: Readonly<Record<string, z.ZodType>> = {
  text: z.object({ text: z.string() }),
  reasoning: z.object({ text: z.string() }),
  'source-url': z.object({ sourceId: z.string(), url: z.string(), title: z.string().nullish() }),
  file: z.object({ mediaType: z.string(), url: z.string(), filename: z.string().nullish() }),
};

const partSchema = z.looseObject({ type: z.string() }).superRefine((part, context) => {
  const result = Object.hasOwn(namedParts, part.type)
    ? namedParts[part.type]?.safeParse(part, { error: problemText })
    : undefined;
  for (const issue of result?.error?.issues ?? []) {
    context.addIssue({ code: 'custom', message: issue.message, path: issue.path });
  }
});

const filterSchema = z.object({
  version: z.string().max(200).nullish(),
  language: z.string().max(200).nullish(),
  groups: z.array(z.string().max(200)).max(100).nullish(),
});

const contextItemSchema = z.looseObject({
  type: z.enum(['code', 'textSelection']),
  value: z.string(),
  path: z.string().nullish(),
  elementId: z.string().nullish(),
});

const common = {
  fp: z.string().min(1).max(200),
  threadId: z.string().max(200).nullish(),
  /** The same as the header `X-Thread-Key`, for chats whose headers cannot change between questions. */
  threadKey: z.string().max(200).nullish(),
  retrievalPageSize: z.int().min(1).max(50).nullish(),
  filter: filterSchema.nullish(),
  context: z.array(contextItemSchema).max(100).nullish(),
  currentPath: z.string().max(200).nullish(),
};

/** The fields of the specification. Other fields are not checked. */
const messageSchema = z.looseObject({
  id: z.string(),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(partSchema),
  createdAt: z.iso.datetime({ offset: true }).nullish(),
  metadata: z.looseObject({}).nullish(),
});

/** Parts of AI SDK 4 have different shapes (`reasoning` with `details`, `file` with `data`). Only their text is read. */
const v1PartSchema = z.looseObject({ type: z.string() }).superRefine((part, context) => {
  if (part.type === 'text' && typeof part.text !== 'string')
    context.addIssue({ code: 'custom', message: 'must be text', path: ['text'] });
});

/** AI SDK 4 sends the text in `content`; 4.1 and later send `parts` as well. */
const v1MessageSchema = z.looseObject({
  id: z.string().nullish(),
  role: z.enum(['system', 'user', 'assistant', 'data']),
  content: z.string().nullish(),
  parts: z.array(v1PartSchema).nullish(),
});

const endsWithUser = (messages: readonly { role: string }[]): boolean => messages.at(-1)?.role === 'user';
const lastIsUsers = "must end with a user's message";

/** Body of `POST /discovery/v2/assistant/{domain}/message`. */
export const messageBodySchema = z
  .looseObject({
    ...common,
    messages: z.array(messageSchema).min(1).max(200).refine(endsWithUser, lastIsUsers),
  })
  .meta({ title: 'Question' });

/** Body of `POST /discovery/v1/assistant/{domain}/message`. */
export const v1MessageBodySchema = z
  .looseObject({
    ...common,
    messages: z.array(v1MessageSchema).min(1).max(200).refine(endsWithUser, lastIsUsers),
  })
  .meta({ title: 'QuestionV1' });

export type MessageBody = z.infer<typeof messageBodySchema> | z.infer<typeof v1MessageBodySchema>;

/** Body of `POST /discovery/v1/search/{domain}`. */
export const searchBodySchema = z
  .looseObject({
    query: z.string().min(1).max(2_000),
    pageSize: z.int().min(1).max(50).nullish(),
    scoreThreshold: z.number().min(0).max(1).nullish(),
    filter: filterSchema.extend({ tag: z.string().max(200).nullish() }).nullish(),
    /** True if each passage should have an explanation of its score. Only admin keys may ask for it. */
    explain: z.boolean().nullish(),
  })
  .meta({ title: 'Search' });

/** Explanation of a score. */
const explanationSchema = z
  .object({
    /** Share of the question's words in the passage, each weighted by its rarity, 0–1. */
    coverage: z.number(),
    /** The contribution of each ranking signal to the sum that decides the order. */
    signals: z.record(z.string(), z.number()),
    /** Each word of the question with the terms that were searched for it and their weights, 0–1. */
    words: z.array(z.object({ word: z.string(), terms: z.record(z.string(), z.number()) })),
  })
  .meta({ title: 'Explanation' });

/** Passages, the best first. */
export const searchAnswerSchema = z.array(
  z
    .object({
      content: z.string(),
      path: z.string(),
      metadata: z.object({
        title: z.string(),
        heading: z.string(),
        url: z.string(),
        score: z.number(),
        /** Ranges of `content` that match searched words, as start and end in UTF-16 units. */
        highlights: z.array(z.tuple([z.int(), z.int()])).optional(),
        language: z.string().optional(),
        version: z.string().optional(),
        tag: z.string().optional(),
        /** Explanation of the score, if the request has `explain`. */
        explanation: explanationSchema.optional(),
      }),
    })
    .meta({ title: 'Passage' }),
);

/** Body of `POST /discovery/v1/page/{domain}`. */
export const pageBodySchema = z
  .looseObject({
    path: z.string().min(1).max(1_000),
    groups: z.array(z.string().max(200)).max(100).nullish(),
  })
  .meta({ title: 'PageRequest' });

export type SearchAnswer = z.infer<typeof searchAnswerSchema>;

/** The Markdown of a page. */
export const pageAnswerSchema = z.object({ path: z.string(), content: z.string() }).meta({ title: 'Page' });

/** Body of `POST /discovery/v1/feedback/{domain}`. */
export const feedbackBodySchema = z
  .looseObject({
    threadId: z.string().max(200),
    threadKey: z.string().max(200).nullish(),
    messageId: z.string().min(1).max(200),
    rating: z.enum(['up', 'down']),
    comment: z.string().max(4_000).nullish(),
  })
  .meta({ title: 'Feedback' });

export const feedbackAnswerSchema = feedbackBodySchema
  .pick({ threadId: true, messageId: true, rating: true })
  .strip()
  .meta({ title: 'Rating' });

/** A conversation, oldest question first. */
export const threadAnswerSchema = z
  .object({
    threadId: z.string(),
    createdAt: z.iso.datetime(),
    messages: z.array(
      z.object({
        messageId: z.string(),
        askedAt: z.iso.datetime(),
        question: z.string(),
        /** The answer as far as it was written; '' when it never began. */
        answer: z.string(),
        sources: z.array(z.object({ url: z.string(), title: z.string() })),
        /**
         * `answered`; `unanswered`: the documentation had no answer; `unfinished`: the answer was interrupted; `answering`: it may still
         * come.
         */
        status: z.enum(['answered', 'unanswered', 'unfinished', 'answering']),
        rating: z.enum(['up', 'down']).optional(),
        comment: z.string().optional(),
      }),
    ),
  })
  .meta({ title: 'Thread' });

export type ThreadAnswer = z.infer<typeof threadAnswerSchema>;
