import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiFailure } from '#services/cli/api-client.ts';
import { askHost } from '../support/ask-host.ts';
import { pause, takeNatsAway } from '../support/chaos/fault-injection.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import type { HostProcess } from '../support/host-process.ts';
import { type LiveSite, liveSite, markAt, sitePathOnly, startSiteHost } from '../support/live-sites.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { bucketOn, startVersityGateway, type VersityGateway } from '../support/start-versitygw.ts';

const minuteMs = 60_000;
const readEveryMs = 20;
const waiting = { timeout: 90_000, interval: 100 };
const name = 'out.localhost';

describeWithServers(['nats-server', 'versitygw'], 'two hosts of sites while a part of the platform is gone', () => {
  let s3: VersityGateway;
  let harness: TestInstallation;
  let hosts: HostProcess[] = [];
  let site: LiveSite;
  let shown = '';
  let count = 0;
  const nextMark = () => `m${(count += 1)}`;

  beforeAll(async () => {
    s3 = await startVersityGateway();
    harness = await startInstallation({
      copies: sitePathOnly,
      healthyAfterMs: 0,
      environment: { ...(await bucketOn(s3, 'bindery-sites')), BINDERY_LIMIT_STARTS_PER_HOUR: '1000' },
    });
    site = liveSite(harness);
    hosts = await Promise.all([startSiteHost(harness), startSiteHost(harness)]);
    shown = nextMark();
    await site.publish(shown);
    await site.open({ name: 'out' });
  }, 3 * minuteMs);
  afterAll(async () => {
    await Promise.all(hosts.map((host) => host.end()));
    await harness?.stop();
    await s3?.stop();
  });

  const expectShown = async (mark: string): Promise<void> => {
    for (const { url } of hosts) await expect.poll(() => markAt(url, name), waiting).toBe(mark);
  };

  /** Reads pages of both hosts until it is stopped. Returns what readers saw other than the pages of `marks`. */
  function readThroughout(marks: ReadonlySet<string>) {
    const over = new AbortController();
    const wrong: string[] = [];
    let pages = 0;
    const reading = Promise.all(
      hosts.map(async ({ url }) => {
        while (!over.signal.aborted) {
          for (const path of ['/', '/guide']) {
            const found = await markAt(url, name, path).catch((error: unknown) => String(error));
            if (!marks.has(found)) wrong.push(`${path}: ${found}`);
            pages += 1;
          }
          await delay(readEveryMs);
        }
      }),
    );
    return {
      async stop() {
        over.abort();
        await reading;
        expect(wrong).toEqual([]);
        expect(pages).toBeGreaterThan(100);
      },
    };
  }

  test('undisturbed, both serve the same bytes', async () => {
    await expectShown(shown);
    await expectSameBytes();
  });

  async function expectSameBytes(): Promise<void> {
    const page = (await askHost(hosts[0]?.url ?? '', name)).text;
    const assets = [...page.matchAll(/(?:src|href)="(\/_bindery\/[^"]+)"/g)].map(([, address = '']) => address);
    expect(assets.length).toBeGreaterThan(3);
    for (const path of ['/', '/guide', '/guide.md', '/llms-full.txt', '/sitemap.xml', '/nowhere', ...assets])
      for (const headers of [{}, { 'accept-encoding': 'br' }, { 'accept-encoding': 'gzip' }] as Record<
        string,
        string
      >[]) {
        const told = async (): Promise<unknown[]> => {
          const answers = await Promise.all(hosts.slice(0, 2).map(({ url }) => askHost(url, name, path, { headers })));
          const [one, two] = answers.map((answer) =>
            JSON.stringify([
              path,
              answer.status,
              answer.headers.etag,
              answer.headers['content-encoding'],
              answer.body.toString('hex'),
            ]),
          );
          return [one === two, path, headers];
        };
        // A host that has not made the compressed copies of its version compresses each answer in another quality.
        await expect.poll(told, { timeout: minuteMs, interval: 100 }).toEqual([true, path, headers]);
      }
  }

  test.each<[what: string, seconds: number, take: () => Promise<{ resume(): void | Promise<void> }>]>([
    ['NATS hangs', 30, async () => pause(harness.installation.pids('nats-server'))],
    ['NATS is killed', 30, () => takeNatsAway(harness.installation)],
    [
      'the object store is gone',
      15,
      async () => {
        await s3.kill();
        return { resume: () => s3.restart() };
      },
    ],
    ['the gateway hangs', 15, async () => pause(harness.installation.pids('gateway'))],
  ])(
    '%s for %i s: the site stays, and what was published meanwhile is live afterwards',
    async (_what, seconds, take) => {
      const [before, during, after] = [shown, nextMark(), nextMark()];
      const readers = readThroughout(new Set([before, during, after]));
      // Published just before, so that it is exported and deployed during the outage as far as it can be.
      await site.publish(during);
      const outage = await take();
      const attempt = site.publish(after).then(
        () => true,
        (error: unknown) => {
          // The author received an error, so the publication does not count.
          if (error instanceof ApiFailure) return false;
          throw error;
        },
      );
      // The outage itself is under test: it has a fixed length and waits for nothing.
      await delay(seconds * 1_000);
      await outage.resume();
      const isAccepted = await attempt;
      shown = isAccepted ? after : during;
      await expectShown(shown);
      await readers.stop();
      const all = await site.settled();
      expect(all.filter(({ status }) => status === 'live')).toHaveLength(1);
      expect(all.filter(({ status }) => status === 'failed')).toEqual([]);
      expect(await site.problems()).toEqual([]);
    },
    3 * minuteMs,
  );

  test('a host that starts empty while the platform is whole serves the newest, and one that is killed what it had', async () => {
    const empty = await startSiteHost(harness);
    hosts.push(empty);
    await expectShown(shown);
    await expectSameBytes();
    const gone = pause(harness.installation.pids('gateway'));
    try {
      await hosts[0]?.restart();
      expect(await markAt(hosts[0]?.url ?? '', name)).toBe(shown);
    } finally {
      gone.resume();
    }
  });
});
