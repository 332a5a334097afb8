import type { Generation } from '#shared/contracts/read-models.ts';
import type { DeadLetter } from '#shared/contracts/dead-letters.ts';
import { readable, settleFailure } from '#shared/messaging/consume.ts';
import { type LetterDesk, messageOfLetter } from '#shared/messaging/dead-letters.ts';
import type { Delivery, DurableReader } from '#shared/messaging/durable-reader.ts';
import { storesOf } from '#shared/messaging/read-models.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { Poison, Unavailable } from '#shared/runtime/failures.ts';
import { bufferedReadModels, type DocumentMemory, documentMemory } from './buffered-store.ts';
import type { ProjectionRun } from './projection.ts';

/** No more than may be unacknowledged at once (see the table); it is folded long before the bus delivers it again (30 s). */
const mostAtOnce = 4_000;
/** Each under half a megabyte. */
const mostRemembered = 32;

type Follower = {
  /**
   * Reads commits and folds them into the generation until `signal` aborts; it finishes the commits it has taken. It takes waiting commits
   * together, so it reads a history as fast as the bus gives it, and folds a single commit at once.
   */
  follow(signal: AbortSignal): Promise<void>;
  /**
   * Folds the message of a dead letter and those that waited behind it, or those behind it alone. Rejects when the message itself cannot
   * be folded. A later one that cannot be folded is set aside in its place.
   */
  again(letter: DeadLetter, from: 'it' | 'after-it'): Promise<void>;
};

/** The one who writes a generation, one batch after the other. */
function followerOf<M>(run: ProjectionRun<M>, desk: LetterDesk, generation: Generation): Follower {
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
        await inTurn(() => foldDeliveries(run, desk, generation, [first, ...more], memory));
      }
    },
    again: (letter, from) => inTurn(() => foldAgain(run, desk, generation, { letter, from }, memory)),
  };
}

/** Rejects when the bus does not have the reader any more. The next leader, or this process when it leads again, makes it anew. */
async function checkThere(reader: DurableReader<unknown>): Promise<void> {
  await reader.position().catch((error: unknown) => {
    if (!(error instanceof Unavailable)) throw error;
  });
}

/**
 * A message that cannot be folded becomes a dead letter. Later commits of the same aggregate wait behind it: the hole that it leaves makes
 * their folds go back to the log and stop at the same message.
 */
async function foldDeliveries<M>(
  run: ProjectionRun<M>,
  desk: LetterDesk,
  generation: Generation,
  deliveries: Delivery<M>[],
  memory: DocumentMemory,
): Promise<void> {
  const { bus, source } = run;
  const buffer = bufferedReadModels(bus.generations[generation], memory);
  const batch = source.into(buffer.models, bus, run);
  const folded: Delivery<M>[] = [];
  await batch.prepare?.(deliveries.flatMap(({ value }) => (value === undefined ? [] : value)));
  for (const delivery of deliveries) {
    try {
      await batch.fold(readable(delivery), { overHole: desk.hasHole(delivery) });
      folded.push(delivery);
    } catch (error) {
      await settleFailure(desk, [delivery], error);
    }
  }
  try {
    await batch.finish();
    await buffer.flush(storesOf[source.name]);
    crashPoint('before-ack', 'projector');
    await Promise.all(folded.map((delivery) => delivery.ack()));
  } catch (error) {
    // It is not the fault of any one message, so none of them becomes a dead letter.
    await settleFailure(desk, folded, new Error('A batch could not be written.', { cause: error }));
  }
}

async function foldAgain<M>(
  run: ProjectionRun<M>,
  desk: LetterDesk,
  generation: Generation,
  { letter, from }: { letter: DeadLetter; from: 'it' | 'after-it' },
  memory: DocumentMemory,
): Promise<void> {
  const { bus, source } = run;
  const buffer = bufferedReadModels(bus.generations[generation], memory);
  const batch = source.into(buffer.models, bus, run);
  const reader = await source.openReader(bus, generation);
  if (from === 'it') await batch.fold(readable(await messageOfLetter(reader, letter)));
  if (letter.isOrdered) {
    for await (const delivery of reader.reread(letter.subject, letter.sequence + 1)) {
      try {
        await batch.fold(readable(delivery), { overHole: from === 'after-it' || desk.hasHole(delivery) });
      } catch (error) {
        if (!(error instanceof Poison)) throw error;
        await desk.put(delivery, error);
        break;
      }
    }
  }
  await batch.finish();
  await buffer.flush(storesOf[source.name]);
}

/** An archived object that was left out, and why, as a sentence. */
export type SetAside = { key: string; reason: string };

/** Commits are folded together until there are this many. */
const archivedAtOnce = 1_000;
/**
 * Folds archived histories into a generation that is being filled, and answers which objects were left out because they cannot be folded.
 * No other process may write to the generation meanwhile. Repeating it changes nothing. Rejects when the archive cannot be read to its
 * end, or when `signal` aborts.
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
  for await (const history of source.archived(archive, signal)) {
    if ('problem' in history) setAside.push({ key: history.key, reason: history.problem });
    else waiting.push(history);
    if (waiting.reduce((count, { commits }) => count + commits.length, 0) >= archivedAtOnce) await fold();
  }
  if (waiting.length > 0) await fold();
  for (const one of setAside) {
    logger.error(
      { projection: source.name, ...one },
      'an archived history cannot be folded; the rebuild goes on without it',
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
  const { bus, source } = run;
  const buffer = bufferedReadModels(bus.generations[generation], memory);
  const batch = source.into(buffer.models, bus, run);
  const setAside: SetAside[] = [];
  await batch.prepare?.(histories.flatMap(({ commits }) => commits));
  for (const { key, commits } of histories) {
    try {
      for (const commit of commits) await batch.fold(commit);
    } catch (error) {
      if (!(error instanceof Poison)) throw error;
      setAside.push({ key, reason: error.message });
    }
  }
  await batch.finish();
  await buffer.flush(storesOf[source.name]);
  return setAside;
}

/** Fills generations side by side: at most one follower each. */
export type Followers = {
  start(generation: Generation): void;
  /** Resolves when what was in hand is written. */
  stop(generation: Generation): Promise<void>;
  stopAll(): Promise<void>;
  /** Settles a dead letter in every generation that is followed. */
  again: Follower['again'];
  /** Rejects with the first failure of a follower; never resolves. */
  failure: Promise<never>;
};

export function followersOf<M>(run: ProjectionRun<M>, desk: LetterDesk): Followers {
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
      const follower = followerOf(run, desk, generation);
      running.set(generation, { stop: one, ended: follower.follow(one.signal).catch(reject), follower });
    },
    stop,
    again: async (letter, from) => {
      await Promise.all([...running.values()].map(({ follower }) => follower.again(letter, from)));
    },
    stopAll: async () => void (await Promise.all([...running.keys()].map(stop))),
  };
}
