import net from 'node:net';
import v8 from 'node:v8';
import { asError } from '#shared/runtime/failures.ts';
import {
  channelDescriptor,
  type FromChild,
  mostMessage,
  mostName,
  mostOpenQuestions,
  type ToChild,
  toChildLimits,
} from './child-messages.ts';
import { closeProcess } from './close-process.ts';
import { frameOf, frameReader } from './frames.ts';

/** Asks the parent for data that the child must not fetch itself, such as a file of the project. Rejects with the parent's reason. */
export type Ask = (content: unknown) => Promise<unknown>;

/**
 * Makes this process the child of a `childPool`: `handler` answers one request after the other, and its errors reach the caller as
 * `ChildRequestFailed`. The process ends when its parent is gone. From here on it can open no sockets and signal no process, so everything that the
 * handler needs must be loaded. While a snapshot is built, serving is postponed to each process that starts from the snapshot.
 */
export function serveChild(handler: Handler): void {
  const { startupSnapshot } = v8;
  if (startupSnapshot.isBuildingSnapshot()) startupSnapshot.setDeserializeMainFunction(() => serve(handler));
  else serve(handler);
}

type Handler = (request: unknown, ask: Ask) => Promise<unknown>;

type Question = { content: unknown; resolve: (answer: unknown) => void; reject: (error: Error) => void };

function serve(handler: Handler): void {
  const channel = new net.Socket({ fd: channelDescriptor, readable: true, writable: true });
  /** Id of the request in progress; 0 for none. */
  let current = 0;
  let lastQuestion = 0;
  const open = new Map<number, Question>();
  const waiting: Question[] = [];
  const send = (message: FromChild): void => {
    channel.cork();
    for (const piece of frameOf(message)) channel.write(piece);
    channel.uncork();
  };
  const askNext = (): void => {
    if (open.size >= mostOpenQuestions) return;
    const [next] = waiting.splice(0, 1);
    if (next === undefined) return;
    lastQuestion += 1;
    open.set(lastQuestion, next);
    send({ kind: 'question', id: current, question: lastQuestion, content: next.content });
  };
  const answer = async (id: number, request: unknown): Promise<void> => {
    current = id;
    const ask: Ask = (content) =>
      new Promise((resolve, reject) => {
        if (current !== id) return reject(new Error('the request has already been answered'));
        waiting.push({ content, resolve, reject });
        askNext();
      });
    const end = (message: FromChild): void => {
      // Drops the questions that the handler left unanswered.
      current = 0;
      waiting.length = 0;
      open.clear();
      send(message);
    };
    try {
      end({ kind: 'response', id, response: await handler(request, ask) });
    } catch (error) {
      const { name, message } = asError(error);
      end({
        kind: 'failure',
        id,
        name: name.slice(0, mostName),
        message: message.slice(0, mostMessage).toWellFormed(),
      });
    }
  };
  const hear = (message: ToChild): void => {
    if (message.kind === 'request') {
      void answer(message.id, message.request);
      return;
    }
    const asked = open.get(message.question);
    open.delete(message.question);
    askNext();
    if (message.kind === 'answer') asked?.resolve(message.answer);
    else asked?.reject(new Error(message.message));
  };
  channel.on(
    'data',
    frameReader(toChildLimits, (message) => hear(message as ToChild)),
  );
  channel.on('error', () => process.exit(0)).on('close', () => process.exit(0));
  closeProcess();
  send({ kind: 'ready' });
}
