import { randomBytes } from 'node:crypto';
import { messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';

/** A session of a reader, as its sealed cookie has it. `from` and `until` are milliseconds since 1970, in digits. */
export type ReaderSession = { reader: string; id: string; from: string; until: string };

/** Keeps names, a few thousand at most: one for each ended session. All copies of a host may write, read and remove at the same time. */
export type EndedSessionStore = {
  read(): Promise<readonly string[]>;
  /** Resolves when the name outlives this process. `until`: when it is of no use any more, in milliseconds since 1970. */
  add(name: string, until: number): Promise<void>;
  remove(names: readonly string[]): Promise<void>;
  close(): void;
};

/** How long a session that another copy of the host ended may go on here. */
const lookEveryMs = 1_000;
/** Without a look for this long, no session is taken: any of them may have ended. */
const longestWithoutLookMs = 60_000;
const answerWithinMs = 3_000;
/** More are not kept: then every session that has begun so far ends. */
const mostEnded = 10_000;
const longestSessionMs = 720 * 3_600_000;
/** How much longer an ended session is kept than it would have lasted: a clock that is ahead, of any copy, must not bring it back. */
const clockRoomMs = 48 * 3_600_000;

export function newSession(reader: string, seconds: number, now: number = Date.now()): ReaderSession {
  return { reader, id: randomBytes(16).toString('hex'), from: String(now), until: String(now + seconds * 1_000) };
}

/** Whether a session goes on. Unknown: it may have ended where this copy of the host cannot look. */
export type SessionState = 'lasts' | 'ended' | 'unknown';

/**
 * The sessions that readers ended before their time. A session is a sealed cookie, which whoever has a copy of it could go on showing; so a
 * sign-out writes the session's id where all copies of the host look, each once a second while readers come, and where it outlives a restart.
 */
export function endedSessions(store: EndedSessionStore, logger: Logger, now: () => number = Date.now) {
  let known: ReadonlySet<string> = new Set();
  /** How many of them would still last. */
  let lasting = 0;
  /** Sessions that began before ended, all of them. */
  let endedBefore = 0;
  /** When what is known was read. */
  let readAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  /** Ended here, and perhaps not to be read yet: until when they would have lasted, by id. */
  const own = new Map<string, number>();
  let problem: string | undefined;
  /** Also where the clock was set back: then what was read is as old as it seems to be too new. */
  const since = (at: number): number => Math.abs(now() - at);

  async function look(): Promise<void> {
    const at = now();
    triedAt = at;
    try {
      learn(await inTime(store.read()), at);
      readAt = at;
      if (problem !== undefined) logger.info('sessions that ended can be read again');
      problem = undefined;
    } catch (error) {
      const said = messageOf(error);
      if (said !== problem) logger.error(`which sessions ended cannot be read: ${said}`);
      problem = said;
    }
  }

  function learn(names: readonly string[], at: number): void {
    const ids = new Set<string>();
    const past: { name: string; until: number }[] = [];
    for (const name of names) {
      const [, what = '', digits = ''] = /^([0-9a-f]{32}|all-\d{1,16})\.(\d{1,16})$/.exec(name) ?? [];
      if (what === '') continue;
      const until = Number(digits);
      if (until < at) past.push({ name, until });
      if (what.startsWith('all-')) endedBefore = Math.max(endedBefore, Number(what.slice('all-'.length)));
      else ids.add(what);
    }
    for (const [id, until] of own) {
      if (until + clockRoomMs < at || ids.has(id)) own.delete(id);
    }
    known = ids;
    lasting = names.length - past.length;
    const over = past
      .sort((a, b) => b.until - a.until)
      .filter(({ until }, index) => index >= mostEnded || until + clockRoomMs < at)
      .map(({ name }) => name);
    // Another copy may have removed them already.
    if (over.length > 0) store.remove(over).catch(() => {});
  }

  const hasEnded = ({ id, from }: ReaderSession): boolean => known.has(id) || own.has(id) || Number(from) < endedBefore;

  return {
    /** What is known without a look: undefined when the last one is older than a second. */
    known(session: ReaderSession): SessionState | undefined {
      if (hasEnded(session)) return 'ended';
      return since(readAt) < lookEveryMs ? 'lasts' : undefined;
    },
    /** Never rejects. */
    async stateOf(session: ReaderSession): Promise<SessionState> {
      if (since(triedAt) >= lookEveryMs)
        looking ??= look().finally(() => {
          looking = undefined;
        });
      await looking;
      if (hasEnded(session)) return 'ended';
      return since(readAt) < longestWithoutLookMs ? 'lasts' : 'unknown';
    },
    /** Ends a session, here at once. Rejects when other copies, or this one after a restart, may not learn of it. */
    async end({ id, until }: ReaderSession): Promise<void> {
      own.set(id, Number(until));
      if (lasting + own.size <= mostEnded) return await inTime(store.add(`${id}.${until}`, Number(until)));
      endedBefore = now();
      // They all began before.
      own.clear();
      own.set(id, Number(until));
      known = new Set();
      lasting = 0;
      const last = endedBefore + longestSessionMs;
      await inTime(store.add(`all-${endedBefore}.${last}`, last));
      logger.warn(`more than ${mostEnded} sessions were ended early: all that have begun end now`);
      const names = await inTime(store.read());
      await inTime(store.remove(names.filter((name) => !name.startsWith('all-'))));
    },
    close: () => store.close(),
  };
}

export type EndedSessions = ReturnType<typeof endedSessions>;

const inTime = <T>(answer: Promise<T>): Promise<T> =>
  withDeadline(answer, answerWithinMs, () => new Error(`no answer within ${answerWithinMs} ms`));
