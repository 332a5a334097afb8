import { type BatchCallback, JetStreamError, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';

/** Timeout of each message of an answer, counted from the one before. */
const pauseWithinAnswerMs = 2_000;
const notFound = 404;

type Answer = ReturnType<JetStreamManager['direct']['getBatch']>;

/** The messages of a subject from a sequence on, as many as one answer of a server, which may be behind, has; none after the last one. */
export const directBatch = (
  jsm: Pick<JetStreamManager, 'direct'>,
  stream: string,
  from: { seq: number; next_by_subj: string; batch: number; max_bytes?: number },
): Promise<StoredMsg[]> => collected((callback) => jsm.direct.getBatch(stream, { ...from, callback }));

/** The last message of each subject that has one, from a server that may be behind. */
export const lastMessages = (
  jsm: Pick<JetStreamManager, 'direct'>,
  stream: string,
  subjects: string[],
): Promise<StoredMsg[]> =>
  collected((callback) => jsm.direct.getLastMessagesFor(stream, { multi_last: subjects, callback }));

/**
 * The messages of one answer. Rejects with a `TimeoutError` when the rest does not come, because the client would wait forever after the server dies. They
 * are taken by a callback: the client never ends the subscription of an answer that is read as an iterator, and would keep one for each read.
 */
async function collected(ask: (callback: BatchCallback<StoredMsg>) => Answer): Promise<StoredMsg[]> {
  const messages: StoredMsg[] = [];
  const whole = Promise.withResolvers<void>();
  const late = setTimeout(() => whole.reject(new errors.TimeoutError()), pauseWithinAnswerMs);
  try {
    const answer = await ask((end, message) => {
      if (end === null) {
        messages.push(message);
        late.refresh();
      } else if (end.err) whole.reject(end.err);
      else whole.resolve();
    });
    try {
      await whole.promise;
    } finally {
      answer.stop();
    }
    return messages;
  } catch (error) {
    // The client has no class for the status of an empty answer.
    if (error instanceof JetStreamError && 'code' in error && error.code === notFound) return [];
    throw error;
  } finally {
    clearTimeout(late);
  }
}
