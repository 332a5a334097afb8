import {
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  type StoredMsg,
} from '@nats-io/jetstream';
import type { KV, KvEntry } from '@nats-io/kv';
import { errors, headers, type MsgHdrs } from '@nats-io/transport-node';
import type { z } from 'zod';
import { messageOf, Poison, Unavailable } from '#shared/runtime/failures.ts';
import type { DocumentChange, DocumentStore, ReadDocument } from '../read-models.ts';
import { BusPartMissing } from '../bus.ts';
import { isConflict } from './nats-event-log.ts';
import { isUnreadable, parseDocument } from '../parse-message.ts';
import type { BucketRow } from '../subjects/subject-table.ts';
import { isStreamMissing, whileAway, wholeAnswer } from './connection.ts';
import { directBatch, lastMessages } from './direct-batch.ts';

const deadlineMs = 5_000;
/** Limits of a page of documents that are read together. */
const pageSize = 256;
const pageBytes = 4_000_000;
const notFound = 404;
/** Interval at which a watch checks that it still receives changes. */
const lookBackEveryMs = 2_000;
/** Lifetime of the tombstone that a removal leaves for watchers. A watcher that is disconnected for longer reads everything again. */
const markerSeconds = 600;

let thisTurn: Promise<void> | undefined;

/**
 * The end of this turn of the event loop, shared by all callers in it. Their messages then go to the server in one write: with many small
 * messages, a write for each would dominate the cost.
 */
function turn(): Promise<void> {
  thisTurn ??= new Promise((resolve) => {
    setImmediate(() => {
      thisTurn = undefined;
      resolve();
    });
  });
  return thisTurn;
}

/**
 * Documents of one kind in a bucket: those whose keys begin with `prefix`, which callers do not see. `mayAskForState`: true if the user may ask for
 * the state of the bucket, so that an error can say that the bucket is missing.
 */
