import { JetStreamApiError, JetStreamError, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import type { KV, KvEntry } from '@nats-io/kv';
import { errors } from '@nats-io/transport-node';
import type { z } from 'zod';
import { messageOf, Poison, Unavailable } from '#shared/runtime/failures.ts';
import type { DocumentChange, DocumentStore, ReadDocument } from '../read-models.ts';
import { isConflict } from './nats-event-log.ts';
import { UnreadableDocument } from '../parse-message.ts';
import type { BucketRow } from '../subjects/subject-table.ts';
import { whileAway, wholeAnswer } from './connection.ts';

const deadlineMs = 5_000;
/** Documents that are read together. */
const pageSize = 256;
const pageBytes = 4_000_000;
const notFound = 404;
/** How often a watch looks whether it would still be told of what is written. */
const lookBackEveryMs = 2_000;
/** What is removed leaves a marker for those who watch. One that is away for longer reads everything again. */
const markerSeconds = 600;

/** Documents of one kind in a bucket: those whose keys begin with `prefix`, which callers do not see. */
export function natsDocumentStore<T>(
  kv: KV,
  jsm: JetStreamManager,
  { name: bucket, removedKeptSeconds = markerSeconds }: Pick<BucketRow, 'name' | 'removedKeptSeconds'>,
  schema: z.ZodType<T>,
  prefix = '',
): DocumentStore<T> {
  const parse = (key: string, bytes: Uint8Array, revision: number): T => {
    const where = `The document "${key}" of the bucket ${bucket}`;
    let json: unknown;
    try {
      json = JSON.parse(new TextDecoder().decode(bytes));
    } catch {
      throw new UnreadableDocument(`${where} is not JSON.`, revision);
    }
    const result = schema.safeParse(json);
    if (result.success) return result.data;
    const issue = result.error.issues[0];
    throw new UnreadableDocument(`${where} is wrong at "${issue?.path.join('.')}": ${issue?.message}.`, revision);
  };
  const call = <R>(what: string, run: () => Promise<R>) =>
    whileAway(`${what} in the bucket ${bucket}`, deadlineMs, run);

  const stream = `KV_${bucket}`;
  const subjectOf = (full: string): string => `$KV.${bucket}.${full}`;
  const readable = ({ subject, seq, data, header }: StoredMsg): ReadDocument<T>[] => {
    if (isMarker(header.get('KV-Operation'))) return [];
    const full = subject.slice(subjectOf('').length);
    const [key, revision] = [full.slice(prefix.length), seq];
    try {
      return [{ key, revision, document: parse(full, data, seq) }];
    } catch (error) {
      return [{ key, revision, problem: messageOf(error) }];
    }
  };

  const newest = (full: string) =>
    call(`reading "${full}"`, () => jsm.streams.getMessage(stream, { last_by_subj: subjectOf(full) }));

  /**
   * Puts a marker that ends by itself over the one that does not. A server that dies has forgotten which documents were replaced, and what is
   * newest of a key then counts: over a single marker that has ended that would be the removed document. If this fails, the marker stays.
   */
  async function letMarkerEnd(full: string): Promise<void> {
    const marker = await newest(full);
    if (marker === null || !isMarker(marker.header.get('KV-Operation'))) return;
    await kv.purge(full, { ttl: `${removedKeptSeconds}s`, previousSeq: marker.seq });
  }

  async function listKeys(filter: string): Promise<Set<string>> {
    const found = await kv.keys(filter);
    try {
      return new Set((await wholeAnswer(found)).map((full) => full.slice(prefix.length)));
    } finally {
      found.stop();
      removeConsumer(found);
    }
  }

  return {
    async get(key, options = {}) {
      const full = prefix + key;
      if (options.fromLeader === true) {
        const message = await newest(full);
        if (message === null || isMarker(message.header.get('KV-Operation'))) return undefined;
        return { key, document: parse(full, message.data, message.seq), revision: message.seq };
      }
      const entry: KvEntry | null = await call(`reading "${full}"`, () => kv.get(full));
      if (entry === null || entry.operation !== 'PUT') return undefined;
      return { key, document: parse(full, entry.value, entry.revision), revision: entry.revision };
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
        // An earlier try may have got through without its answer: then the key has what we wrote.
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
          return kv.purge(full, guard);
        });
      } catch (error) {
        if (!isConflict(error)) throw error;
        // An earlier try may have got through without its answer.
        if (attempts === 1 || (await this.get(key, { fromLeader: true })) !== undefined) return false;
      }
      await letMarkerEnd(full).catch(() => {});
      return true;
    },

    async getMany(keys) {
      const documents: ReadDocument<T>[] = [];
      for (let at = 0; at < keys.length; at += pageSize) {
        const subjects = keys.slice(at, at + pageSize).map((key) => subjectOf(prefix + key));
        const page = () => directly(jsm.direct.getLastMessagesFor(stream, { multi_last: subjects }));
        documents.push(...(await call('reading documents', page)).flatMap(readable));
      }
      return documents;
    },

    async *pages() {
      for (let seq = 1; ; ) {
        const from = { seq, batch: pageSize, max_bytes: pageBytes, next_by_subj: subjectOf(`${prefix}>`) };
        const page = await call('reading documents', () => directly(jsm.direct.getBatch(stream, from)));
        const last = page.at(-1);
        if (last === undefined) return;
        yield page.flatMap(readable);
        seq = last.seq + 1;
      }
    },

    async keys(filter = '>') {
      const listed = await call('listing keys', () => listKeys(prefix + filter));
      // The listing misses a key that is written meanwhile. Of the subjects, some only say that a key was removed.
      const { state } = await call('listing keys', () =>
        jsm.streams.info(stream, { subjects_filter: subjectOf(prefix + filter) }),
      );
      const all = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(subjectOf(prefix).length));
      const missed = await this.getMany(all.filter((key) => !listed.has(key)));
      return [...listed, ...missed.map(({ key }) => key)];
    },

    async *watch(filter, signal) {
      // The client says with each entry how many wait behind it, but nothing at all when there is no entry.
      let initial = (await this.keys(filter)).length > 0;
      if (signal.aborted) return;
      if (!initial) yield { kind: 'caught-up' };
      const entries = await call('watching', () => kv.watch({ key: prefix + filter }));
      const stop = () => entries.stop();
      signal.addEventListener('abort', stop, { once: true });
      let newest = 0;
      /** When it began to wait for an entry; `Infinity` while the reader has one in hand. */
      let waitsSince = performance.now();
      let mustBeginAnew = false;
      let removed: string | undefined;
      const lookBack = async (): Promise<void> => {
        // The server was restarted meanwhile, or the last key has gone before it was seen.
        const isStuck = initial && performance.now() - waitsSince > deadlineMs;
        const { state } = await jsm.streams.info(stream);
        mustBeginAnew = isStuck || state.last_seq < newest;
        newest = state.last_seq;
        if (mustBeginAnew) stop();
      };
      // While the bus is away there is nothing to see.
      const timer = setInterval(() => void lookBack().catch(() => {}), lookBackEveryMs).unref();
      try {
        if (signal.aborted) return;
        for await (const entry of entries) {
          newest = Math.max(newest, entry.revision);
          waitsSince = Infinity;
          // A removal leaves two markers, one after the other.
          const isRepeated = entry.operation !== 'PUT' && entry.key === removed;
          removed = entry.operation === 'PUT' ? undefined : entry.key;
          if (!isRepeated) yield change(entry, initial);
          if (initial && (entry.delta ?? 0) === 0) {
            initial = false;
            yield { kind: 'caught-up' };
          }
          waitsSince = performance.now();
        }
        if (mustBeginAnew && !signal.aborted) throw new WatchCutOff(bucket);
      } finally {
        clearInterval(timer);
        signal.removeEventListener('abort', stop);
        entries.stop();
        removeConsumer(entries);
      }
    },
  };

  function change(entry: KvEntry, initial: boolean): DocumentChange<T> {
    const key = entry.key.slice(prefix.length);
    if (entry.operation !== 'PUT') return { kind: 'removed', key, revision: entry.revision, initial };
    try {
      return {
        kind: 'put',
        key,
        document: parse(entry.key, entry.value, entry.revision),
        revision: entry.revision,
        initial,
      };
    } catch (error) {
      if (!(error instanceof UnreadableDocument)) throw error;
      return { kind: 'unreadable', key, revision: entry.revision, initial, problem: error.message };
    }
  }
}

