import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  contentAggregate,
  type ContentEvent,
  type ContentState,
  mostLabels,
  mostVersions,
} from '#shared/aggregates/content/content.ts';
import { publishContent, removeLabel } from '#shared/aggregates/content/decide.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { testCaller } from '../../test/support/make-commit.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';
import { appendContent } from './publish-project.ts';

const versionOf = (n: number) => `cv_${sha256Of(String(n)).slice(0, 32)}`;
const identity = { organization: 'acme', domain: 'docs' };

describeWithServers(['nats-server'], 'a domain that was published to thousands of times', () => {
  let stand: TestBus;
  let bus: BusOf<'publisher'>;

  beforeAll(async () => {
    stand = await startTestBus();
    bus = await stand.connect('publisher');
  });
  afterAll(() => stand.stop());

  const context = () => ({ bus, clock: systemClock, random: randomBase62 });
  const publish = (domain: string, n: number, label?: string) =>
    appendContent(context(), { ...testCaller, domain }, (state) =>
      publishContent(state, {
        ...identity,
        domain,
        contentVersion: versionOf(n),
        ...(label === undefined ? {} : { label }),
        pageCount: 3,
        fileCount: 3,
        sizeBytes: 9,
      }),
    );
  const stateOf = async (domain: string) =>
    (await bus.content.last(contentLogSubject('acme', domain), { fromLeader: true }))?.commit.data.state;

  /** A domain as a version without limits left it: its last commit is nearly as large as a message may be. */
  async function fill(domain: string, labels: Record<string, string>, count: number): Promise<void> {
    const versions = Array.from({ length: count }, (_, n) => ({
      contentVersion: versionOf(n),
      publishedAt: '2026-03-01T10:00:00.000Z',
      pageCount: 1_234,
      indexed: true,
    }));
    const latest = versionOf(count - 1);
    const state: ContentState = { ...identity, domain, versions, labels, latest, searched: latest };
    const data = { ...identity, domain, contentVersion: latest };
    const promoted: ContentEvent = { type: 'ContentPromoted', version: 1, data };
    const commit = nextCommit(contentLogSubject('acme', domain), undefined, [promoted], state, {
      id: `full-${domain}`,
      source: 'test',
      actor: { kind: 'service', id: 'publisher' },
      time: new Date('2026-03-01T10:00:00.000Z'),
      causationId: 'test',
      correlationId: 'test',
    });
    expect(contentAggregate.storedCommit.safeParse(commit).success).toBe(true);
    await bus.content.append(commit, { sequence: 0 });
  }

  test('one more publication is taken, and the oldest versions end', async () => {
    await fill('unlabelled', {}, 7_900);
    await publish('unlabelled', 8_000);
    const state = await stateOf('unlabelled');
    expect(state?.versions).toHaveLength(mostVersions);
    expect(state).toMatchObject({ latest: versionOf(8_000) });
  });

  test('when every version has a label, labels can be removed, and then it is published again', async () => {
    const labels = Object.fromEntries(Array.from({ length: 5_700 }, (_, n) => [`build-${n}`, versionOf(n)]));
    await fill('labelled', labels, 5_700);
    await expect(publish('labelled', 8_000, 'build-8000')).rejects.toMatchObject({ code: 'too_many_labels' });
    await appendContent(context(), { ...testCaller, domain: 'labelled' }, (state) =>
      removeLabel(state, { ...identity, domain: 'labelled', label: 'build-0' }),
    );
    await publish('labelled', 8_000, 'build-1');
    expect((await stateOf('labelled'))?.labels).toMatchObject({ 'build-1': versionOf(8_000) });
  });

  test('each publication under a label of its own is taken as long as old labels are removed', async () => {
    for (let n = 0; n < mostLabels; n += 1) await publish('docs', n, `build-${n}`);
    await expect(publish('docs', mostLabels, `build-${mostLabels}`)).rejects.toThrow(/Remove one that nobody needs/);
    for (let n = mostLabels; n < mostLabels + 20; n += 1) {
      await appendContent(context(), testCaller, (state) =>
        removeLabel(state, { ...identity, label: `build-${n - mostLabels}` }),
      );
      await publish('docs', n, `build-${n}`);
    }
    expect(Object.keys((await stateOf('docs'))?.labels ?? {})).toHaveLength(mostLabels);
  });
});
