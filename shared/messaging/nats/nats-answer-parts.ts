import { type JetStreamClient, JetStreamError, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type AnswerPart, answerSignalSchema, storedAnswerPart } from '#shared/contracts/answer-part.ts';
import type { AnswerReading, AnswerWriting } from '#shared/messaging/answer-parts.ts';
import { answeringSubject, answerSubject, seenAnswerSubject } from '#shared/messaging/subjects/subject-names.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { parseMessage } from '../parse-message.ts';
import { wholeAnswer, whileAway } from './connection.ts';

const stream = 'ANSWERS';
const readDeadlineMs = 3_000;
const writeTimeoutMs = 2_000;
/** Parts in one answer of the server. */
const mostAtOnce = 1_000;
const notFound = 404;

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
  const batch = async (filter: string): Promise<StoredMsg[]> => {
    try {
      return await wholeAnswer(await jsm.direct.getBatch(stream, { seq: 1, next_by_subj: filter, batch: mostAtOnce }));
    } catch (error) {
      // The client has no class for the status of an empty answer.
      if (error instanceof JetStreamError && 'code' in error && error.code === notFound) return [];
      throw error;
    }
  };
  return {
    async newest({ organization, domain, chat }) {
      const message = await last(answerSubject(organization, domain, chat, '*'));
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
      // Most parts come in one answer, of a server that may be behind, and the newest from the leader.
      for (const message of await whileAway(`reading ${filter}`, readDeadlineMs, () => batch(filter))) take(message);
      for (;;) {
        const next = { seq, next_by_subj: filter };
        const message = await whileAway(`reading ${filter}`, readDeadlineMs, () =>
          jsm.streams.getMessage(stream, next),
        );
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
