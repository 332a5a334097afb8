import v8 from 'node:v8';
import { asError } from '#shared/runtime/failures.ts';
import type { FromChild, ToChild } from './child.ts';
import { closeProcess } from './close-process.ts';

/** Asks the parent for what the child must not fetch itself, such as a file of the project. Rejects with the parent's reason. */
export type Ask = (content: unknown) => Promise<unknown>;

/**
 * Makes this process the child of a `childPool`: `handler` answers one request after the other, and what it throws reaches the caller as
 * `ChildRequestFailed`. The process ends when its parent is gone. From here on it can open no sockets and signal nobody; whatever the
 * handler needs is loaded. While a snapshot is built, it does nothing yet: each process that starts from the snapshot does it.
 */
export function serveChild(handler: Handler): void {
  const { startupSnapshot } = v8;
  if (startupSnapshot.isBuildingSnapshot()) startupSnapshot.setDeserializeMainFunction(() => serve(handler));
  else serve(handler);
}

type Handler = (request: unknown, ask: Ask) => Promise<unknown>;

function serve(handler: Handler): void {
  let lastQuestion = 0;
  const open = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();
  const send = (message: FromChild): void => {
    process.send?.(message);
  };
  const answer = async (id: number, request: unknown): Promise<void> => {
    const ask: Ask = (content) =>
      new Promise((resolve, reject) => {
        lastQuestion += 1;
        open.set(lastQuestion, { resolve, reject });
        send({ kind: 'question', id, question: lastQuestion, content });
      });
    try {
      send({ kind: 'response', id, response: await handler(request, ask) });
    } catch (error) {
      const { name, message } = asError(error);
      send({ kind: 'failure', id, name, message: message.slice(0, 2000) });
    }
  };
  process.on('disconnect', () => process.exit(0));
  process.on('message', (message: ToChild) => {
    if (message.kind === 'request') {
      void answer(message.id, message.request);
      return;
    }
    const asked = open.get(message.question);
    open.delete(message.question);
    if (message.kind === 'answer') asked?.resolve(message.answer);
    else asked?.reject(new Error(message.message));
  });
  closeProcess();
  send({ kind: 'ready' });
}
