import type { ThreadCommit, ThreadEvent } from '#shared/aggregates/thread/thread.ts';
import type { ThreadAnswer } from '#shared/interfaces/http/assistant.ts';

type Message = ThreadAnswer['messages'][number];

/**
 * A thread as its organization reads it, made from its commits, oldest first. A question without an answer is `answering` until the answer timeout is
 * over, and then `unfinished`. Pure.
 */
export function threadView(commits: readonly ThreadCommit[], now: Date, answerTimeoutMs: number): ThreadAnswer {
  const messages = new Map<string, Message>();
  for (const { time, data } of commits) for (const event of data.events) apply(messages, event, time);
  for (const message of messages.values()) {
    const isLate = now.getTime() - Date.parse(message.askedAt) > answerTimeoutMs;
    if (message.status === 'answering' && isLate) message.status = 'unfinished';
  }
  const state = commits.at(-1)?.data.state;
  return { threadId: state?.threadId ?? '', createdAt: state?.createdAt ?? '', messages: [...messages.values()] };
}

function apply(messages: Map<string, Message>, { type, data }: ThreadEvent, time: string): void {
  if (type === 'ThreadStarted' || type === 'ThreadErased') return;
  const { messageId } = data;
  const known = messages.get(messageId);
  if (type === 'AnswerRated') {
    if (known !== undefined) messages.set(messageId, { ...known, rating: data.rating, comment: data.comment });
  } else if (type === 'QuestionAsked') {
    const { question } = data;
    messages.set(messageId, { messageId, askedAt: time, question, answer: '', sources: [], status: 'answering' });
  } else {
    const { question, answer, aborted, unanswered } = data;
    const sources = data.sources.map(({ path, title }) => ({ url: path, title }));
    const status = aborted ? 'unfinished' : unanswered ? 'unanswered' : 'answered';
    messages.set(messageId, { messageId, askedAt: known?.askedAt ?? time, question, answer, sources, status });
  }
}
