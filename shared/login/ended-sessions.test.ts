import { join } from 'node:path';
import { Redis } from 'ioredis';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answeringRedis } from '../../test/support/answering-redis.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { type RedisServer, startRedis } from '../../test/support/start-redis.ts';
import { endedSessionsInFolder } from './ended-sessions-folder.ts';
import { endedSessionsInRedis } from './ended-sessions-redis.ts';
import { type EndedSessionStore, endedSessions, newSession } from './ended-sessions.ts';

const logger = pino({ level: 'silent' });
const hour = 3_600_000;

/** The contract of all stores. `open` opens the store for one more copy of the host. */
function endedSessionContract(open: () => Promise<EndedSessionStore>): void {
  let at: number;
  const opened: EndedSessionStore[] = [];
  beforeEach(() => {
    at = 1_790_000_000_000;
  });
  afterEach(() => {
    for (const store of opened.splice(0)) store.close();
  });
  async function copy() {
    const store = await open();
    opened.push(store);
    return endedSessions(store, logger, () => at);
  }

  test('a session that was ended is over here at once, elsewhere a second later, and after a restart', async () => {
    const [first, second] = [await copy(), await copy()];
    const [gone, other] = [newSession('ada', 3_600, at), newSession('ada', 3_600, at)];
    for (const one of [first, second]) {
      expect(one.known(gone)).toBeUndefined();
      expect(await one.stateOf(gone)).toBe('lasts');
      expect(one.known(gone)).toBe('lasts');
    }
    await first.end(gone);
    expect(first.known(gone)).toBe('ended');
    at += 1_000;
    expect(second.known(gone)).toBeUndefined();
    expect(await second.stateOf(gone)).toBe('ended');
    const restarted = await copy();
    expect([await restarted.stateOf(gone), await restarted.stateOf(other)]).toEqual(['ended', 'lasts']);
  });

  test('a copy whose clock is a day ahead for a while brings back no session that was ended', async () => {
    const [first, second] = [await copy(), await copy()];
    const [gone, other] = [newSession('ada', 3_600, at), newSession('ada', 3_600, at)];
    await first.end(gone);
    at += 24 * hour;
    for (const one of [first, second]) expect(await one.stateOf(newSession('ada', 3_600, at))).toBe('lasts');
    at -= 24 * hour;
    for (const one of [first, second, await copy()]) {
      expect(await one.stateOf(gone)).toBe('ended');
      expect(await one.stateOf(other)).toBe('lasts');
    }
  });

  test('what would have been over for two days is kept no longer', async () => {
    const store = await open();
    opened.push(store);
    const one = await copy();
    const session = newSession('ada', 3_600, at);
    await one.end(session);
    expect(await store.read()).toContain(`${session.id}.${session.until}`);
    at += 49 * hour + 1;
    await one.stateOf(newSession('ada', 3_600, at));
    await expect.poll(() => store.read()).toEqual([]);
  });
}

describe('ended sessions in a folder', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  endedSessionContract(() => Promise.resolve(endedSessionsInFolder(join(folder, 'ended'))));
});

describeWithServers(['redis-server'], 'ended sessions in Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  endedSessionContract(() => endedSessionsInRedis({ url: redis.url }, 'docs-host'));

  test('are unknown where another program wrote their key, and the error says what to do', async () => {
    const key = 'bindery:docs-host:ended-sessions';
    const operator = new Redis(redis.url);
    await operator.del(key);
    await operator.set(key, 'x');
    const store = await endedSessionsInRedis({ url: redis.url }, 'docs-host');
    await expect(store.read()).rejects.toThrow(`another program wrote the key ${key} of Redis: remove that key`);
    await expect(store.add('x', 1)).rejects.toThrow('remove that key');
    store.close();
    await operator.del(key);
    operator.disconnect();
  });
});

test.each(['+hello\r\n', '$5\r\nhello\r\n', '*1\r\n$-1\r\n', '*1\r\n:5\r\n', '$-1\r\n', ':5\r\n'])(
  'sessions are unknown, and none can be ended, where Redis answers with something else: %j',
  async (answer) => {
    const odd = await answeringRedis(/^z/, answer);
    const store = await endedSessionsInRedis({ url: odd.url }, 'docs-host');
    const sessions = endedSessions(store, logger);
    const session = newSession('ada', 3_600);
    expect(await sessions.stateOf(session)).toBe('unknown');
    await expect(sessions.end(session)).rejects.toThrow('Redis does not confirm');
    store.close();
    await odd.close();
  },
);

