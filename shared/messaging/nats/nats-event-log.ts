import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type PubAck,
  type StoredMsg,
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
import { directBatch } from './direct-batch.ts';
import { noteWrite } from './write-readiness.ts';

const readDeadlineMs = 5_000;
/** Timeout of a listing: the server scans all subjects that match, and returns a hundred thousand at a time. */
const listDeadlineMs = 30_000;
/** Limits of one answer with a part of a history, which is in memory at once. */
const historyPart = { batch: 256, max_bytes: 1_000_000 };

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

  /** The messages of the matching subjects from a sequence on, in the order of the stream. Each takes one read. */
  async function* messages(
    filter: string,
    first: number,
    from: 'leader' | 'replica',
  ): AsyncGenerator<StoredMsg, undefined> {
    const source = from === 'leader' ? jsm.streams : jsm.direct;
    for (let seq = first; ; ) {
      const next = { seq, next_by_subj: filter };
      const message = await whileAway(`reading ${filter} of ${stream}`, readDeadlineMs, () =>
        source.getMessage(stream, next),
      );
      if (message === null) return undefined;
      yield message;
      seq = message.seq + 1;
    }
  }

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
        // An earlier try may have been stored without an answer. A direct read could come from a replica that is not up to date.
        const { value: next } = await messages(commit.subject, after.sequence + 1, 'leader').next();
        const winner = next && stored(next);
        if (winner?.commit.id === commit.id) return winner;
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
      for (let seq = 1; ; ) {
        const part = await whileAway(`reading ${subject}`, readDeadlineMs, () =>
          directBatch(jsm, stream, { ...historyPart, seq, next_by_subj: subject }),
        );
        for (const message of part) {
          yield stored(message);
          if (message.seq >= newest.sequence) return;
        }
        const last = part.at(-1);
        if (last === undefined) return;
        seq = last.seq + 1;
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
      for await (const message of messages(filter, sequence + 1, 'leader')) yield stored(message);
    },

    async *storedBefore(time) {
      for await (const message of messages('>', 1, 'leader')) {
        if (message.time >= time) return;
        yield message.subject;
      }
    },

    async texts(subject) {
      const texts: StoredText[] = [];
      for await (const { seq: sequence, data } of messages(subject, 1, 'replica')) {
        // The client's `string()` would remove a byte order mark.
        texts.push({ subject, sequence, text: Buffer.from(data).toString() });
      }
      return texts;
    },

    purge: (filter, { sequence }) =>
      whileAway(`purging ${filter}`, readDeadlineMs, async () => {
        await jsm.streams.purge(stream, { filter, seq: sequence + 1 });
      }),
  };
}

/** True if the server refused a guarded append, because the subject has a newer message than the expected one. */
export function isConflict(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError &&
    (error.code === JetStreamApiCodes.StreamWrongLastSequence ||
      error.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown)
  );
}

const hoursOfDay = 24;
const attemptTimeoutMs = 3_000;
const deadlineMs = 10_000;

export type DurableMessage = {
  subject: string;
  body: unknown;
  /** Message ids are unique per stream, so they begin with the subject. */
  messageId: string;
  traceparent?: string | undefined;
  lastSubjectSequence?: number;
  /** Retention of its own, in days. */
  keptDays?: number;
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
      ...(message.keptDays === undefined ? {} : { ttl: `${message.keptDays * hoursOfDay}h` }),
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
