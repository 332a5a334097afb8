import type { Generation } from '#shared/interfaces/read-models.ts';
import type { DeadLetter } from '#shared/contracts/dead-letters.ts';
import { readable, settleFailure } from '#shared/messaging/queue/consume.ts';
import { type DeadLetterQueue, messageOfLetter } from '#shared/messaging/queue/dead-letters.ts';
import type { Delivery, DurableReader } from '#shared/messaging/queue/durable-reader.ts';
import { storesOf } from '#shared/messaging/read-models.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { Poison, Unavailable } from '#shared/runtime/failures.ts';
import { bufferedReadModels, type DocumentMemory, documentMemory } from './buffered-store.ts';
import type { ProjectionRun, ProjectionSource } from './projection.ts';

/** Batch size: at most the limit of unacknowledged messages (see the table), and folded long before the bus redelivers them (30 s). */
const mostAtOnce = 4_000;
/** Cache size in list entries, each under a kilobyte. */
const mostRemembered = 16_000;

type Follower = {
  /**
   * Reads commits and folds them into the generation until `signal` aborts; commits in flight are finished. Waiting commits are folded together, so a
   * history is read as fast as the bus delivers it, and a single commit is folded at once.
   */
  follow(signal: AbortSignal): Promise<void>;
  /**
   * Folds the message of a dead letter and those that waited behind it, or only the latter. Rejects when the message itself cannot be folded. If a
   * later one cannot be folded, that is set aside in its place.
   */
  again(letter: DeadLetter, from: 'it' | 'after-it'): Promise<void>;
};

/** The single writer of a generation, batch by batch. */
function followerOf<M>(run: ProjectionRun<M>, deadLetterQueue: DeadLetterQueue, generation: Generation): Follower {
  const memory = documentMemory(mostRemembered);
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = turn.then(work);
    turn = done.catch(() => {});
    return done;
  };
  return {
    async follow(signal) {
      const reader = await run.source.openReader(run.bus, generation);
      while (!signal.aborted) {
        const first = await reader.next({ signal });
        if (first === undefined) {
          if (!signal.aborted) await checkThere(reader);
          continue;
        }
        const more = await reader.more(Math.min(first.pendingCount, mostAtOnce - 1));
        await inTurn(() => foldDeliveries(run, deadLetterQueue, generation, [first, ...more], memory));
      }
    },
    again: (letter, from) => inTurn(() => foldAgain(run, deadLetterQueue, generation, { letter, from }, memory)),
  };
}

/** Rejects when the reader no longer exists on the bus. The next leader, or this process when it leads again, makes a new one. */
async function checkThere(reader: DurableReader<unknown>): Promise<void> {
  await reader.position().catch((error: unknown) => {
    if (!(error instanceof Unavailable)) throw error;
  });
}

/**
 * A message that cannot be folded becomes a dead letter, and so does one whose document cannot be written; the messages of other aggregates continue.
 * Later commits of the same aggregate wait behind it: the gap that it leaves makes their folds read the log and stop at the same message.
 */
async function foldDeliveries<M>(
  run: ProjectionRun<M>,
  deadLetterQueue: DeadLetterQueue,
  generation: Generation,
  deliveries: readonly Delivery<M>[],
  memory: DocumentMemory,
): Promise<void> {
  const settled = new Set<Delivery<M>>();
  const fold = async (some: readonly Delivery<M>[]): Promise<void> => {
    const left = some.filter((delivery) => !settled.has(delivery));
    const batch = beginBatch(run, generation, memory);
    await batch.prepare(left.flatMap(({ value }) => (value === undefined ? [] : value)));
    const folded: Delivery<M>[] = [];
    for (const delivery of left) {
      try {
        await batch.fold(readable(delivery), { overHole: deadLetterQueue.hasHole(delivery) });
        folded.push(delivery);
      } catch (error) {
        settled.add(delivery);
        await settleFailure(deadLetterQueue, [delivery], error);
      }
    }
    try {
      await batch.write();
      crashPoint('before-ack', 'projector');
      await Promise.all(folded.map((delivery) => delivery.ack()));
    } catch (error) {
      if (error instanceof Poison && folded.length > 0) throw error;
      // The messages are not at fault, so none becomes a dead letter.
      await settleFailure(deadLetterQueue, folded, new Error('A batch could not be written.', { cause: error }));
    }
  };
  await inHalves(deliveries, fold, (delivery, error) => settleFailure(deadLetterQueue, [delivery], error));
}

/** One batch of messages for a generation; nothing is stored before `write`. */
function beginBatch<M>(
  run: ProjectionRun<M>,
  generation: Generation,
  memory: DocumentMemory,
  into: ProjectionSource<M>['into'] = run.source.into,
) {
  const { bus, source } = run;
  const buffer = bufferedReadModels(bus.generations[generation], memory);
  const batch = into(buffer.models, bus, run);
  return {
    prepare: async (messages: readonly M[]) => batch.prepare?.(messages),
    fold: (...message: Parameters<typeof batch.fold>) => batch.fold(...message),
    async write() {
      await batch.finish();
      await buffer.flush(storesOf[source.name]);
    },
  };
}

/**
 * Works on items together. If that fails with `Poison`, the document of one or several items cannot be written: it then works on each half, and so
 * finds these items. Documents that were written before are written again, which changes nothing.
 */
