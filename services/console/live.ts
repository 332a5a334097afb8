import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { LRUCache } from 'lru-cache';
import { type OrganizationEvent, organizationEventSchema } from '#shared/interfaces/http/events.ts';
import { whoamiSchema } from '#shared/interfaces/http/directory.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { messageOf, Unavailable } from '#shared/runtime/failures.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { type Asker, type Platform, PlatformRefusal } from './platform.ts';

/**
 * An event for an open page. `read-again`: changes may have been missed, so the page reads its data again; this is also the first event. `heartbeat`:
 * nothing happened, and the connection to the browser is kept alive.
 */
export type LiveEvent =
  | Exclude<OrganizationEvent, { event: 'following' }>
  | { event: 'read-again' }
  | { event: 'heartbeat' };

/** An open page. `session`: sessions with the same name have the same credential. `lasts`: resolves to false once the session has ended. */
type LivePage = {
  asker: Asker & { organization: string };
  session: string;
  lasts: () => Promise<boolean>;
};

export type Live = {
  /** The events of an organization for one page, until `signal` aborts or the page's session or key ends. Throws `PlatformRefusal` for too many pages. */
  follow(page: LivePage, signal: AbortSignal): AsyncGenerator<LiveEvent>;
};

export type LiveTimes = {
  heartbeatMs: number;
  /** Silence after which the connection to the platform is replaced. The platform sends a comment every 15 s. */
  silentMs: number;
  /** Age of the last check of a key above which it is checked before an event is passed on. */
  checkedMs: number;
  /** The same while nothing happens. */
  idleCheckedMs: number;
  retries: RetryPolicy;
};

const usualTimes: LiveTimes = {
  heartbeatMs: 15_000,
  silentMs: 45_000,
  checkedMs: 5_000,
  idleCheckedMs: 60_000,
  retries: { firstPauseMs: 250, longestPauseMs: 10_000 },
};

/** Limit of open live pages of one credential in this process. */
const mostPages = 500;

/** Limit of the events that wait for a page. Beyond it, the page reads its data again instead. */
const mostWaiting = 1_000;
/** Limit of the keys whose last check is known. */
const mostChecks = 10_000;

/** A page with the events that it has not read yet: the newest of each export and deployment, so that a slow page stays small. */
type Follower = {
  page: LivePage;
  waiting: Map<string, LiveEvent>;
  wake: () => void;
  isOver: boolean;
};

type Connection = { followers: Set<Follower>; isFollowing: boolean; close: AbortController };

/**
 * Live updates for open pages. All pages of an organization share one connection to the platform, which is opened for the first page and closed after
 * the last one. A connection that ends, fails or is silent is replaced after a backoff.
 */
