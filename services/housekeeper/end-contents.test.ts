import { beforeEach, expect, test, vi } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { ContentState } from '#shared/aggregates/content/content.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import { BadMessage } from '#shared/messaging/parse-message.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { housekeeperContext } from '../../test/support/housekeeper-context.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { type MemoryBus, memoryBus } from '../../test/support/memory-bus.ts';
import { endContents, unusedVersions } from './end-contents.ts';
import { jobsInLog } from './kept-jobs.ts';

const now = new Date('2026-06-01T00:00:00.000Z');
const since = new Date(now.getTime() - 90 * dayMs);
const [old, young] = ['2026-01-01T00:00:00.000Z', '2026-05-01T00:00:00.000Z'];
const cv = (name: string) => `cv_${sha256Of(name).slice(0, 32)}`;
const version = (name: string, publishedAt: string) => ({
  contentVersion: cv(name),
  publishedAt,
  pageCount: 1,
  indexed: true,
});
const state: ContentState = {
  organization: 'acme',
  domain: 'docs',
  versions: ['unused', 'exported', 'labelled', 'searched', 'latest'].map((name) => version(name, old)),
  labels: { v1: cv('labelled'), constructor: cv('labelled') },
  searched: cv('searched'),
  latest: cv('latest'),
};

test('a version is unused when it is old and neither the latest, nor searched, nor labelled', () => {
  expect(unusedVersions(state, since)).toEqual([cv('unused'), cv('exported')]);
  expect(unusedVersions({ ...state, versions: [version('unused', young), version('latest', old)] }, since)).toEqual([]);
  expect(unusedVersions({ ...state, versions: [] }, since)).toEqual([]);
});

let bus: MemoryBus;
beforeEach(async () => {
  bus = memoryBus();
  const commit = nextCommit(
    contentLogSubject('acme', 'docs'),
    undefined,
    [{ type: 'ContentPromoted' as const, version: 1 as const, data: { ...state, contentVersion: cv('latest') } }],
    state,
    {
      id: 'c',
      source: 'test',
      actor: { kind: 'service', id: 'test' },
      time: now,
      causationId: 'c',
      correlationId: 'c',
    },
  );
  await bus.content.append(commit, { sequence: 0 });
  const kept = exportState({ contentVersion: cv('exported'), phase: 'completed', completedAt: young });
  await bus.exports.append(exportCommit(kept), { sequence: 0 });
});

async function ended(dryRun = false, asked: string[] = []): Promise<string[]> {
  const context = housekeeperContext({
    bus,
    objectStore: {} as ObjectStore,
    clock: { now: () => now },
    keptJobs: jobsInLog(bus.exports),
    dryRun,
    endContent: async ({ organization, domain, contentVersion }) =>
      void asked.push(`${organization} ${domain} ${contentVersion}`),
  });
  await endContents(context, new AbortController().signal);
  return asked;
}

test('the publisher is asked to end what no kept job exported', async () => {
  expect(await ended()).toEqual([`acme docs ${cv('unused')}`]);
});

test('a dry run ends nothing', async () => {
  expect(await ended(true)).toEqual([]);
});

test('an organization whose log cannot be read keeps its versions and does not hold up the others', async () => {
  const broken = contentLogSubject('aardvark', 'docs');
  const whole = { ...bus.content };
  vi.spyOn(bus.content, 'subjects').mockImplementation(async (filter) => [broken, ...(await whole.subjects(filter))]);
  vi.spyOn(bus.content, 'last').mockImplementation(async (subject, options) => {
    if (subject === broken) throw new BadMessage(`message 1 on ${broken} is not JSON.`);
    return whole.last(subject, options);
  });
  const asked: string[] = [];
  await expect(ended(false, asked)).rejects.toThrow(
    'The content versions of these organizations were not ended: aardvark.',
  );
  expect(asked).toEqual([`acme docs ${cv('unused')}`]);
});