async function inHalves<T>(
  items: readonly T[],
  work: (items: readonly T[]) => Promise<void>,
  setAside: (item: T, error: Poison) => Promise<void> | void,
): Promise<void> {
  try {
    await work(items);
  } catch (error) {
    if (!(error instanceof Poison)) throw error;
    const [only, ...others] = items;
    if (only !== undefined && others.length === 0) return setAside(only, error);
    const middle = Math.ceil(items.length / 2);
    await inHalves(items.slice(0, middle), work, setAside);
    await inHalves(items.slice(middle), work, setAside);
  }
}

async function foldAgain<M>(
  run: ProjectionRun<M>,
  deadLetterQueue: DeadLetterQueue,
  generation: Generation,
  { letter, from }: { letter: DeadLetter; from: 'it' | 'after-it' },
  memory: DocumentMemory,
): Promise<void> {
  const batch = beginBatch(run, generation, memory);
  const reader = await run.source.openReader(run.bus, generation);
  if (from === 'it') await batch.fold(readable(await messageOfLetter(reader, letter)));
  if (letter.isOrdered) {
    for await (const delivery of reader.reread(letter.subject, letter.sequence + 1)) {
      try {
        await batch.fold(readable(delivery), { overHole: from === 'after-it' || deadLetterQueue.hasHole(delivery) });
      } catch (error) {
        if (!(error instanceof Poison)) throw error;
        await deadLetterQueue.put(delivery, error);
        break;
      }
    }
  }
  await batch.write();
}

/** An archived object that was left out, with the reason as a sentence. */
export type SetAside = { key: string; reason: string };

/** Number of commits that are folded together. */
const archivedAtOnce = 1_000;

/**
 * Folds archived histories into a generation that is being filled, and returns the objects that were left out because they cannot be folded. This process must be its
 * only writer meanwhile. Idempotent. Rejects when the archive cannot be read completely, or when `signal` aborts.
 */
export async function foldArchived<M>(
  run: ProjectionRun<M>,
  generation: Generation,
  signal: AbortSignal,
): Promise<SetAside[]> {
  const { source, archive, logger } = run;
  if (source.archived === undefined || archive === undefined) return [];
  const memory = documentMemory(mostRemembered);
  const setAside: SetAside[] = [];
  let waiting: ArchivedCommits<M>[] = [];
  const fold = async (): Promise<void> => {
    setAside.push(...(await foldHistories(run, generation, waiting, memory)));
    waiting = [];
  };
  for await (const history of source.archived.histories(archive, signal)) {
    if ('problem' in history) setAside.push({ key: history.key, reason: history.problem });
    else waiting.push(history);
    if (waiting.reduce((count, { commits }) => count + commits.length, 0) >= archivedAtOnce) await fold();
  }
  if (waiting.length > 0) await fold();
  for (const one of setAside) {
    logger.error(
      { projection: source.name, ...one },
      'an archived history cannot be folded; the rebuild continues without it',
    );
  }
  return setAside;
}

type ArchivedCommits<M> = { key: string; commits: M[] };

async function foldHistories<M>(
  run: ProjectionRun<M>,
  generation: Generation,
  histories: readonly ArchivedCommits<M>[],
  memory: DocumentMemory,
): Promise<SetAside[]> {
  const setAside = new Map<string, SetAside>();
  const leaveOut = (key: string, { message }: Poison) => void setAside.set(key, { key, reason: message });
  const fold = async (some: readonly ArchivedCommits<M>[]): Promise<void> => {
    const left = some.filter(({ key }) => !setAside.has(key));
    const batch = beginBatch(run, generation, memory, run.source.archived?.into);
    await batch.prepare(left.flatMap(({ commits }) => commits));
    for (const { key, commits } of left) {
      try {
        for (const commit of commits) await batch.fold(commit);
      } catch (error) {
        if (!(error instanceof Poison)) throw error;
        leaveOut(key, error);
      }
    }
    await batch.write();
  };
  await inHalves(histories, fold, ({ key }, error) => leaveOut(key, error));
  return [...setAside.values()];
}

/** Fills generations concurrently: at most one follower each. */
export type Followers = {
  start(generation: Generation): void;
  /** Resolves when messages in flight are written. */
  stop(generation: Generation): Promise<void>;
  stopAll(): Promise<void>;
  /** Settles a dead letter in every generation that is followed. */
  again: Follower['again'];
  /** Rejects with the first failure of a follower; never resolves. */
  failure: Promise<never>;
};

export function followersOf<M>(run: ProjectionRun<M>, deadLetterQueue: DeadLetterQueue): Followers {
  const running = new Map<Generation, { stop: AbortController; ended: Promise<void>; follower: Follower }>();
  const { promise: failure, reject } = Promise.withResolvers<never>();
  failure.catch(() => {});
  const stop = async (generation: Generation) => {
    const one = running.get(generation);
    one?.stop.abort();
    await one?.ended;
    running.delete(generation);
  };
  return {
    failure,
    start(generation) {
      if (running.has(generation)) return;
      const one = new AbortController();
      const follower = followerOf(run, deadLetterQueue, generation);
      running.set(generation, { stop: one, ended: follower.follow(one.signal).catch(reject), follower });
    },
    stop,
    again: async (letter, from) => {
      await Promise.all([...running.values()].map(({ follower }) => follower.again(letter, from)));
    },
    stopAll: async () => void (await Promise.all([...running.keys()].map(stop))),
  };
}
