import { type JetStreamClient, JetStreamError, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type AnswerPart, answerSignalSchema, storedAnswerPart } from '#shared/contracts/answer-part.ts';
import type { AnswerReading, AnswerWriting } from '#shared/messaging/answer-parts.ts';
import { answeringSubject, answerSubject, seenAnswerSubject } from '#shared/messaging/subjects/subject-names.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { parseMessage } from '../parse-message.ts';
import { whileAway } from './connection.ts';
import { directBatch, lastMessages } from './direct-batch.ts';

const stream = 'ANSWERS';
const readDeadlineMs = 3_000;
const writeTimeoutMs = 2_000;
/** Parts in one answer of the server. */
const mostAtOnce = 1_000;
/** A chat has more answers of ten minutes than the server compares at once. */
const tooMany = 413;

/** Parts of answers in a stream. Writes do not count for the readiness of the service: an answer is given without them, too. */
export function natsAnswerWriting(connection: NatsConnection, js: JetStreamClient): AnswerWriting {
  return {
    async append({ organization, domain, chat, answerId }, part) {
      const subject = answerSubject(organization, domain, chat, answerId);
      // The deadline has passed after one try: the assistant repeats it with everything that was written meanwhile.
      const ack = await whileAway(`publishing to ${subject}`, 0, () =>
        js.publish(subject, JSON.stringify(part), { timeout: writeTimeoutMs, retries: 1 }),
      );
      return ack.seq;
    },

    onSignal(listener) {
      const subscription = connection.subscribe(answeringSubject('*'), {
        callback: (error, message) => {
          const signal = error === null ? answerSignalSchema.safeParse(jsonIn(message.string())).data : undefined;
          if (signal !== undefined) listener(message.subject.slice(answeringSubject('').length), signal);
        },
      });
      return () => subscription.unsubscribe();
    },
  };
}

/** Reads of the leader, because a reader who comes back at once must find the parts that were just written. */
export function natsAnswerReading(
  connection: NatsConnection,
  js: JetStreamClient,
  jsm: JetStreamManager,
): AnswerReading {
  const last = (subject: string) =>
    whileAway(`reading ${subject}`, readDeadlineMs, () => jsm.streams.getMessage(stream, { last_by_subj: subject }));
  const first = (subject: string, seq: number) => {
    const query = { seq, next_by_subj: subject };
    return whileAway(`reading ${subject}`, readDeadlineMs, () => jsm.streams.getMessage(stream, query));
  };
  const batch = (filter: string, seq: number): Promise<StoredMsg[]> =>
    directBatch(jsm, stream, { seq, next_by_subj: filter, batch: mostAtOnce });
  const lastOfEach = (filter: string): Promise<StoredMsg[]> =>
    lastMessages(jsm, stream, [filter]).catch((error: unknown) => {
      if (error instanceof JetStreamError && 'code' in error && error.code === tooMany) return [];
      throw error;
    });

  /**
   * The last part of the answer in a chat that began last. The last part of all may be of an answer that began before it and goes on without its
   * reader: a lost connection is no stop, and the reader may have asked again.
   */
  async function lastOfNewest(chat: string): Promise<StoredMsg | null> {
    const newest = await last(chat);
    const begun = newest && (await first(newest.subject, 1));
    // Both may be removed meanwhile.
    if (newest === null || begun === null) return newest;
    const parts = await whileAway(`reading ${chat}`, readDeadlineMs, () => lastOfEach(chat));
    let [found, since] = [newest, begun.seq];
    for (const part of parts) {
      // An answer without a later part began earlier.
      if (part.subject === newest.subject || part.seq < since) continue;
      const other = await first(part.subject, 1);
      if (other !== null && other.seq > since) [found, since] = [part, other.seq];
    }
    return found;
  }

  return {
    async newest({ organization, domain, chat }) {
      const message = await lastOfNewest(answerSubject(organization, domain, chat, '*'));
      if (message === null) return undefined;
      const answerId = message.subject.slice(message.subject.lastIndexOf('.') + 1);
      return { part: parseMessage(message, storedAnswerPart), answerId, storedAt: message.time };
    },

    async parts({ organization, domain, chat, answerId }) {
      const filter = answerSubject(organization, domain, chat, answerId);
      const parts: AnswerPart[] = [];
      let seq = 1;
      const take = (message: StoredMsg): void => {
        parts.push(parseMessage(message, storedAnswerPart));
        seq = message.seq + 1;
      };
      // Most parts come in large answers of a server that may be behind, and the newest from the leader.
      for (let isMore = true; isMore; ) {
        const messages = await whileAway(`reading ${filter}`, readDeadlineMs, () => batch(filter, seq));
        for (const message of messages) take(message);
        isMore = messages.length === mostAtOnce;
      }
      for (;;) {
        const message = await first(filter, seq);
        if (message === null) return parts;
        take(message);
      }
    },

    onPart({ organization, domain, chat, answerId }, listener) {
      const subscription = connection.subscribe(answerSubject(organization, domain, chat, answerId), {
        callback: (error, message) => {
          const part = error === null ? storedAnswerPart.safeParse(jsonIn(message.string())).data : undefined;
          if (part !== undefined) listener(part);
        },
      });
      return () => subscription.unsubscribe();
    },

    isSeen: async (answerId) => (await last(seenAnswerSubject(answerId))) !== null,

    async markSeen(answerId) {
      const subject = seenAnswerSubject(answerId);
      await whileAway(`publishing to ${subject}`, readDeadlineMs, () =>
        js.publish(subject, '', { timeout: writeTimeoutMs }),
      );
    },

    signal(chat, signal) {
      if (!connection.isClosed()) connection.publish(answeringSubject(chat), JSON.stringify(signal));
    },
  };
}
