import { afterAll, beforeAll, expect, test } from 'vitest';
import { rebuildProjection } from '#services/cli/commands/projections.ts';
import { type SiteViewsDocument, siteViewsKey } from '#shared/contracts/site-views.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { siteDaySubject } from '#shared/messaging/subjects/subject-names.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { siteViewsRecord } from '../../test/support/make-commit.ts';
import { runProjections } from '../../test/support/run-projections.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';

const waiting = { timeout: 60_000, interval: 100 };
const day = '2026-03-01';

describeWithServers(['nats-server'], 'the sums of past days in the log', () => {
  let stand: TestBus;
  let gateway: BusOf<'gateway'>;
  let projector: BusOf<'projector'>;
  let stops: (() => Promise<void>)[] = [];
  /** The current time of the projectors. */
  let now = new Date('2026-03-04T12:00:00.000Z');

  beforeAll(async () => {
    stand = await startTestBus();
    [gateway, projector] = await Promise.all([stand.connect('gateway'), stand.connect('projector')]);
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
    await stand.stop();
  });

  async function startTwo(): Promise<void> {
    const other = await stand.connect('projector');
    stops = [projector, other].map((bus, at) =>
      runProjections(bus, { instance: `projector-${at}`, clock: { now: () => now } }),
    );
  }
  async function stopBoth(): Promise<void> {
    for (const stop of stops.splice(0)) await stop();
  }
  const document = async (of = day): Promise<SiteViewsDocument | undefined> =>
    (await gateway.readModels.siteViews.get(siteViewsKey('acme', 'docs', of), { fromLeader: true }))?.document;
  const viewsOf = async (of: string) => (await document(of))?.views;
  const isRecorded = async () => (await document())?.isRecorded;
  async function recordsOf(): Promise<number> {
    const reader = await projector.projectionReaders.views('green');
    let count = 0;
    for await (const _ of reader.reread(siteDaySubject('acme', 'docs', day), 1)) count += 1;
    return count;
  }

  test('are recorded once when no batch can arrive any more, whoever leads, and no count is lost or added afterwards', async () => {
    for (const sequence of [1, 2, 3]) await gateway.views.record(siteViewsRecord({ sequence }));
    await startTwo();
    await expect.poll(() => viewsOf(day), waiting).toBe(6);
    expect(await isRecorded()).toBeUndefined();
    await stopBoth();

    // Another leader, a day later.
    now = new Date('2026-03-05T00:00:01.000Z');
    await startTwo();
    await expect.poll(isRecorded, waiting).toBe(true);
    const recorded = await document();
    expect(recorded).toMatchObject({ views: 6, searches: 3, queries: [['install', 3, 3]], sources: [] });

    // Batches of that day that come again, or late, change nothing.
    await gateway.views.record(siteViewsRecord({ sequence: 2, id: 'sv_again' }));
    await gateway.views.record(siteViewsRecord({ sequence: 9 }));
    await gateway.views.record(siteViewsRecord({ sequence: 10, day: '2026-03-05' }));
    await expect.poll(() => viewsOf('2026-03-05'), waiting).toBe(2);
    expect(await document()).toEqual(recorded);
    expect(await recordsOf()).toBe(1);

    const sums = { ...recorded, sources: undefined, isRecorded: undefined, views: 600 } as unknown as SiteViewsDocument;
    const about = {
      version: 1,
      id: 'sd_other',
      time: now.toISOString(),
      organization: 'acme',
      domain: 'docs',
    } as const;
    await projector.views.recordDay({ type: 'SiteDayCounted', ...about, day, sums }, 390);
    expect(await recordsOf()).toBe(1);

    const live = (await projector.projections.pointers.get('views', { fromLeader: true }))?.document.live;
    await rebuildProjection(await stand.connect('operator'), 'views', { id: 'rebuild-1', now: new Date() });
    const nowLive = async () =>
      (await projector.projections.pointers.get('views', { fromLeader: true }))?.document.live;
    await expect.poll(nowLive, waiting).not.toBe(live);
    expect(await document()).toEqual(recorded);
  }, 180_000);

  test('make a day whose batches are in the log no more', async () => {
    const sums = { ...(await document()), views: 40 } as SiteViewsDocument;
    const about = { version: 1, id: 'sd_old', time: now.toISOString(), organization: 'acme', domain: 'docs' } as const;
    await projector.views.recordDay({ type: 'SiteDayCounted', ...about, day: '2026-01-10', sums }, 350);
    await expect.poll(() => viewsOf('2026-01-10'), waiting).toBe(40);
  });
});
