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
  /** Monotonic time in milliseconds. */
  now?: () => number;
};

const minuteMs = 60_000;
/** Pause between rounds without failures. */
const everyMs = 10_000;
/** Number of texts of one domain that get vectors before the next domain has its turn. These vectors are searched from then on. */
const textsPerTurn = 512;
const callWithinMs = 60_000;
/** Time for which a version counts as complete without another check, because it may be rebuilt. */
const trustMs = 5 * minuteMs;
const unavailableRetry: RetryPolicy = { firstPauseMs: 5_000, longestPauseMs: 5 * minuteMs };
const domainRetry: RetryPolicy = { firstPauseMs: 20_000, longestPauseMs: 30 * minuteMs };
/** Pause after a refusal. It is long, because somebody has to change the key, the model or the budget. */
const refusedPauseMs = 15 * minuteMs;
/** If the embedder refuses all texts of a call that has at least this many, the fault is not in the texts. */
const tooManyRefused = 8;

/**
 * Makes vectors for searched versions until `signal` aborts. Only one indexer does this, so that no text is paid for twice. Rejects only with the
 * signal's reason.
 */
export async function keepVectors(context: VectorContext, signal: AbortSignal): Promise<void> {
  const keeper = vectorKeeper(context);
  while (!signal.aborted) {
    const pauseMs = await keeper.round(signal);
    await wait(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

type Turn = {
  scope: SearchScope;
  /** Number of its last turn. */
  turn: number;
  failures: number;
  notBefore: number;
  /** The version that is complete, and the time until which that is trusted; `seen` is the version that got the vectors of earlier ones. */
  complete?: { contentVersion: string; until: number };
  seen?: string;
};

/**
 * Passages are searched by words as soon as they are indexed; vectors follow. Domains take turns. A domain with a fault of its own backs off alone;
 * if the embedder fails, all domains back off, and the one at which it failed is retried last.
 */
export function vectorKeeper(context: VectorContext) {
  const { bus, searchIndex, embedder, logger, now = () => performance.now() } = context;
  const domains = new Map<string, Turn>();
  let turns = 0;
  let failures = 0;

  /** Gives domains their turns until no vectors are missing or the embedder fails. Returns the pause until the next round, in milliseconds. */
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
      logger.warn({ err: error }, 'the search for passages without vectors failed');
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

  /** Rejects when the embedder fails; any other failure concerns this domain alone. */
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
      logger.warn({ err: error, ...domain.scope, pauseMs }, 'the vectors of a version are delayed');
    }
  }

  /** Returns true if no text is left. */
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
        // Vectors that were paid for are kept, and those of earlier versions are copied once for each version.
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

  /** Returns the number of texts that were handled. */
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
      throw new EmbedderRefused(`The embedder "${embedder.name}" refuses all of ${refused} texts.`);
    if (refused > 0) logger.warn({ texts: refused }, 'the embedder refuses some texts; they are searched by words');
    await build.add(new Map(call.map(({ digest }, at) => [digest, vectors[at]])));
    return call.length;
  }

  return { round };
}
