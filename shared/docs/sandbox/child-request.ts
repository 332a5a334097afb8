import { z } from 'zod';
import { messageOf } from '#shared/runtime/failures.ts';
import { type Child, ChildRequestFailed } from './child.ts';
import { fitting, type FromChild, mostOpenQuestions } from './child-messages.ts';
import { Misfit } from './frames.ts';

/** What answers a request. Nothing of an answer that does not fit is used, and its child is ended. */
export type Expected<T> = {
  schema: z.ZodType<T>;
  /** Throws or rejects for what the schema does not see: that it is the answer to this very request, and that its bytes are what it says. */
  verify?: (answer: T) => void | Promise<void>;
};

/** Answers what a child asks while it works on a request. Made by `answerer`. */
export type Answerer = {
  /** The answer to a question. Throws `Misfit` for what is no question. */
  answer: (content: unknown) => Promise<unknown>;
  atOnce: number;
};

/**
 * `answer` gets questions as the schema has them. The child learns the message of what it rejects with, and lives on; with `Misfit` it is ended.
 * `atOnce`: so many answers are in memory until the child has taken them.
 */
export const answerer = <Q>(
  schema: z.ZodType<Q>,
  answer: (question: Q) => Promise<unknown>,
  { atOnce = mostOpenQuestions }: { atOnce?: number } = {},
): Answerer => ({ answer: async (content) => answer(fitting(schema, content, 'a question')), atOnce });

/** For answers that nobody reads. */
export const anything: Expected<unknown> = { schema: z.unknown() };

export type ChildOutcome<T> = { response: T } | { failure: ChildRequestFailed };

/**
 * Sends a request to a child that has none, and gives what hears the child from then on: questions, a few at a time, and one response or failure at
 * the end, which `settle` gets. That throws `Misfit` for everything else. Throws for a request that no frame can have.
 */
export function sendRequest<T>(
  child: Child,
  {
    id,
    request,
    expects,
    answers,
  }: { id: number; request: unknown; expects: Expected<T>; answers?: Answerer | undefined },
  settle: (outcome: ChildOutcome<T>) => void,
): (message: FromChild) => void {
  let isAnswered = false;
  let lastQuestion = 0;
  /** Not answered yet. */
  let open = 0;
  const waiting: { question: number; content?: unknown }[] = [];
  let answering = 0;
  /** The response came while answers were being made. */
  let onceAnswered: (() => void) | undefined;

  async function answerNext(): Promise<void> {
    if (answering >= (answers?.atOnce ?? 1) || child.isRefused()) return;
    const next = waiting.shift();
    if (next === undefined) return;
    answering += 1;
    const { question, content } = next;
    try {
      if (answers === undefined) throw new Error('nobody answers questions about this request');
      const answer = await answers.answer(content);
      open -= 1;
      await child.send({ kind: 'answer', question, answer });
    } catch (error) {
      open -= 1;
      if (error instanceof Misfit) child.refuse(error.message);
      else await child.send({ kind: 'no-answer', question, message: messageOf(error) });
    }
    answering -= 1;
    if (answering === 0) onceAnswered?.();
    void answerNext();
  }

  /** What is being answered may still change what the response is compared with, such as what was kept of an upload. */
  function takeOnceAnswered(response: unknown): void {
    if (answering === 0) return take(response);
    onceAnswered = () => {
      try {
        if (!child.isRefused()) take(response);
      } catch (error) {
        child.refuse(messageOf(error));
      }
    };
  }

  function take(response: unknown): void {
    const answer = fitting(expects.schema, response, 'an answer');
    const verified = expects.verify?.(answer);
    if (verified === undefined) settle({ response: answer });
    else
      verified.then(
        () => settle({ response: answer }),
        (error: unknown) => child.refuse(messageOf(error)),
      );
  }

  void child.send({ kind: 'request', id, request });
  return (message) => {
    if (message.kind === 'ready') throw new Misfit('it said twice that it is ready');
    if (message.id !== id) throw new Misfit('it spoke about a request that is not its own');
    if (isAnswered) throw new Misfit('it spoke about a request that it had answered');
    if (message.kind === 'question') {
      if (message.question <= lastQuestion) throw new Misfit('it asked a question twice');
      lastQuestion = message.question;
      open += 1;
      if (open > mostOpenQuestions) throw new Misfit(`it asked more than ${mostOpenQuestions} questions at once`);
      waiting.push(message);
      void answerNext();
      return;
    }
    isAnswered = true;
    // Nobody needs their answers any more.
    waiting.length = 0;
    if (message.kind === 'response') takeOnceAnswered(message.response);
    else settle({ failure: new ChildRequestFailed(message.name, message.message) });
  };
}