/** The server does not take this document, and will not take it later either: it is too large, or its key is none. */
class DocumentRefused extends Poison {
  override name = 'DocumentRefused';

  constructor(bucket: string, key: string, sizeBytes: number, cause: unknown) {
    super(`The document "${key}" (${sizeBytes} bytes) cannot be stored in the bucket ${bucket}: ${messageOf(cause)}.`, {
      cause,
    });
  }
}

/**
 * The bus came back with older data, whose revisions are given out again, so that a watch would be told of none before it is past what it saw; or
 * it does not tell what is there.
 */
class WatchCutOff extends Unavailable {
  override name = 'WatchCutOff';

  constructor(bucket: string) {
    super(`A watch in the bucket ${bucket} sees nothing any more: the bus was restarted. It has to be begun anew.`);
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof errors.InvalidArgumentError || (error instanceof JetStreamApiError && error.status === 400);
}

/** All messages of a batch that is read directly; none when there are none. */
async function directly(asked: Promise<AsyncIterable<StoredMsg>>): Promise<StoredMsg[]> {
  try {
    return await wholeAnswer(await asked);
  } catch (error) {
    if (error instanceof JetStreamError && 'code' in error && error.code === notFound) return [];
    throw error;
  }
}

/**
 * When a listing or a watch ends, the client leaves its consumer to the server, which keeps it for five minutes and so collects too many.
 * Only a field of the iterator says which consumer it was.
 */
function removeConsumer(ended: object): void {
  const { _data: consumer } = ended as { _data?: { delete?(): Promise<boolean> } };
  // If this fails, the server removes the consumer later.
  consumer?.delete?.().catch(() => {});
}

const isMarker = (operation: string): boolean => operation === 'DEL' || operation === 'PURGE';
