import { PassThrough, type Readable } from 'node:stream';
import { type AnswerWire, brokenOff } from '#shared/interfaces/http/answer-wire.ts';

/** An answer that goes on without its reader. */
export type GoesOn = {
  /** Called when the reader has disconnected before the end. */
  onLeft(): void;
};

/**
 * A streamed answer. If the assistant dies while it streams, the reader gets an error in the format of the stream, as when a model fails: most
 * clients cannot interpret a broken connection, and some take it for the end.
 */
export function endedAnswer(
  body: Readable,
  wire: AnswerWire,
  threadId: string,
  onBrokenOff: (error: Error) => void,
  goesOn?: GoesOn,
): Readable {
  const answer = new PassThrough();
  body.once('error', (error) => {
    // The reader disconnected first, and the assistant was stopped because of it.
    if (answer.destroyed) return;
    onBrokenOff(error);
    answer.end(brokenOff(wire, threadId));
  });
  answer.once('close', () => {
    if (goesOn === undefined || body.readableEnded) return void body.destroy();
    // The rest is read here, because the number of its tokens comes at its end.
    body.unpipe(answer);
    body.resume();
    goesOn.onLeft();
  });
  return body.pipe(answer);
}
