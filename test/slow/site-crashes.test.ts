import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServiceName } from '#infra/supervisor/services.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { giveOrder, siteCrashPlaces } from '../support/chaos/crash-orders.ts';
import { sendSignal } from '../support/chaos/fault-injection.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import type { HostProcess } from '../support/host-process.ts';
import { type LiveSite, liveSite, markAt, sitePathOnly, startSiteHost } from '../support/live-sites.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';

const minuteMs = 60_000;
const reachedWithinMs = 30_000;
const waiting = { timeout: 40_000, interval: 50 };

const deployerPlaces = ['after-deployment-request', 'after-export-request', 'before-settled', 'after-settled'].map(
  (point) => `${point}@deployer`,
);
const gatewayPlaces = ['after-host-claims', 'after-site-command'].map((point) => `${point}@gateway`);

describeWithServers(['nats-server'], 'a site while a process dies at a crash point', () => {
  let harness: TestInstallation;
  let host: HostProcess;
  let site: LiveSite;
  let orders: string;
  /** The marks that readers must see, by host name; undefined where there is no site. */
  const shown = new Map<string, string | undefined>();
  /** Content versions of the live site by mark. */
  const contents = new Map<string, string>();
  /** The mark of the latest content. */
  let latest = '';
  let count = 0;
  const nextMark = () => `m${(count += 1)}`;
  const live = 'crash.localhost';
  const preview = 'crash-label--crash.localhost';

  const operations = {
    async publish() {
      const mark = nextMark();
      contents.set(mark, (await site.publish(mark)).contentVersion);
      latest = mark;
      shown.set(live, mark);
    },
    async label() {
      const mark = nextMark();
      await site.publish(mark, 'crash-label');
      shown.set(preview, mark);
    },
    async promote() {
      const [mark = '', contentVersion = ''] = [...contents].findLast(([each]) => each !== latest) ?? [];
      await site.promote(contentVersion);
      latest = mark;
      shown.set(live, mark);
    },
    async 'roll back'() {
      const target = (await site.deployments()).find(({ canRollBack }) => canRollBack);
      await site.rollBack(target?.id ?? 0);
      const [mark] = [...contents].find(([, contentVersion]) => contentVersion === target?.contentVersion) ?? [];
      shown.set(live, mark);
    },
    /** Closes the site and opens it again with another host name. An opened site shows the latest content, also after a rollback. */
    async 'close and open'() {
      await site.close();
      await open();
      shown.set(live, latest);
    },
    async 'change the host names'() {
      await open();
    },
  };

  let own: string | undefined;
  async function open(): Promise<void> {
    if (own !== undefined) shown.set(own, undefined);
    own = `${nextMark()}.crash.test`;
    await site.open({ name: 'crash', hosts: [own] });
  }

  beforeAll(async () => {
    orders = await mkdtemp(join(tmpdir(), 'bindery-crash-orders-'));
    harness = await startInstallation({
      copies: sitePathOnly,
      // Each case kills a process, which must not count as one that cannot start.
      healthyAfterMs: 0,
      environment: { CRASH_ORDERS: orders, BINDERY_LIMIT_STARTS_PER_HOUR: '1000' },
    });
    host = await startSiteHost(harness);
    site = liveSite(harness);
  }, 2 * minuteMs);
  afterAll(async () => {
    await host?.end();
    await harness?.stop();
    await rm(orders, { recursive: true, force: true });
  });

  async function expectServed(): Promise<void> {
    // The live site is also at its own host name.
    const wanted = new Map(shown);
    if (own !== undefined) wanted.set(own, shown.get(live));
    for (const [name, mark] of wanted)
      await expect.poll(() => markAt(host.url, name), { ...waiting, message: name }).toBe(mark ?? '404');
    const all = await site.settled();
    const liveOnes = all.filter(({ status }) => status === 'live');
    expect(liveOnes.map(({ label = '' }) => label).sort((a, b) => a.localeCompare(b))).toEqual(['', 'crash-label']);
    expect(all.filter(({ status }) => status === 'failed')).toEqual([]);
    for (const [name, mark] of wanted) {
      const asked = async () => (await fetch(`${harness.installation.baseUrl}/v1/sites/hosts/${name}`)).status;
      await expect.poll(asked, waiting).toBe(mark === undefined ? 404 : 200);
    }
    expect(await site.problems()).toEqual([]);
  }

  async function disturbed(
    place: string,
    operation: keyof typeof operations,
    victim: ServiceName | undefined,
  ): Promise<void> {
    const newsBefore = harness.news.length;
    const given = await giveOrder(orders, place, victim === undefined ? 'die' : 'wait');
    try {
      const done = operations[operation]();
      done.catch(() => {});
      await withDeadline(given.taken, reachedWithinMs, () => new Error(`Nothing reached ${place}.`));
      for (const pid of victim === undefined ? [] : harness.installation.pids(victim)) sendSignal(pid, 'SIGKILL');
      await given.end();
      await done;
      await harness.whenNews(newsBefore);
      await expectServed();
    } finally {
      await given.end();
    }
  }

  test('undisturbed, readers see the last publication', async () => {
    await operations.publish();
    await operations.publish();
    await open();
    await operations.label();
    await expectServed();
    await operations.publish();
    await expectServed();
  });

  test('the code has the crash points of the cases', () => {
    const known = [...deployerPlaces, ...gatewayPlaces].map((place) => place.split('@'));
    expect(siteCrashPlaces).toHaveLength(known.length);
    expect(siteCrashPlaces).toEqual(expect.arrayContaining(known));
  });

  test.each([
    ...deployerPlaces.map((place) => [place, 'publish'] as const),
    [deployerPlaces[0] ?? '', 'label'],
    [deployerPlaces[0] ?? '', 'promote'],
    [deployerPlaces[2] ?? '', 'promote'],
  ] as const)(
    '%s dies during "%s": readers see the last publication',
    (place, operation) => disturbed(place, operation, undefined),
    minuteMs,
  );

  test.each([
    ['projector', deployerPlaces[1] ?? '', 'label'],
    ['projector', deployerPlaces[2] ?? '', 'publish'],
    ['gateway', deployerPlaces[0] ?? '', 'publish'],
    ['gateway', deployerPlaces[3] ?? '', 'promote'],
  ] as const)(
    '%s dies while %s waits during "%s": readers see the last publication',
    (victim, place, operation) => disturbed(place, operation, victim),
    minuteMs,
  );

  test.each([
    ['after-site-command@gateway', 'roll back'],
    ['after-site-command@gateway', 'close and open'],
    ['after-site-command@gateway', 'change the host names'],
    ['after-host-claims@gateway', 'close and open'],
    ['after-host-claims@gateway', 'change the host names'],
  ] as const)(
    '%s dies during "%s": readers see what was asked for, at the right names',
    (place, operation) => disturbed(place, operation, undefined),
    minuteMs,
  );

  test.each(['deployer', 'projector'] as const)(
    '%s dies while the gateway waits during a rollback: readers see the earlier deployment',
    (victim) => disturbed('after-site-command@gateway', 'roll back', victim),
    minuteMs,
  );
});