describe('what is known of sessions', () => {
  /** A store in memory that can be away. */
  function store() {
    const names = new Set<string>();
    const state = { isAway: false, reads: 0 };
    const guarded = async <T>(answer: T): Promise<T> => {
      if (state.isAway) throw new Error('away');
      return answer;
    };
    return Object.assign(state, {
      names,
      read: () => {
        state.reads += 1;
        return guarded([...names]);
      },
      add: (name: string) => guarded(void names.add(name)),
      remove: (gone: readonly string[]) => guarded(gone.forEach((name) => names.delete(name))),
      close() {},
    });
  }

  test('is nothing before the first look, and nothing more a minute after the last', async () => {
    let at = 5_000;
    const kept = store();
    kept.isAway = true;
    const sessions = endedSessions(kept, logger, () => at);
    const session = newSession('ada', 3_600, at);
    expect(await sessions.stateOf(session)).toBe('unknown');
    kept.isAway = false;
    at += 1_000;
    expect(await sessions.stateOf(session)).toBe('lasts');
    kept.isAway = true;
    at += 59_000;
    expect(await sessions.stateOf(session)).toBe('lasts');
    at += 1_000;
    expect(await sessions.stateOf(session)).toBe('unknown');
    await expect(sessions.end(session)).rejects.toThrow('away');
    expect(sessions.known(session)).toBe('ended');
  });

  test('is looked for once a second, however many ask', async () => {
    let at = 5_000;
    const kept = store();
    const sessions = endedSessions(kept, logger, () => at);
    const session = newSession('ada', 3_600, at);
    for (let second = 0; second < 3; second += 1) {
      await Promise.all(Array.from({ length: 50 }, () => sessions.stateOf(session)));
      at += 1_000;
    }
    expect(kept.reads).toBe(3);
  });

  test('is bounded: after ten thousand, all sessions that have begun end', async () => {
    let at = 5_000;
    const kept = store();
    const [one, other] = [endedSessions(kept, logger, () => at), endedSessions(kept, logger, () => at)];
    const [before, last] = [newSession('ada', 3_600, at - 1), newSession('bob', 3_600, at - 1)];
    for (let number = 0; number < 10_000; number += 1) kept.names.add(`${String(number).padStart(32, '0')}.9999999`);
    expect(await one.stateOf(before)).toBe('lasts');
    await one.end(last);
    expect([...kept.names]).toEqual(['all-5000.2592005000']);
    at += 1_000;
    expect([one.known(before), await other.stateOf(before)]).toEqual(['ended', 'ended']);
    expect(await other.stateOf(newSession('ada', 3_600, at))).toBe('lasts');
  });

  test('is bounded for each group: one that fills the store ends its own sessions alone', async () => {
    let at = 5_000;
    const kept = store();
    const [one, other] = [endedSessions(kept, logger, () => at), endedSessions(kept, logger, () => at)];
    const session = (group: string) => newSession('ada', 3_600, at - 1, group);
    const [ofMany, ofFew, goneOfFew] = [session('many'), session('few'), session('few')];
    for (let number = 0; number < 10_000; number += 1)
      kept.names.add(`${String(number).padStart(32, '0')}.9999999.many`);
    expect(await one.stateOf(ofFew)).toBe('lasts');
    await one.end(goneOfFew);
    expect([...kept.names].toSorted()).toEqual(
      [`${goneOfFew.id}.${goneOfFew.until}.few`, 'all-5000.2592005000.many'].toSorted(),
    );
    for (const each of [one, other, endedSessions(kept, logger, () => at)]) {
      at += 1_000;
      const states = await Promise.all([ofMany, ofFew, goneOfFew].map((one) => each.stateOf(one)));
      expect(states).toEqual(['ended', 'lasts', 'ended']);
      expect(await each.stateOf(newSession('ada', 3_600, at, 'many'))).toBe('lasts');
    }
  });

  test('is one command for a whole group', async () => {
    let at = 5_000;
    const kept = store();
    const [one, other] = [endedSessions(kept, logger, () => at), endedSessions(kept, logger, () => at)];
    const sessions = ['ada', 'ada', 'bob'].map((group) => newSession(group, 3_600, at - 1, group));
    await one.endGroup('ada');
    for (const each of [one, other]) {
      at += 1_000;
      const states = await Promise.all(sessions.map((session) => each.stateOf(session)));
      expect(states).toEqual(['ended', 'ended', 'lasts']);
      expect(await each.stateOf(newSession('ada', 3_600, at, 'ada'))).toBe('lasts');
    }
  });

  test('of a group is that of the session whose reader ended it, also if the clock was set back since it began', async () => {
    let at = 3 * hour;
    const kept = store();
    const [one, other] = [endedSessions(kept, logger, () => at), endedSessions(kept, logger, () => at)];
    const session = newSession('ada', 24 * 3_600, at, 'ada');
    at -= hour;
    await one.endGroup('ada', Number(session.from));
    for (const each of [one, other]) expect(await each.stateOf(session)).toBe('ended');
  });

  test('is looked for again where the clock was set back', async () => {
    let at = 3 * hour;
    const kept = store();
    const [one, other] = [endedSessions(kept, logger, () => at), endedSessions(kept, logger, () => at)];
    const session = newSession('ada', 24 * 3_600, at);
    expect(await one.stateOf(session)).toBe('lasts');
    at -= hour;
    await other.end(session);
    expect(one.known(session)).toBeUndefined();
    expect(await one.stateOf(session)).toBe('ended');
  });

  test('ends everybody once, not with each sign-out that follows', async () => {
    let at = 5_000;
    const kept = store();
    const sessions = endedSessions(kept, logger, () => at);
    kept.isAway = true;
    for (let number = 0; number < 10_000; number += 1)
      await sessions.end(newSession('ada', 3_600, at)).catch(() => undefined);
    kept.isAway = false;
    at += 1_000;
    await sessions.end(newSession('ada', 3_600, at));
    at += 1_000;
    const bob = newSession('bob', 3_600, at);
    await sessions.end(newSession('ada', 3_600, at));
    at += 1_000;
    expect(await sessions.stateOf(bob)).toBe('lasts');
    await sessions.end(newSession('ada', 3_600, at));
    expect(await sessions.stateOf(bob)).toBe('lasts');
  });
});
