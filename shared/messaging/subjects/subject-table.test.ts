import { expect, test } from 'vitest';
import {
  bucketRows,
  type BucketRow,
  coreRows,
  durableRows,
  firstKeptDay,
  renderDurable,
  streamRows,
} from './subject-table.ts';

const blueNames = bucketRows.map(({ name }) => name).filter((name) => !name.endsWith('-green'));
/** The buckets that have this field, with its value. */
const bucketsWith = <Field extends keyof BucketRow>(field: Field) =>
  Object.fromEntries(bucketRows.flatMap((row) => (row[field] === undefined ? [] : [[row.name, row[field]]])));

test('a log keeps its messages permanently, for days, or until a worker has taken them', () => {
  expect(Object.fromEntries(streamRows.map(({ name, retention, keptDays }) => [name, [retention, keptDays]]))).toEqual({
    EXPORTS: ['log', undefined],
    FACTS: ['log', 7],
    ACCESS: ['log', 400],
    VIEWS: ['log', 400],
    CONTENT: ['log', undefined],
    SITES: ['log', undefined],
    DIRECTORY: ['log', undefined],
    CONVERSATIONS: ['log', 90],
    ANSWERS: ['passing', undefined],
    TASKS: ['work-queue', 1],
    DEAD: ['log', 400],
  });
  const kept = Object.fromEntries(streamRows.map(({ name, kept }) => [name, kept]));
  expect([kept['CONTENT'], kept['FACTS'], kept['EXPORTS']]).toEqual(['permanently', '7 days', 'until archived']);
  expect(streamRows.find(({ name }) => name === 'ANSWERS')).toMatchObject({ keptMinutes: 10, kept: '10 minutes' });
  for (const row of [...streamRows, ...bucketRows]) expect(row.kept).not.toBe('');
});

test('every read model has a second generation with the same settings', () => {
  const readModels = ['job-status', 'job-list', 'audit', 'usage', 'insights', 'views', 'sites', 'directory'];
  const others = ['projections', 'rebuilds', 'dead-letters', 'active-jobs', 'export-places', 'site-hosts', 'key-uses'];
  expect(blueNames).toEqual([...readModels, ...others, 'conversation-sizes', 'verifications', 'readiness', 'leases']);
  for (const name of readModels) {
    const [blue, green] = [name, `${name}-green`].map((each) => bucketRows.find((row) => row.name === each));
    const republished = name === 'job-status' ? { republishTo: 'live.job-status-green.>' } : {};
    expect(green).toEqual({
      ...blue,
      name: `${name}-green`,
      kept: `the other generation of \`${name}\``,
      ...republished,
    });
    expect(blue).toMatchObject({ rebuilt: true, writers: ['projector'] });
    expect(blue?.key).toMatch(/<org>/);
  }
});

test('documents of a bucket expire, and are republished, only where the table says so', () => {
  expect(bucketsWith('ttlSeconds')).toEqual({ readiness: 60, leases: 3 });
  expect(bucketsWith('removedKeptSeconds')).toEqual({ 'active-jobs': 60 });
  expect(bucketsWith('ownKey')).toEqual({ readiness: true });
  expect(bucketsWith('republishTo')).toEqual({
    'job-status': 'live.job-status.>',
    'job-status-green': 'live.job-status-green.>',
  });
  expect(coreRows.filter(({ writers }) => writers.length === 0).map(({ subject }) => subject)).toEqual(
    Object.values(bucketsWith('republishTo')),
  );
});

test('a key of a bucket says what it is', () => {
  const keys = bucketRows.filter(({ rebuilt }) => rebuilt !== true).map(({ name, key }) => [name, key]);
  expect(Object.fromEntries(keys)).toEqual({
    projections: '<projection>',
    rebuilds: '<projection>',
    'dead-letters': '<service>.<stream>.<sequence>',
    'active-jobs': '<org>.<job>',
    'export-places': '<org>',
    'site-hosts': '<host>',
    'key-uses': '<org>.<key>',
    'conversation-sizes': '<org>',
    verifications: 'org.<org>, installation',
    readiness: '<service>',
    leases: '<role>',
  });
});

test('each reader has one consumer for a stream, and messages in flight come again after seconds', () => {
  const rows = durableRows.map(({ name, stream, filter, reader, ackWaitSeconds, maxAckPending }) =>
    [name, stream, filter, reader, ackWaitSeconds, maxAckPending].join(' '),
  );
  const projector = (generation: string) => [
    `projector-exports${generation} EXPORTS exports.*.*.log projector 30 5000`,
    `projector-content${generation} CONTENT content.*.*.log projector 30 5000`,
    `projector-sites${generation} SITES sites.*.*.log projector 30 5000`,
    `projector-directory${generation} DIRECTORY directory.*.log projector 30 5000`,
    `projector-access${generation} ACCESS access.*.* projector 30 5000`,
    `projector-views${generation} VIEWS views.* projector 30 5000`,
    `projector-conversations${generation} CONVERSATIONS threads.*.*.* projector 30 5000`,
  ];
  expect(rows).toEqual([
    ...projector(''),
    ...projector('-green'),
    'orchestrator-exports EXPORTS exports.*.*.log orchestrator 5 1000',
    'orchestrator-facts FACTS facts.*.* orchestrator 5 1000',
    'indexer-publications CONTENT content.*.*.log indexer 5 1000',
    'deployer-content CONTENT content.*.*.log deployer 5 1000',
    'deployer-exports EXPORTS exports.*.*.log deployer 5 1000',
    'deployer-sites SITES sites.*.*.log deployer 5 1000',
    'bundle TASKS tasks.bundle bundler 5 1000',
  ]);
  expect(durableRows.filter(({ remade }) => remade === true)).toHaveLength(14);
  expect(durableRows.flatMap(({ name, formerly }) => (formerly === undefined ? [] : [[name, formerly]]))).toEqual([
    ['indexer-publications', ['indexer-content']],
  ]);
});

test('renderers of a version have a consumer of their own', () => {
  expect(renderDurable('r-0123456789ab')).toEqual({
    name: 'render-r-0123456789ab',
    stream: 'TASKS',
    filter: 'tasks.render.r-0123456789ab',
    reader: 'page-renderer',
    ackWaitSeconds: 5,
    maxAckPending: 1_000,
  });
});

test('the first day whose messages are all there', () => {
  const now = new Date('2026-03-01T10:00:00.000Z');
  expect([firstKeptDay(now, 1), firstKeptDay(now, 7), firstKeptDay(now)]).toEqual([
    ...['2026-03-01', '2026-02-23', '2025-01-26'],
  ]);
});
