import { type Turn, withTurn } from '#shared/aggregates/thread/thread.ts';
import type { MessageBody } from '#shared/contracts/http/assistant.ts';
import { ApiError } from '#shared/http/errors.ts';

/** What a client sends as one message, by any version of the AI SDK. */
type ClientMessage = {
  role: string;
  content?: string | null | undefined;
  parts?: readonly { type: string; [key: string]: unknown }[] | null | undefined;
};

/**
 * The turns of a thread as a client tells it. Clients may claim anything, so only the text of users and assistants counts: system
 * messages, tool results, reasoning and files never reach a model. Neighbours of one role become one turn; the first is a user's.
 */
export function claimedTurns(messages: readonly ClientMessage[]): Turn[] {
  let turns: Turn[] = [];
  for (const message of messages) {
    const { role } = message;
    const text = textOf(message);
    if ((role !== 'user' && role !== 'assistant') || text === '') continue;
    if (role === 'user' || turns.length > 0) turns = withTurn(turns, { role, text });
  }
  return turns;
}

/** The text of the last message alone, without neighbours that were merged with it for the model. */
export function lastQuestion({ messages }: Pick<MessageBody, 'messages'>): string {
  const question = claimedTurns(messages.slice(-1))[0]?.text;
  if (question !== undefined) return question;
  const path = `messages.${messages.length - 1}`;
  throw new ApiError('invalid_request', 'The last message has no text. Send the question as a part of type "text".', {
    fields: [{ path, message: 'must have a part of type "text" that is not empty' }],
  });
}

function textOf({ parts, content }: ClientMessage): string {
  const texts = (parts ?? []).flatMap((part) =>
    part.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  );
  const text = texts.length > 0 ? texts.join('\n') : (content ?? '');
  return text.replaceAll('\u0000', '').trim();
}