export function liveUpdates(platform: Platform, logger: Logger, times: LiveTimes = usualTimes): Live {
  const connections = new Map<string, Connection>();
  /** Time and outcome of the last check of each key. Checks at the same time share one request. */
  const checks = new LRUCache<string, { at: number; isValid: Promise<boolean> }>({ max: mostChecks });
  let heartbeat: NodeJS.Timeout | undefined;

  function tell(follower: Follower, event: LiveEvent): void {
    const { waiting } = follower;
    const name = nameOf(event);
    if (waiting.size >= mostWaiting && !waiting.has(name)) {
      waiting.clear();
      waiting.set('read-again', { event: 'read-again' });
    } else waiting.set(name, event);
    follower.wake();
  }

  function end(follower: Follower): void {
    follower.isOver = true;
    follower.wake();
  }

  /** True if a page may learn more, because its session lasts and its key was valid a moment ago. */
  async function mayLearn({ asker, session, lasts }: LivePage, checkedMs: number): Promise<boolean> {
    if (!(await lasts())) return false;
    if (asker.identity.kind !== 'key') return true;
    const known = checks.get(session);
    if (known !== undefined && performance.now() - known.at < checkedMs) return await known.isValid;
    const isValid = platform.ask(asker, { path: '/v1/whoami' }, whoamiSchema).then(
      () => true,
      (error: unknown) => !isRefused(error),
    );
    checks.set(session, { at: performance.now(), isValid });
    return await isValid;
  }

  /** Reads one connection to its end. Rejects with the reason. */
  async function read(organization: string, connection: Connection, asker: Asker): Promise<never> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Unavailable('the events were silent')), times.silentMs);
    try {
      const signal = AbortSignal.any([connection.close.signal, silence.signal]);
      const headers = { accept: 'text/event-stream' };
      const answer = await platform.open(asker, { path: '/v1/events', headers }, signal);
      const parser = createParser({
        onEvent({ event, data }) {
          const read = organizationEventSchema.safeParse({ event, data: jsonIn(data) });
          // Events of a newer platform are left out.
          if (!read.success) return;
          if (read.data.event !== 'following') for (const follower of connection.followers) tell(follower, read.data);
          else {
            connection.isFollowing = true;
            for (const follower of connection.followers) tell(follower, { event: 'read-again' });
          }
        },
      });
      for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        timer.refresh();
        parser.feed(text);
      }
      throw new Unavailable(`the platform ended the events of ${organization}`);
    } catch (error) {
      throw silence.signal.aborted ? silence.signal.reason : error;
    } finally {
      clearTimeout(timer);
      connection.isFollowing = false;
    }
  }

  /** Keeps a connection while pages are open. It has the credential of the page that is open for the longest time. */
  async function keep(organization: string, connection: Connection): Promise<void> {
    const { signal } = connection.close;
    let failures = 0;
    while (!signal.aborted) {
      const [first] = connection.followers;
      if (first === undefined) {
        // A page that opens now gets a connection of its own.
        if (connections.get(organization) === connection) connections.delete(organization);
        return;
      }
      const startedAt = performance.now();
      try {
        await read(organization, connection, first.page.asker);
      } catch (error) {
        if (signal.aborted) return;
        if (isRefused(error)) {
          end(first);
          connection.followers.delete(first);
          continue;
        }
        // A connection that lasted was no failure.
        failures = performance.now() - startedAt > times.retries.longestPauseMs ? 1 : failures + 1;
        logger.warn({ organization, err: messageOf(error) }, 'the live updates ended; they begin again');
        await delay(pauseAfter(failures, times.retries), undefined, { signal }).catch(() => {});
      }
    }
  }

  function join(organization: string, follower: Follower): Connection {
    const known = connections.get(organization);
    if (known !== undefined) {
      known.followers.add(follower);
      if (known.isFollowing) tell(follower, { event: 'read-again' });
      return known;
    }
    const connection: Connection = { followers: new Set([follower]), isFollowing: false, close: new AbortController() };
    setMaxListeners(0, connection.close.signal);
    connections.set(organization, connection);
    void keep(organization, connection);
    return connection;
  }

  function leave(organization: string, connection: Connection, follower: Follower): void {
    connection.followers.delete(follower);
    if (connection.followers.size > 0) return;
    connection.close.abort();
    if (connections.get(organization) === connection) connections.delete(organization);
    if (connections.size > 0) return;
    clearInterval(heartbeat);
    heartbeat = undefined;
    checks.clear();
  }

  function beat(): void {
    for (const { followers } of connections.values())
      for (const follower of followers) tell(follower, { event: 'heartbeat' });
  }

  const openPages = (session: string): number =>
    [...connections.values()].reduce(
      (sum, { followers }) => sum + [...followers].filter(({ page }) => page.session === session).length,
      0,
    );

  return {
    async *follow(page, signal) {
      const { organization } = page.asker;
      if (openPages(page.session) >= mostPages)
        throw new PlatformRefusal(`More than ${mostPages} live pages are open with this sign-in.`, {
          status: 429,
          code: 'rate_limited',
        });
      const follower: Follower = { page, waiting: new Map(), wake: () => {}, isOver: false };
      const onAbort = () => end(follower);
      signal.addEventListener('abort', onAbort);
      const connection = join(organization, follower);
      heartbeat ??= setInterval(beat, times.heartbeatMs);
      try {
        while (!signal.aborted && !follower.isOver) {
          const [next] = follower.waiting;
          if (next === undefined) {
            await new Promise<void>((resolve) => {
              follower.wake = resolve;
            });
            continue;
          }
          const [name, event] = next;
          follower.waiting.delete(name);
          const isIdle = event.event === 'heartbeat';
          if (!(await mayLearn(page, isIdle ? times.idleCheckedMs : times.checkedMs))) return;
          yield event;
        }
      } finally {
        signal.removeEventListener('abort', onAbort);
        leave(organization, connection, follower);
      }
    },
  };
}

/** The platform does not accept the credential. Other failures may pass. */
const isRefused = (error: unknown): boolean =>
  error instanceof PlatformRefusal && error.status >= 400 && error.status < 500 && error.status !== 429;

const nameOf = (event: LiveEvent): string => {
  if (event.event === 'export') return event.data.jobId;
  if (event.event === 'deployment') return `${event.data.domain} ${event.data.deployment.id}`;
  return event.event;
};