export function natsDocumentStore<T>(
  kv: KV,
  { js, jsm, mayAskForState = true }: { js: JetStreamClient; jsm: JetStreamManager; mayAskForState?: boolean },
  { name: bucket, removedKeptSeconds = markerSeconds }: Pick<BucketRow, 'name' | 'removedKeptSeconds'>,
  schema: z.ZodType<T>,
  prefix = '',
): DocumentStore<T> {
  const parse = (key: string, bytes: Uint8Array, revision: number): T =>
    parseDocument(`The document "${key}" of the bucket ${bucket}`, bytes, revision, schema);
  const stream = `KV_${bucket}`;
  const call = <R>(what: string, run: () => Promise<R>) =>
    whileAway(`${what} in the bucket ${bucket}`, deadlineMs, () =>
      run().catch(async (error: unknown) => {
        const isMissing = mayAskForState && (await isStreamMissing(error, jsm, stream));
        throw isMissing ? new BusPartMissing(`bucket "${bucket}"`, { cause: error }) : error;
      }),
    );
  const subjectOf = (full: string): string => `$KV.${bucket}.${full}`;
  const keyOf = (subject: string): string => subject.slice(subjectOf(prefix).length);
  const readable = ({ subject, seq, data, header }: StoredMsg): ReadDocument<T>[] => {
    if (isMarker(header)) return [];
    const [key, revision] = [keyOf(subject), seq];
    try {
      return [{ key, revision, document: parse(prefix + key, data, seq) }];
    } catch (error) {
      return [{ key, revision, problem: messageOf(error) }];
    }
  };

  async function stored(full: string): Promise<KvEntry | undefined> {
    await turn();
    const entry: KvEntry | null = await call(`reading "${full}"`, () => kv.get(full));
    return entry?.operation === 'PUT' ? entry : undefined;
  }

  const newest = (full: string) =>
    call(`reading "${full}"`, () => jsm.streams.getMessage(stream, { last_by_subj: subjectOf(full) }));

  /**
   * Replaces a tombstone that stays by one that expires. A server that dies forgets which documents were replaced, and then takes the
   * newest remaining message of a key: if the only tombstone has expired, that would be the removed document. If this call fails, the
   * tombstone stays.
   */
  async function letMarkerEnd(full: string): Promise<void> {
    const marker = await newest(full);
    if (marker === null || !isMarker(marker.header)) return;
    const head = headers();
    head.set('KV-Operation', 'PURGE');
    head.set('Nats-TTL', `${removedKeptSeconds}s`);
    // A bucket keeps one message of each key, so a tombstone need not purge earlier messages, which buckets with several writers refuse.
    const expect = { lastSubjectSequence: marker.seq };
    await js.publish(subjectOf(full), '', { headers: head, expect });
  }

  /**
   * The newest message of each key, and then each change. The server keeps the consumer of a process that died for five minutes, counted
   * from its own last start. So consumers are kept in memory: consumers on disk would pile up over restarts, up to the bucket's limit.
   */
  async function follow(filter: string, headersOnly: boolean): Promise<Following> {
    const consumer = await js.consumers.getPushConsumer(stream, {
      filter_subjects: subjectOf(prefix + filter),
      deliver_policy: DeliverPolicy.LastPerSubject,
      headers_only: headersOnly,
      ...{ mem_storage: true },
    });
    const { num_pending: waiting } = await consumer.info(true);
    const messages = await consumer.consume();
    return {
      messages,
      waiting,
      async isForgotten() {
        try {
          await consumer.info();
          return false;
        } catch (error) {
          if (error instanceof JetStreamApiError && error.status === notFound) return true;
          throw error;
        }
      },
      end() {
        messages.stop();
        // If this fails, the server removes it later.
        consumer.delete().catch(() => {});
      },
    };
  }

  /** The keys of the stored documents. Messages are not kept, because a bucket may have hundreds of thousands. */
  async function listKeys(filter: string): Promise<Set<string>> {
    const { messages, waiting, end } = await follow(filter, true);
    try {
      const listed = waiting === 0 ? [] : await wholeAnswer(keysUpToNewest(messages));
      return new Set(listed.filter((key) => key !== undefined));
    } finally {
      end();
    }
  }

  /** The key of each message, or undefined for that of a tombstone. */
  async function* keysUpToNewest(messages: AsyncIterable<JsMsg>): AsyncGenerator<string | undefined> {
    for await (const message of messages) {
      yield isMarker(message.headers) ? undefined : keyOf(message.subject);
      if (message.info.pending === 0) return;
    }
  }

  return {
    async get(key, options = {}) {
      const full = prefix + key;
      if (options.fromLeader === true) {
        const message = await newest(full);
        if (message === null || isMarker(message.header)) return undefined;
        return { key, document: parse(full, message.data, message.seq), revision: message.seq };
      }
      const entry = await stored(full);
      if (entry === undefined) return undefined;
      return { key, document: parse(full, entry.value, entry.revision), revision: entry.revision };
    },

    async getText(key) {
      const full = prefix + key;
      const entry = await stored(full);
      if (entry === undefined) return undefined;
      const { value, revision } = entry;
      const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      return { key, revision, text, parse: (shorter = text) => parse(full, shorter, revision) };
    },

    async put(key, document, options = {}) {
      const full = prefix + key;
      const bytes = JSON.stringify(document);
      const { expectedRevision } = options;
      let attempts = 0;
      try {
        return await call(`writing "${full}"`, () => {
          attempts += 1;
          if (expectedRevision === undefined) return kv.put(full, bytes);
          return expectedRevision === 0 ? kv.create(full, bytes) : kv.update(full, bytes, expectedRevision);
        });
      } catch (error) {
        if (!isConflict(error)) {
          throw isRefused(error) ? new DocumentRefused(bucket, full, Buffer.byteLength(bytes), error) : error;
        }
        // An earlier try may have been stored without an answer. Then the key has our value.
        if (attempts === 1) return undefined;
        const there = await newest(full);
        return there !== null && Buffer.from(bytes).equals(there.data) ? there.seq : undefined;
      }
    },

    async remove(key, { expectedRevision } = {}) {
      const full = prefix + key;
      const guard = expectedRevision === undefined ? {} : { previousSeq: expectedRevision };
      let attempts = 0;
      try {
        await call(`removing "${full}"`, () => {
          attempts += 1;
          return kv.delete(full, guard);
        });
      } catch (error) {
        if (!isConflict(error)) throw error;
        // An earlier try may have been stored without an answer.
        if (attempts === 1 || (await this.get(key, { fromLeader: true })) !== undefined) return false;
      }
      await letMarkerEnd(full).catch(() => {});
      return true;
    },

    async getMany(keys) {
      const documents: ReadDocument<T>[] = [];
      for (let at = 0; at < keys.length; at += pageSize) {
        const subjects = keys.slice(at, at + pageSize).map((key) => subjectOf(prefix + key));
        const page = () => lastMessages(jsm, stream, subjects);
        documents.push(...(await call('reading documents', page)).flatMap(readable));
      }
      return documents;
    },

    async *pages() {
      for (let seq = 1; ; ) {
        const from = { seq, batch: pageSize, max_bytes: pageBytes, next_by_subj: subjectOf(`${prefix}>`) };
        const page = await call('reading documents', () => directBatch(jsm, stream, from));
        const last = page.at(-1);
        if (last === undefined) return;
        yield page.flatMap(readable);
        seq = last.seq + 1;
      }
    },

    async keys(filter = '>') {
      const newestSequence = () => call('listing keys', async () => (await jsm.streams.info(stream)).state.last_seq);
      const before = await newestSequence();
      const listed = await call('listing keys', () => listKeys(filter));
      if ((await newestSequence()) === before) return [...listed];
      // The listing misses a key that is written meanwhile. Some of the subjects hold only a tombstone.
      const { state } = await call('listing keys', () =>
        jsm.streams.info(stream, { subjects_filter: subjectOf(prefix + filter) }),
      );
      const all = Object.keys(state.subjects ?? {}).map(keyOf);
      const missed = await this.getMany(all.filter((key) => !listed.has(key)));
      return [...listed, ...missed.map(({ key }) => key)];
    },

    async *watch(filter, signal) {
      const { messages, waiting, isForgotten, end } = await call('watching', () => follow(filter, false));
      // Each message carries the number of messages that follow it, but without stored messages the server sends nothing.
      let initial = waiting > 0;
      const stop = () => messages.stop();
      signal.addEventListener('abort', stop, { once: true });
      /** Time at which the wait for a message began; `Infinity` while the caller handles one. */
      let waitsSince = performance.now();
      let mustBeginAnew = false;
      let removed: string | undefined;
      const lookBack = async (): Promise<void> => {
        // The last key may have been removed before it was seen.
        const isStuck = initial && performance.now() - waitsSince > deadlineMs;
        mustBeginAnew = isStuck || (await isForgotten());
        if (mustBeginAnew) stop();
      };
      // While the bus is unavailable there is nothing to check.
      const timer = setInterval(() => void lookBack().catch(() => {}), lookBackEveryMs).unref();
      try {
        if (signal.aborted) return;
        if (!initial) yield { kind: 'caught-up' };
        for await (const message of messages) {
          waitsSince = Infinity;
          const change = changeOf(message, initial);
          // A removal leaves two tombstones, one after the other.
          const isRepeated = change.kind === 'removed' && change.key === removed;
          removed = change.kind === 'removed' ? change.key : undefined;
          if (!isRepeated) yield change;
          if (initial && message.info.pending === 0) {
            initial = false;
            yield { kind: 'caught-up' };
          }
          waitsSince = performance.now();
        }
        if (mustBeginAnew && !signal.aborted) throw new WatchCutOff(bucket);
      } finally {
        clearInterval(timer);
        signal.removeEventListener('abort', stop);
        end();
      }
    },
  };

  function changeOf(
    { subject, seq: revision, data, headers }: JsMsg,
    initial: boolean,
  ): Exclude<DocumentChange<T>, { kind: 'caught-up' }> {
    const key = keyOf(subject);
    if (isMarker(headers)) return { kind: 'removed', key, revision, initial };
    try {
      return { kind: 'put', key, document: parse(prefix + key, data, revision), revision, initial };
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return { kind: 'unreadable', key, revision, initial, problem: error.message };
    }
  }
}

type Following = {
  messages: AsyncIterable<JsMsg> & { stop(): void };
  /** Number of messages that waited at the start. */
  waiting: number;
  /** True when no more changes will come, because the server was restarted. */
  isForgotten: () => Promise<boolean>;
  end: () => void;
};

/** The server refuses this document permanently: it is too large, or its key is invalid. */
class DocumentRefused extends Poison {
  override name = 'DocumentRefused';

  constructor(bucket: string, key: string, sizeBytes: number, cause: unknown) {
    super(`The document "${key}" (${sizeBytes} bytes) cannot be stored in the bucket ${bucket}: ${messageOf(cause)}.`, {
      cause,
    });
  }
}

/** The bus was restarted, possibly with older data whose revisions are reused; or it does not send the stored documents. */
class WatchCutOff extends Unavailable {
  override name = 'WatchCutOff';

  constructor(bucket: string) {
    super(
      `A watch in the bucket ${bucket} receives no more changes, because the bus was restarted. It has to be started again.`,
    );
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof errors.InvalidArgumentError || (error instanceof JetStreamApiError && error.status === 400);
}

const isMarker = (head: MsgHdrs | undefined): boolean => /^(DEL|PURGE)$/.test(head?.get('KV-Operation') ?? '');
