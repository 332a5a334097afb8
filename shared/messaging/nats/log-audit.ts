import { JetStreamError, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { StoredText } from '#shared/messaging/log/event-log.ts';
import type { LogAudit, SequenceRange, StoredMessages } from '../verify/log-audit.ts';
import { type BusAddress, openConnection, whileAway } from './connection.ts';
import { directBatch } from './direct-batch.ts';

const deadlineMs = 10_000;
const batchSize = 512;
const notFound = 404;

/**
 * Connects as a user who may read whole streams, such as `auditor`. It reads with direct requests (one answer for up to 512 messages of a subject), so it needs no consumer, leaves
 * nothing behind on the server and does not disturb readers.
 */
export async function openLogAudit(address: BusAddress): Promise<LogAudit & StoredMessages> {
  const connection = await openConnection(address, `${address.user} ${process.pid}`);
  const jsm = await jetstreamManager(connection, { checkAPI: false });
  return { ...logAuditBy(jsm), close: () => connection.close() };
}

/** The same over a connection that others use, too. */
export function logAuditBy(jsm: JetStreamManager): Omit<LogAudit, 'close'> & StoredMessages {
  /** Up to `size` messages of a subject from a sequence on, and the number of those that follow. */
  const batch = async (stream: string, subject: string, seq: number, size = batchSize) => {
    const found = await directBatch(jsm, stream, { seq, batch: size, next_by_subj: subject });
    return { messages: found.map(textOf), leftCount: found.at(-1)?.pending ?? 0 };
  };

  const counts = (stream: string, filter: string) =>
    whileAway(`listing the subjects of ${stream}`, deadlineMs, async () => {
      const { state } = await jsm.streams.info(stream, { subjects_filter: filter });
      return state.subjects ?? {};
    });

  return {
    counts,

    subjects: async (stream, filter) => Object.keys(await counts(stream, filter)).toSorted(),

    async stored(stream, subject) {
      const messages: StoredText[] = [];
      for (;;) {
        const from = (messages.at(-1)?.sequence ?? 0) + 1;
        const next = await whileAway(`reading ${subject}`, deadlineMs, () => batch(stream, subject, from));
        messages.push(...next.messages);
        if (next.leftCount === 0 || next.messages.length === 0) return messages;
      }
    },

    message: (stream, sequence) =>
      whileAway(`reading message ${sequence} of ${stream}`, deadlineMs, async () => {
        try {
          const message = await jsm.direct.getMessage(stream, { seq: sequence });
          return message === null ? undefined : textOf(message);
        } catch (error) {
          if (isNotFound(error)) return undefined;
          throw error;
        }
      }),

    countAfter: (stream, subject, sequence) =>
      whileAway(`counting messages of ${subject}`, deadlineMs, async () => {
        const { messages, leftCount } = await batch(stream, subject, sequence + 1, 1);
        return messages.length + leftCount;
      }),

    gaps: (stream) =>
      whileAway(`asking for the gaps of ${stream}`, deadlineMs, async () => {
        const { state } = await jsm.streams.info(stream, { deleted_details: true });
        // For an empty stream the server lists message 0 as deleted.
        const deleted = (state.deleted ?? []).filter((sequence) => sequence >= Math.max(1, state.first_seq));
        return [...(state.first_seq > 1 ? [{ first: 1, last: state.first_seq - 1 }] : []), ...ranges(deleted)];
      }),
  };
}

/** The client's `string()` would remove a byte order mark. */
const textOf = ({ subject, seq, data }: { subject: string; seq: number; data: Uint8Array }): StoredText => ({
  subject,
  sequence: seq,
  text: Buffer.from(data).toString(),
});

const isNotFound = (error: unknown): boolean =>
  error instanceof JetStreamError && 'code' in error && error.code === notFound;

function ranges(sequences: readonly number[]): SequenceRange[] {
  const found: SequenceRange[] = [];
  for (const sequence of sequences.toSorted((a, b) => a - b)) {
    const newest = found.at(-1);
    if (newest !== undefined && newest.last === sequence - 1) newest.last = sequence;
    else found.push({ first: sequence, last: sequence });
  }
  return found;
}
