import { jetstream } from '@nats-io/jetstream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { BusOf } from '#shared/messaging/bus.ts';
import { openConnection } from '#shared/messaging/nats/connection.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { testCaller } from '../../test/support/make-commit.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';
import { budgetedThreads } from './conversation-budget.ts';
import { type Thread, threads } from './threads.ts';

const dayMs = 86_400_000;
const budgetBytes = 40_000;
const owner = 'f'.repeat(64);

describeWithServers(['nats-server'], 'what conversations take, over a real nats-server', () => {
  let stand: TestBus;
  let bus: BusOf<'assistant'>;
  let other: BusOf<'assistant'>;
  let organization: string;
  let organizations = 0;
  const clock = { time: new Date('2026-03-01T10:00:00.000Z'), now: () => clock.time };

  beforeAll(async () => {
    stand = await startTestBus();
    [bus, other] = await Promise.all([stand.connect('assistant', 'a'), stand.connect('assistant', 'b')]);
  });
  afterAll(() => stand.stop());
  beforeEach(() => {
    organizations += 1;
    organization = `org-${organizations}`;
  });

  const copyOf = (connection: BusOf<'assistant'>) =>
    threads(
      budgetedThreads(connection.threads, connection.conversationSizes, { budgetBytes, clock }),
      clock,
      randomBase62,
    );

  /** Records one answer of about 10 KB in its own thread. */
  async function answer(copy: ReturnType<typeof copyOf>, from = organization): Promise<Thread> {
    const caller = { ...testCaller, organization: from };
    const asked = { messageId: 'm', question: 'why' };
    const turns = [{ role: 'user' as const, text: 'why' }];
    const thread = await copy.ask(copy.begin(from, 'docs', owner), { ...asked, turns }, caller);
    const said = {
      answer: 'a'.repeat(10_000),
      sources: [],
      unanswered: false,
      aborted: false,
      model: 'test',
      tokens: 7,
    };
    await copy.record(thread, { ...asked, ...said }, caller);
    return thread;
  }
  const isKept = async (thread: Thread) =>
    (await copyOf(bus)
      .resume(thread, owner, undefined)
      .catch(() => undefined)) !== undefined;

  test('one organization cannot fill the log for all: it is refused, by every copy and after a restart; others go on', async () => {
    const copies = [copyOf(bus), copyOf(other)];
    const stored: Thread[] = [];
    const flood = async () => {
      for (let count = 0; count < 20; count += 1) stored.push(await answer(copies[count % 2]!));
    };
    await expect(flood()).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 14 * 3_600 });
    expect(stored).toHaveLength(4);
    const restarted = copyOf(other);
    await expect(restarted.checkBudget(organization)).rejects.toThrow('40 KB of conversations a day');
    await expect(answer(restarted)).rejects.toMatchObject({ code: 'rate_limited' });
    await restarted.checkBudget('bystander');
    expect(await isKept(await answer(restarted, 'bystander'))).toBe(true);
    // The stored turns are kept.
    expect(await Promise.all(stored.map(isKept))).toEqual([true, true, true, true]);
  });

  test('answers at the same time are all counted', async () => {
    const copies = [copyOf(bus), copyOf(other)];
    await Promise.all(Array.from({ length: 8 }, (_, count) => answer(copies[count % 2]!)));
    await expect(answer(copyOf(bus))).rejects.toMatchObject({ code: 'rate_limited' });
    const sizes = await bus.conversationSizes.get(organization);
    expect(sizes?.document.days[0]?.bytes).toBeGreaterThan(80_000);
  });

  test('hundreds of questions at once do not keep each other from being counted', async () => {
    const uncounted: unknown[] = [];
    const onUncounted = (error: unknown) => uncounted.push(error);
    const budget = { budgetBytes: 100_000_000, clock, onUncounted };
    const log = budgetedThreads(bus.threads, bus.conversationSizes, budget);
    const copy = threads(log, clock, randomBase62);
    const asked = await Promise.all(Array.from({ length: 200 }, () => answer(copy)));
    const commits = (await Promise.all(asked.map((thread) => copy.history(thread)))).flat();
    const stored = commits.reduce((sum, commit) => sum + Buffer.byteLength(JSON.stringify(commit)), 0);
    expect(uncounted).toEqual([]);
    expect((await bus.conversationSizes.get(organization))?.document.days[0]?.bytes).toBe(stored);
  });

  test('a count that cannot be read begins anew', async () => {
    const { server, passwords } = stand;
    const address = { url: server.url, user: 'assistant', password: passwords['assistant'] ?? '' };
    const connection = await openConnection(address, 'damage');
    await jetstream(connection).publish(`$KV.conversation-sizes.${organization}`, '{"days":"of a newer version"}');
    await connection.close();
    expect(await isKept(await answer(copyOf(bus)))).toBe(true);
    expect((await bus.conversationSizes.get(organization))?.document.days).toHaveLength(1);
  });

  test("above the budget the organization's own oldest days are purged, and nobody else's", async () => {
    const neighbour = await answer(copyOf(bus), 'neighbour');
    const byDay: Thread[][] = [];
    for (let day = 0; day < 4; day += 1) {
      byDay.push([await answer(copyOf(bus)), await answer(copyOf(other))]);
      clock.time = new Date(clock.time.getTime() + dayMs);
    }
    const kept = await Promise.all(byDay.map(async (day) => (await Promise.all(day.map(isKept))).every(Boolean)));
    expect(kept).toEqual([false, false, false, true]);
    expect(await isKept(neighbour)).toBe(true);
    expect((await bus.conversationSizes.get(organization))?.document.days).toHaveLength(1);
  });
});
