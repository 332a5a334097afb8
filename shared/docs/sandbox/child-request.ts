import { z } from 'zod';
import { messageOf } from '#shared/runtime/failures.ts';
import { type Child, ChildRequestFailed } from './child.ts';
import { fitting, type FromChild, mostOpenQuestions } from './child-messages.ts';
import { Misfit } from './frames.ts';

/** Schema and checks of a response. A response that does not pass is discarded, and its child is killed. */
export type Expected<T> = {
  schema: z.ZodType<T>;
  /**
   * Checks that a schema cannot express: the response belongs to this very request, and its bytes match their description. Throws or rejects if not.
   */
  verify?: (answer: T) => void | Promise<void>;
};

/** Answers questions of a child while it works on a request. Made by `answerer`. */
export type Answerer = {
  /** Answers a question. Throws `Misfit` if the content is not a question. */
  answer: (content: unknown) => Promise<unknown>;
  atOnce: number;
};

/**
 * `answer` gets questions that passed the schema. If it rejects, the child receives the message and survives; a `Misfit` kills the child. `atOnce`
 * limits the number of answers in memory that the child has not received yet.
 */
export const answerer = <Q>(
  schema: z.ZodType<Q>,
  answer: (question: Q) => Promise<unknown>,
  { atOnce = mostOpenQuestions }: { atOnce?: number } = {},
): Answerer => ({ answer: async (content) => answer(fitting(schema, content, 'a question')), atOnce });

/** Accepts any response, for callers that ignore it. */
export const anything: Expected<unknown> = { schema: z.unknown() };

export type ChildOutcome<T> = { response: T } | { failure: ChildRequestFailed };

/** A request that a child works on. */
export type SentRequest = {
  /** Takes its messages: questions, a few at a time, and one final response or failure. Throws `Misfit` for any other message. */
  onMessage: (message: FromChild) => void;
  /** True while the child waits for the answer to a question. */
  isAsking: () => boolean;
};

/** Sends a request to an idle child. `settle` gets its outcome. Throws for a request that cannot be written as a frame. */
export function sendRequest<T>(
  child: Child,
  {
    id,
    request,
    expects,
    answers,
  }: { id: number; request: unknown; expects: Expected<T>; answers?: Answerer | undefined },
  settle: (outcome: ChildOutcome<T>) => void,
): SentRequest {
  let isAnswered = false;
  let lastQuestion = 0;
  /** Number of unanswered questions. */
  let open = 0;
  const waiting: { question: number; content?: unknown }[] = [];
  let answering = 0;
  /** Takes the response that arrived while answers were being made. */
  let onceAnswered: (() => void) | undefined;

  async function answerNext(): Promise<void> {
    if (answering >= (answers?.atOnce ?? 1) || child.isRefused()) return;
    const next = waiting.shift();
    if (next === undefined) return;
    answering += 1;
    const { question, content } = next;
    try {
      if (answers === undefined) throw new Error('this request has no answers to questions');
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

  /** Answers in progress may still change the values that the response is compared with, such as the stored parts of an upload. */
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
  const onMessage = (message: FromChild): void => {
    if (message.kind === 'ready') throw new Misfit('it reported twice that it is ready');
    if (message.id !== id) throw new Misfit('it spoke about a request that is not its own');
    if (isAnswered) throw new Misfit('it spoke about a request that it had already answered');
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
    // After the final response, the remaining questions need no answers.
    waiting.length = 0;
    if (message.kind === 'response') takeOnceAnswered(message.response);
    else settle({ failure: new ChildRequestFailed(message.name, message.message) });
  };
  return { onMessage, isAsking: () => open > 0 };
}
