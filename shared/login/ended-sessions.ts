import { randomBytes } from 'node:crypto';
import { messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';

/**
 * A reader's session, as stored in its sealed cookie. `from` and `until` are milliseconds since 1970, in digits. `group`: the
 * sessions that can end together, such as those of one organization's sites on a host of many sites.
 */
export type ReaderSession = { reader: string; id: string; from: string; until: string; group?: string };

/** Stores a few thousand names at most: one for each ended session. All copies of a host may write, read and remove at the same time. */
export type EndedSessionStore = {
  read(): Promise<readonly string[]>;
  /** Resolves when the name is stored durably. `until` is the end of its use, in milliseconds since 1970. */
  add(name: string, until: number): Promise<void>;
  remove(names: readonly string[]): Promise<void>;
  close(): void;
};

/** Cache time of the names: a session that another copy of the host ended may continue here for this time. */
const lookEveryMs = 1_000;
/** Time without a successful read after which no session is accepted, as each of them may have ended. */
const longestWithoutLookMs = 60_000;
const answerWithinMs = 3_000;
/** Limit of stored names. Beyond it, all current sessions of one group end: the group with the most names. */
const mostEnded = 10_000;
const longestSessionMs = 720 * 3_600_000;
/**
 * Tolerance for clock skew. The record of an ended session is kept for this time after the session would have expired, so that no copy whose clock is
 * ahead removes it too early and revives the session.
 */
const clockRoomMs = 48 * 3_600_000;

/**
 * Starts a session. `group`: the sessions that can end together; undefined if all sessions are one group. Its characters are letters, digits, `_` and
 * `-`.
 */
export function newSession(reader: string, seconds: number, now: number = Date.now(), group?: string): ReaderSession {
  const session = { reader, id: randomBytes(16).toString('hex'), from: String(now) };
  return {
    ...session,
    until: String(now + seconds * 1_000),
    ...(group !== undefined && { group }),
  };
}

/** An ended session: the end of its use, and its group, which is empty where all sessions are one group. */
type Ended = { until: number; group: string };

const endedOf = ({ until, group = '' }: ReaderSession): Ended => ({ until: Number(until), group });

/** The stored name of an ended session, or of the end of all sessions of a group. */
const nameOf = (what: string, { until, group }: Ended): string => `${what}.${until}${group === '' ? '' : `.${group}`}`;

const namePattern = /^([0-9a-f]{32}|all-\d{1,16})\.(\d{1,16})(?:\.([a-z0-9_-]{1,63}))?$/;

/** State of a session. It is `unknown` while the store cannot be read: another copy of the host may have ended it. */
export type SessionState = 'lasts' | 'ended' | 'unknown';

/**
 * The sessions that readers ended by signing out. A session is a sealed cookie, and a stolen copy of it would stay valid until it expires. So a
 * sign-out stores the session's id durably. Every copy of the host reads the stored ids once a second while it gets requests.
 */
export function endedSessions(store: EndedSessionStore, logger: Logger, now: () => number = Date.now) {
  let known: ReadonlySet<string> = new Set();
  /** Numbers of stored names whose sessions would not have expired yet, by group. */
  let lasting: ReadonlyMap<string, number> = new Map();
  /** All sessions of a group that began before this time have ended. */
  const endedBefore = new Map<string, number>();
  /** Time of the last successful read. */
  let readAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  /** Sessions that were ended here and that the store may not return yet, by id. */
  const own = new Map<string, Ended>();
  let problem: string | undefined;
  /** Age in milliseconds. If the clock was set back, a time in the future counts as equally old. */
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
      if (said !== problem) logger.error(`the ended sessions cannot be read: ${said}`);
      problem = said;
    }
  }

  function learn(names: readonly string[], at: number): void {
    const ids = new Set<string>();
    const counts = new Map<string, number>();
    const past: { name: string; until: number }[] = [];
    for (const name of names) {
      const [, what = '', digits = '', group = ''] = namePattern.exec(name) ?? [];
      if (what === '') continue;
      const until = Number(digits);
      if (until < at) past.push({ name, until });
      else countOne(counts, group);
      if (what.startsWith('all-')) endAll(group, Number(what.slice('all-'.length)));
      else ids.add(what);
    }
    for (const [id, { until }] of own) {
      if (until + clockRoomMs < at || ids.has(id)) own.delete(id);
    }
    known = ids;
    lasting = counts;
    const over = past
      .sort((a, b) => b.until - a.until)
      .filter(({ until }, index) => index >= mostEnded || until + clockRoomMs < at)
      .map(({ name }) => name);
    // Another copy may have removed them already.
    if (over.length > 0) store.remove(over).catch(() => {});
  }

  const endAll = (group: string, before: number): void =>
    void endedBefore.set(group, Math.max(before, endedBefore.get(group) ?? 0));

  const hasEnded = ({ id, from, group = '' }: ReaderSession): boolean =>
    known.has(id) || own.has(id) || Number(from) < (endedBefore.get(group) ?? 0);

  /** The group with the most names when there are too many; undefined if there are not. */
  function tooMany(): string | undefined {
    let all = own.size;
    for (const count of lasting.values()) all += count;
    if (all <= mostEnded) return undefined;
    const counts = new Map(lasting);
    for (const { group } of own.values()) countOne(counts, group);
    let most: [group: string, count: number] | undefined;
    for (const each of counts) if (most === undefined || each[1] > most[1]) most = each;
    return most?.[0];
  }

  return {
    /** The state from the cache; undefined if the last read is older than a second. */
    known(session: ReaderSession): SessionState | undefined {
      if (hasEnded(session)) return 'ended';
      return since(readAt) < lookEveryMs ? 'lasts' : undefined;
    },
    /** State of a session, read from the store if the cached names are too old. Never rejects. */
    async stateOf(session: ReaderSession): Promise<SessionState> {
      if (since(triedAt) >= lookEveryMs)
        looking ??= look().finally(() => {
          looking = undefined;
        });
      await looking;
      if (hasEnded(session)) return 'ended';
      return since(readAt) < longestWithoutLookMs ? 'lasts' : 'unknown';
    },
    /** Ends a session, here at once. Rejects if it could not be stored: then other copies, and this one after a restart, may still accept the session. */
    async end(session: ReaderSession): Promise<void> {
      const ended = endedOf(session);
      own.set(session.id, ended);
      const group = tooMany();
      if (group !== ended.group) await inTime(store.add(nameOf(session.id, ended), ended.until));
      if (group === undefined) return;
      const ending = this.endGroup(group);
      // These sessions began before that time, so the end of the group covers them.
      for (const [id, each] of own) if (each.group === group && id !== session.id) own.delete(id);
      lasting = new Map([...lasting].filter(([other]) => other !== group));
      await ending;
      const whose = group === '' ? '' : ` of ${group}`;
      logger.warn(`more than ${mostEnded} sessions were ended early, so all existing sessions${whose} end now`);
      const names = await inTime(store.read());
      const isNeedless = (name: string): boolean => {
        const [, what = '', , of = ''] = namePattern.exec(name) ?? [];
        return of === group && !what.startsWith('all-');
      };
      await inTime(store.remove(names.filter(isNeedless)));
    },
    /**
     * Ends all sessions of a group that have begun so far, and those that began until `began`: the start of a session may be in the future if the clock
     * was set back, or if another machine's clock is ahead. Rejects as `end` does.
     */
    async endGroup(group: string, began = 0): Promise<void> {
      const before = Math.max(now(), began + 1);
      endAll(group, before);
      const all = { until: before + longestSessionMs, group };
      await inTime(store.add(nameOf(`all-${before}`, all), all.until));
    },
    close: () => store.close(),
  };
}

const countOne = (counts: Map<string, number>, group: string): void =>
  void counts.set(group, (counts.get(group) ?? 0) + 1);

export type EndedSessions = ReturnType<typeof endedSessions>;

const inTime = <T>(answer: Promise<T>): Promise<T> =>
  withDeadline(answer, answerWithinMs, () => new Error(`no answer within ${answerWithinMs} ms`));
