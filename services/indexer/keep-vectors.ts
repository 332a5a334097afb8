import { setTimeout as wait } from 'node:timers/promises';
import { type Embedder, EmbedderRefused, EmbedderUnavailable, embedEach, inCalls } from '#shared/embedding/embedder.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { SearchIndex, SearchScope, VectorBuild } from '#shared/search/search-index.ts';
import { searchedVersion } from './repair-indexes.ts';

export type VectorContext = {
  bus: Pick<BusParts, 'content'>;
  searchIndex: Pick<Required<SearchIndex>, 'startVectors'>;
  embedder: Embedder;
  logger: Logger;
  /** Milliseconds that only grow. */
  now?: () => number;
};

const minuteMs = 60_000;
/** How long until the next round when all is well. */
const everyMs = 10_000;
/** Texts of one domain before the next domain has its turn. What was made until then is searched. */
const textsPerTurn = 512;
const callWithinMs = 60_000;
/** How long a version is taken for complete without another look: it might be built again. */
const trustMs = 5 * minuteMs;
const unavailableRetry: RetryPolicy = { firstPauseMs: 5_000, longestPauseMs: 5 * minuteMs };
const domainRetry: RetryPolicy = { firstPauseMs: 20_000, longestPauseMs: 30 * minuteMs };
/** Somebody has to change the key, the model or the budget. */
const refusedPauseMs = 15 * minuteMs;
/** When none of so many texts is taken, it is not because of the texts. */
const tooManyRefused = 8;

/** Gives what is searched vectors, until `signal` aborts. Only one indexer does, so that no text is paid for twice. Rejects only with the signal's reason. */
export async function keepVectors(context: VectorContext, signal: AbortSignal): Promise<void> {
  const keeper = vectorKeeper(context);
  while (!signal.aborted) {
    const pauseMs = await keeper.round(signal);
    await wait(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

type Turn = {
  scope: SearchScope;
  /** When it had its last turn, by number. */
  turn: number;
  failures: number;
  notBefore: number;
  /** What was found to be complete, or was given what earlier versions had. */
  complete?: { contentVersion: string; until: number };
  seen?: string;
};

/**
 * Passages are searched by their words from the moment that they are indexed; vectors follow. Domains take turns. A domain with which something is wrong waits for
 * itself; when the embedder fails, all wait, and the domain at which it failed is the last one to be tried again.
 */
export function vectorKeeper(context: VectorContext) {
  const { bus, searchIndex, embedder, logger, now = () => performance.now() } = context;
  const domains = new Map<string, Turn>();
  let turns = 0;
  let failures = 0;

  /** One turn for each domain after the other, until none lacks a vector or the embedder fails. Answers how long to wait, in milliseconds. */
  async function round(signal: AbortSignal): Promise<number> {
    try {
      for (;;) {
        await readDomains();
        const waiting = [...domains.values()].filter(isDue).toSorted((a, b) => a.turn - b.turn);
        if (waiting.length === 0) return everyMs;
        for (const domain of waiting) await takeTurn(domain, signal);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EmbedderRefused) {
        logger.error(
          { reason: error.message, pauseMs: refusedPauseMs },
          'passages get no vectors; they are searched by words',
        );
        return refusedPauseMs;
      }
      if (error instanceof EmbedderUnavailable) {
        failures += 1;
        const pauseMs = error.retryAfterMs ?? pauseAfter(failures, unavailableRetry);
        logger.warn({ reason: error.message, pauseMs }, 'passages get their vectors later');
        return pauseMs;
      }
      logger.warn({ err: error }, 'it could not be looked for passages without vectors');
      return everyMs;
    }
  }

  async function readDomains(): Promise<void> {
    const subjects = await bus.content.subjects(contentLogSubject('*', '*'));
    for (const subject of domains.keys()) if (!subjects.includes(subject)) domains.delete(subject);
    for (const subject of subjects) {
      const scope = await searchedVersion(context, subject);
      if (scope === undefined) domains.delete(subject);
      else domains.set(subject, { turn: 0, failures: 0, notBefore: 0, ...domains.get(subject), scope });
    }
  }

  const isDue = ({ scope, notBefore, complete }: Turn): boolean =>
    now() >= notBefore && !(complete?.contentVersion === scope.contentVersion && now() < complete.until);

  /** Rejects when the embedder fails; any other failure is this domain's alone. */
  async function takeTurn(domain: Turn, signal: AbortSignal): Promise<void> {
    turns += 1;
    domain.turn = turns;
    try {
      const isComplete = await giveVectors(domain, signal);
      domain.failures = 0;
      if (isComplete) domain.complete = { contentVersion: domain.scope.contentVersion, until: now() + trustMs };
    } catch (error) {
      if (signal.aborted || error instanceof EmbedderRefused || error instanceof EmbedderUnavailable) throw error;
      domain.failures += 1;
      const pauseMs = pauseAfter(domain.failures, domainRetry);
      domain.notBefore = now() + pauseMs;
      logger.warn({ err: error, ...domain.scope, pauseMs }, 'a version gets its vectors later');
    }
  }

  /** Answers whether no text is left. */
  async function giveVectors(domain: Turn, signal: AbortSignal): Promise<boolean> {
    const { scope } = domain;
    const build = await searchIndex.startVectors(scope, embedder.name, signal);
    if (build === undefined) return true;
    try {
      const texts = [...build.missing].map(([digest, text]) => ({ digest, text }));
      const portion = texts.slice(0, textsPerTurn);
      let given = 0;
      try {
        for (const call of inCalls(portion, embedder)) {
          given += await embedCall(build, call, signal);
          failures = 0;
        }
      } finally {
        // What was paid for counts, and what earlier versions had: once for each version.
        if ((given > 0 || domain.seen !== scope.contentVersion) && !signal.aborted) await build.commit();
        domain.seen = scope.contentVersion;
      }
      if (portion.length < texts.length) return false;
      logger.info({ ...scope, texts: texts.length }, 'passages are searched by meaning, too');
      return true;
    } finally {
      await build.close();
    }
  }

  /** Answers how many texts have been dealt with. */
  async function embedCall(
    build: VectorBuild,
    call: readonly { digest: string; text: string }[],
    signal: AbortSignal,
  ): Promise<number> {
    const late = AbortSignal.timeout(callWithinMs);
    let vectors: (Float32Array | undefined)[];
    try {
      vectors = await embedEach(
        embedder,
        call.map(({ text }) => text),
        AbortSignal.any([signal, late]),
      );
    } catch (error) {
      if (late.aborted && !signal.aborted) {
        throw new EmbedderUnavailable(`The embedder "${embedder.name}" took more than ${callWithinMs / 1_000} s.`);
      }
      throw error;
    }
    const refused = vectors.filter((vector) => vector === undefined).length;
    if (refused === call.length && refused >= tooManyRefused)
      throw new EmbedderRefused(`The embedder "${embedder.name}" takes none of ${refused} texts.`);
    if (refused > 0)
      logger.warn({ texts: refused }, 'the embedder does not take some texts; they are searched by words');
    await build.add(new Map(call.map(({ digest }, at) => [digest, vectors[at]])));
    return call.length;
  }

  return { round };
}
