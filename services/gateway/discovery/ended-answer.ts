import { PassThrough, type Readable } from 'node:stream';
import { type AnswerWire, brokenOff } from '#shared/contracts/http/answer-wire.ts';

/**
 * A streamed answer as it comes. When the assistant dies in the middle, the reader hears it in the words of the stream, as when a model dies: a
 * connection that only breaks is a riddle to most clients, and some take it for the end.
 */
export function endedAnswer(
  body: Readable,
  wire: AnswerWire,
  threadId: string,
  onBrokenOff: (error: Error) => void,
): Readable {
  const answer = new PassThrough();
  body.once('error', (error) => {
    // Its reader went away first, and then the assistant was told to stop.
    if (answer.destroyed) return;
    onBrokenOff(error);
    answer.end(brokenOff(wire, threadId));
  });
  answer.once('close', () => body.destroy());
  return body.pipe(answer);
}
