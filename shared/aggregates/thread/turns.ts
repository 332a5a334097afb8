/** What one side said at a time. */
export type Turn = { role: 'user' | 'assistant'; text: string };

type ClientMessage = {
  role: string;
  content?: string | null | undefined;
  parts?: readonly { type: string; [key: string]: unknown }[] | null | undefined;
};

/**
 * The turns of a conversation as a client tells it. Clients may claim anything, so only the text of users and assistants counts: system
 * messages, tool results, reasoning and files never reach a model. Neighbours of one role become one turn; the first is a user's.
 */
export function conversationTurns(messages: readonly ClientMessage[]): Turn[] {
  let turns: Turn[] = [];
  for (const message of messages) {
    const { role } = message;
    const text = textOf(message);
    if ((role !== 'user' && role !== 'assistant') || text === '') continue;
    if (role === 'user' || turns.length > 0) turns = withTurn(turns, { role, text });
  }
  return turns;
}

/** The conversation with one more turn. When the same side spoke last, the text becomes part of that turn. */
export function withTurn(turns: readonly Turn[], turn: Turn): Turn[] {
  const last = turns.at(-1);
  if (last?.role !== turn.role) return [...turns, turn];
  return [...turns.slice(0, -1), { role: turn.role, text: `${last.text}\n\n${turn.text}` }];
}

/** The newest turns that fit into so many bytes of UTF-8, from a user's on. */
export function newestTurns(turns: readonly Turn[], bytes: number): Turn[] {
  let size = 0;
  const firstThatFits = turns.findLastIndex((turn) => {
    size += Buffer.byteLength(turn.text);
    return size > bytes;
  });
  const kept = turns.slice(firstThatFits + 1);
  const firstUser = kept.findIndex((turn) => turn.role === 'user');
  return firstUser === -1 ? [] : kept.slice(firstUser);
}

function textOf({ parts, content }: ClientMessage): string {
  const texts = (parts ?? []).flatMap((part) =>
    part.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  );
  const text = texts.length > 0 ? texts.join('\n') : (content ?? '');
  return text.replaceAll('\u0000', '').trim();
}
