import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type PubAck,
} from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import type { z } from 'zod';
import type { Commit } from '#shared/contracts/commit.ts';
import {
  ConcurrentAppend,
  type EventLog,
  type StoredCommit,
  type StoredText,
} from '#shared/messaging/log/event-log.ts';
import { parseMessage, type StoredMessage } from '../parse-message.ts';
import { BusUnavailable } from '../bus.ts';
import { whileAway } from './connection.ts';
import { noteWrite } from './write-readiness.ts';

const readDeadlineMs = 5_000;
/** Timeout of a listing: the server scans all subjects that match, and returns a hundred thousand at a time. */
const listDeadlineMs = 30_000;

/** The event log of one stream. The port documents its guarantees. */
export function natsEventLog<C extends Commit>(
  js: JetStreamClient,
  jsm: JetStreamManager,
  stream: string,
  schema: z.ZodType<C>,
): EventLog<C> {
  const stored = (message: StoredMessage): StoredCommit<C> => ({
    commit: parseMessage(message, schema),
    sequence: message.seq,
  });

  /** The subject's first message with at least this sequence. */
  const atOrAfter = (subject: string, sequence: number) =>
    whileAway(`reading ${subject}`, readDeadlineMs, () =>
      jsm.direct.getMessage(stream, { seq: sequence, next_by_subj: subject }),
    );

  return {
    async append(commit, after) {
      try {
        const ack = await publishDurably(js, {
          subject: commit.subject,
          body: commit,
          messageId: commit.id,
          traceparent: commit.traceparent,
          lastSubjectSequence: after.sequence,
        });
        return { commit, sequence: ack.seq };
      } catch (error) {
        if (!isConflict(error)) throw error;
        // An earlier try may have been stored without an answer. A direct read could come from a replica that is behind.
        const following = { seq: after.sequence + 1, next_by_subj: commit.subject };
        const next = await whileAway(`reading ${commit.subject}`, readDeadlineMs, () =>
          jsm.streams.getMessage(stream, following),
        );
        if (next !== null) {
          const winner = stored(next);
          if (winner.commit.id === commit.id) return winner;
        }
        throw new ConcurrentAppend(commit.subject);
      }
    },

    async last(subject, options = {}) {
      const message = await whileAway(`reading ${subject}`, readDeadlineMs, () =>
        options.fromLeader === true
          ? jsm.streams.getMessage(stream, { last_by_subj: subject })
          : jsm.direct.getMessage(stream, { last_by_subj: subject }),
      );
      return message === null ? undefined : stored(message);
    },

    async at(subject, sequence) {
      const message = await whileAway(`reading ${subject}`, readDeadlineMs, () =>
        jsm.streams.getMessage(stream, { seq: sequence }),
      );
      // After a lost tail the server reuses sequences, also for other subjects.
      return message === null || message.subject !== subject ? undefined : stored(message);
    },

    async *history(subject) {
      const newest = await this.last(subject);
      if (newest === undefined) return;
      for (let sequence = 1; sequence <= newest.sequence; ) {
        const message = await atOrAfter(subject, sequence);
        if (message === null) return;
        yield stored(message);
        sequence = message.seq + 1;
      }
    },

    subjects: (filter) =>
      whileAway(`listing ${filter}`, listDeadlineMs, async () => {
        const { state } = await jsm.streams.info(stream, { subjects_filter: filter });
        return Object.keys(state.subjects ?? {});
      }),

    newestSequence: () =>
      whileAway(`asking for the newest message of ${stream}`, readDeadlineMs, async () => {
        const { state } = await jsm.streams.info(stream);
        return state.last_seq;
      }),

    async *after(filter, sequence) {
      for (let seq = sequence + 1; ; ) {
        const from = { seq, next_by_subj: filter };
        const message = await whileAway(`reading ${filter}`, readDeadlineMs, () =>
          jsm.streams.getMessage(stream, from),
        );
        if (message === null) return;
        yield stored(message);
        seq = message.seq + 1;
      }
    },

    async *storedBefore(time) {
      for (let seq = 1; ; ) {
        const from = { seq, next_by_subj: '>' };
        const message = await whileAway(`reading ${stream}`, readDeadlineMs, () =>
          jsm.streams.getMessage(stream, from),
        );
        if (message === null || message.time >= time) return;
        yield message.subject;
        seq = message.seq + 1;
      }
    },

    async texts(subject) {
      const texts: StoredText[] = [];
      for (let sequence = 1; ; ) {
        const message = await atOrAfter(subject, sequence);
        if (message === null) return texts;
        // The client's `string()` would remove a byte order mark.
        texts.push({ subject, sequence: message.seq, text: Buffer.from(message.data).toString() });
        sequence = message.seq + 1;
      }
    },

    purge: (filter, { sequence }) =>
      whileAway(`purging ${filter}`, readDeadlineMs, async () => {
        await jsm.streams.purge(stream, { filter, seq: sequence + 1 });
      }),
  };
}

export function isConflict(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError &&
    (error.code === JetStreamApiCodes.StreamWrongLastSequence ||
      error.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown)
  );
}

const attemptTimeoutMs = 3_000;
const deadlineMs = 10_000;

export type DurableMessage = {
  subject: string;
  body: unknown;
  /** Message ids are unique per stream, so they begin with the subject. */
  messageId: string;
  traceparent?: string | undefined;
  lastSubjectSequence?: number;
};

/** Stores one message, over reconnects, and resolves when the server has stored it. Rejects with `BusUnavailable` or the server's refusal. */
export async function publishDurably(js: JetStreamClient, message: DurableMessage): Promise<PubAck> {
  const head = headers();
  if (message.traceparent !== undefined) head.set('traceparent', message.traceparent);
  const payload = JSON.stringify(message.body);
  const stored = whileAway(`publishing to ${message.subject}`, deadlineMs, () =>
    js.publish(message.subject, payload, {
      msgID: `${message.subject}:${message.messageId}`,
      headers: head,
      timeout: attemptTimeoutMs,
      ...(message.lastSubjectSequence === undefined
        ? {}
        : { expect: { lastSubjectSequence: message.lastSubjectSequence } }),
    }),
  );
  try {
    const ack = await stored;
    noteWrite(js, message.subject);
    return ack;
  } catch (error) {
    if (error instanceof BusUnavailable) noteWrite(js, message.subject, error.message);
    throw error;
  }
}
