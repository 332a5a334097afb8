import { z } from 'zod';
import { storedMessage } from './upcast.ts';

/**
 * A part of an answer that can be resumed: some events of its stream, in order. Parts may overlap, because an assistant repeats what the bus may have
 * lost. An answer without a part for some time, and without an end, has lost its assistant.
 */
export const answerPartSchema = z.object({
  type: z.literal('AnswerPart'),
  version: z.literal(1),
  /** Number of its first event, from 1. */
  first: z.int().min(1),
  /** Number of events; 0 in a part that only says that the assistant still works. */
  count: z.int().min(0),
  /** The events in the format of the UI message stream, each with its number as `id`. */
  text: z.string(),
  /** `ended`: there is no further event. */
  state: z.enum(['open', 'ended']),
  /** Restricted groups that the asker was trusted to be in. Only a reader in all of them may read the answer. */
  groups: z.array(z.string()),
  /** The kind of client that asked: its events have only keys that it accepts. */
  client: z.enum(['ui', 'plain']),
});

export type AnswerPart = z.infer<typeof answerPartSchema>;

export const storedAnswerPart = storedMessage(answerPartSchema, {});

/** A note of a gateway to the assistants about a chat. Newer programs may send other kinds, which are ignored. */
export const answerSignalSchema = z.object({
  /** `left`: the reader who asked is gone. `reading`: someone reads the answer. `stop`: all answers of the chat end. */
  kind: z.enum(['left', 'reading', 'stop']),
  /** The answer that is meant, if not all of the chat. */
  answerId: z.string().optional(),
});

export type AnswerSignal = z.infer<typeof answerSignalSchema>;
