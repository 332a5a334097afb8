import { z } from 'zod';
import { commitSchema } from '#shared/contracts/commit.ts';
import { domainSlug, organizationId, sha256Hex, timestamp } from '#shared/contracts/identifiers.ts';

/** One thread of questions and answers (`threads.<org>.<domain>.<thread>`), kept for a limited age. */
const turn = z.object({ role: z.enum(['user', 'assistant']), text: z.string() });

const identity = { organization: organizationId, domain: domainSlug, threadId: z.string() };

export const conversationEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('QuestionAnswered'),
    version: z.literal(1),
    data: z.object({
      ...identity,
      messageId: z.string(),
      question: z.string(),
      answer: z.string(),
      sources: z.array(z.object({ path: z.string(), title: z.string() })),
      /** The documentation had nothing to say. */
      unanswered: z.boolean(),
      /** The answer was cut: the reader went away or the model failed. */
      aborted: z.boolean(),
      model: z.string(),
    }),
  }),
  z.object({
    type: z.literal('AnswerRated'),
    version: z.literal(1),
    data: z.object({
      ...identity,
      messageId: z.string(),
      rating: z.enum(['up', 'down']),
      comment: z.string().optional(),
    }),
  }),
]);

export type ConversationEvent = z.infer<typeof conversationEventSchema>;

export const conversationStateSchema = z.object({
  ...identity,
  /** Keyed hash of the reader's fingerprint. */
  fingerprintHash: sha256Hex,
  threadKeySha256: sha256Hex,
  createdAt: timestamp,
  turnCount: z.int(),
  /** The newest turns, oldest first, at most 64 KB of text. */
  lastTurns: z.array(turn),
});

export type ConversationState = z.infer<typeof conversationStateSchema>;

export const conversationCommitSchema = commitSchema(conversationEventSchema, conversationStateSchema);

export type ConversationCommit = z.infer<typeof conversationCommitSchema>;
