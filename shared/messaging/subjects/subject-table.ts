import { projectionTable } from './projection-table.ts';
import { inGeneration } from '#shared/contracts/read-models.ts';

const services = [
  'gateway',
  'publisher',
  'indexer',
  'assistant',
  'orchestrator',
  'page-renderer',
  'bundler',
  'link-signer',
  'projector',
  'housekeeper',
] as const;

/**
 * Everyone who has a NATS user: each service, an `auditor` who reads logs and read models and writes nothing, and an `operator` who asks
 * for rebuilds. Besides there is the `provisioner`, which makes streams, buckets and consumers; services only bind to them.
 */
export const busUsers = [...services, 'auditor', 'operator'] as const;

export type BusUser = (typeof busUsers)[number];

/** A stream: who appends to its subjects, who looks at them (`last`: the newest message of a subject, `history`: all of them). */
export type StreamRow = {
  kind: 'stream';
  name: string;
  /** With `*` for one token. */
  subjects: readonly string[];
  writers: readonly BusUser[];
  last: readonly BusUser[];
  history: readonly BusUser[];
  /** Who may read it whole and see which subjects and gaps it has. */
  auditors?: readonly BusUser[];
  retention: 'log' | 'work-queue';
  /** Undefined: for good. */
  keptDays?: number;
  kept: string;
  /** May single subjects be purged? By `purgers` alone; nothing else is ever deleted. */
  purgers: readonly BusUser[];
};

/** A key-value bucket: documents that can be rebuilt, or leases. */
export type BucketRow = {
  kind: 'bucket';
  name: string;
  key: string;
  writers: readonly BusUser[];
  readers: readonly BusUser[];
  ttlSeconds?: number;
  /** The server republishes every change under this subject. */
  republishTo?: string;
  /** A read model: its writers may empty it to fill it anew. */
  rebuilt?: boolean;
  kept: string;
};

/** A subject that nothing keeps. */
export type CoreRow = {
  kind: 'core';
  subject: string;
  writers: readonly BusUser[];
  /** By the server itself, from a bucket. */
  byServer: boolean;
  readers: readonly BusUser[];
  /** Each writer may use only `<subject>` with its own name in place of the first `*`. */
  ownNameOnly: boolean;
};

/** A durable consumer: one per reading service and stream, never one per organization, job or connected client. */
export type DurableRow = {
  kind: 'durable';
  name: string;
  stream: string;
  filter: string;
  reader: BusUser;
  ackWaitSeconds: number;
  maxAckPending: number;
  /** Its reader may make it anew, to begin at the start of the stream. */
  remade?: boolean;
};

/** Addresses of callers are nowhere longer than this: neither in the stream nor in a read model made of it. */
export const accessKeptDays = 400;

export const streamRows: readonly StreamRow[] = [
  {
    kind: 'stream',
    name: 'EXPORTS',
    subjects: ['exports.*.*.log'],
    writers: ['gateway', 'orchestrator'],
    last: ['gateway', 'orchestrator', 'projector', 'link-signer', 'housekeeper'],
    history: ['gateway', 'orchestrator', 'projector', 'housekeeper'],
    auditors: ['auditor', 'housekeeper'],
    retention: 'log',
    kept: 'until archived',
    purgers: ['housekeeper'],
  },
  {
    kind: 'stream',
    name: 'FACTS',
    subjects: ['facts.*.*'],
    writers: ['page-renderer', 'bundler', 'gateway'],
    last: [],
    history: [],
    retention: 'log',
    keptDays: 7,
    kept: '7 days',
    purgers: [],
  },
  {
    kind: 'stream',
    name: 'ACCESS',
    subjects: ['access.*.*'],
    writers: ['link-signer'],
    last: [],
    history: [],
    retention: 'log',
    keptDays: accessKeptDays,
    kept: `${accessKeptDays} days`,
    purgers: [],
  },
  {
    kind: 'stream',
    name: 'CONTENT',
    subjects: ['content.*.*.log'],
    writers: ['publisher', 'indexer'],
    last: ['publisher', 'indexer', 'gateway', 'orchestrator', 'projector', 'housekeeper'],
    history: ['projector', 'gateway'],
    auditors: ['auditor', 'housekeeper'],
    retention: 'log',
    kept: 'for good',
    purgers: [],
  },
  {
    kind: 'stream',
    name: 'DIRECTORY',
    subjects: ['directory.*.log'],
    writers: ['gateway'],
    last: ['gateway', 'projector'],
    history: ['projector'],
    auditors: ['auditor', 'housekeeper'],
    retention: 'log',
    kept: 'for good',
    purgers: [],
  },
  {
    kind: 'stream',
    name: 'CONVERSATIONS',
    subjects: ['threads.*.*.*'],
    writers: ['assistant'],
    last: ['assistant'],
    history: ['assistant'],
    retention: 'log',
    keptDays: 90,
    kept: '90 days',
    purgers: ['assistant'],
  },
  {
    kind: 'stream',
    name: 'TASKS',
    subjects: ['tasks.render.*', 'tasks.bundle'],
    writers: ['orchestrator'],
    last: [],
    history: [],
    retention: 'work-queue',
    kept: 'until acknowledged; may be thrown away and refilled from the log',
    purgers: [],
  },
  {
    kind: 'stream',
    name: 'DEAD',
    subjects: ['dead.*.*'],
    writers: services,
    last: [],
    history: [],
    retention: 'log',
    keptDays: 90,
    kept: '90 days',
    purgers: [],
  },
];

const readModelRows: readonly BucketRow[] = [
  {
    kind: 'bucket',
    name: 'job-status',
    key: '<org>.<job>',
    writers: ['projector'],
    readers: ['gateway', 'projector', 'auditor', 'housekeeper'],
    republishTo: 'live.job-status.>',
    rebuilt: true,
    kept: 'rebuilt at will',
  },
  {
    kind: 'bucket',
    name: 'job-list',
    key: '<org>.<day>',
    writers: ['projector'],
    readers: ['gateway', 'projector'],
    rebuilt: true,
    kept: 'rebuilt at will',
  },
  {
    kind: 'bucket',
    name: 'audit',
    key: '<source>.<org>.<day>.<part>',
    writers: ['projector'],
    readers: ['gateway', 'projector'],
    rebuilt: true,
    kept: `rebuilt at will; what it has of \`ACCESS\` goes after ${accessKeptDays} days`,
  },
  {
    kind: 'bucket',
    name: 'usage',
    key: '<source>.<org>.<month>',
    writers: ['projector'],
    readers: ['gateway', 'projector'],
    rebuilt: true,
    kept: 'as `audit`',
  },
  {
    kind: 'bucket',
    name: 'directory',
    key: 'org.<org>, key.<sha256>, content.<org>.<domain>',
    writers: ['projector'],
    readers: ['gateway', 'projector', 'assistant', 'orchestrator', 'auditor'],
    rebuilt: true,
    kept: 'rebuilt at will',
  },
];

export const bucketRows: readonly BucketRow[] = [
  ...readModelRows,
  ...readModelRows.map((row) => ({
    ...row,
    name: inGeneration(row.name, 'green'),
    ...(row.republishTo === undefined ? {} : { republishTo: row.republishTo.replace('.>', '-green.>') }),
    kept: `the other generation of \`${row.name}\``,
  })),
  {
    kind: 'bucket',
    name: 'projections',
    key: '<projection>',
    writers: ['projector'],
    readers: ['gateway', 'projector', 'assistant', 'orchestrator', 'auditor', 'operator', 'housekeeper'],
    kept: 'which generation is read',
  },
  {
    kind: 'bucket',
    name: 'rebuilds',
    key: '<projection>',
    writers: ['operator'],
    readers: ['projector', 'operator'],
    kept: 'the last wish for a rebuild',
  },
  {
    kind: 'bucket',
    name: 'active-jobs',
    key: '<org>.<job>',
    writers: ['orchestrator'],
    readers: ['orchestrator'],
    kept: 'rebuilt at will',
  },
  {
    kind: 'bucket',
    name: 'leases',
    key: '<role>',
    writers: ['orchestrator', 'projector', 'housekeeper'],
    readers: ['orchestrator', 'projector', 'housekeeper'],
    ttlSeconds: 3,
    kept: 'until its holder stops renewing (3 s)',
  },
];

export const coreRows: readonly CoreRow[] = [
  {
    kind: 'core',
    subject: 'presence.*.*',
    writers: services,
    byServer: false,
    readers: ['orchestrator'],
    ownNameOnly: true,
  },
  { kind: 'core', subject: 'live.job-status.>', writers: [], byServer: true, readers: ['gateway'], ownNameOnly: false },
  {
    kind: 'core',
    subject: 'live.job-status-green.>',
    writers: [],
    byServer: true,
    readers: ['gateway'],
    ownNameOnly: false,
  },
];

/** Read by thousands, so that a document is written once for many commits when a history is read from its start. */
const history = { ackWaitSeconds: 30, maxAckPending: 5_000 };
const log = { ackWaitSeconds: 30, maxAckPending: 1_000 };
/** An orchestrator that leads acknowledges at once; what one that died had in hand must not hold up the next leader. */
const decisions = { ackWaitSeconds: 5, maxAckPending: 1_000 };
/** The tasks of a renderer that died come back after this long; one that works says so every 2 s. */
const work = { ackWaitSeconds: 5, maxAckPending: 1_000 };

const projectionRows: readonly DurableRow[] = Object.values(projectionTable).map(({ stream, durable }) => ({
  kind: 'durable',
  name: durable,
  stream,
  filter: streamRows.find((row) => row.name === stream)?.subjects[0] ?? '>',
  reader: 'projector',
  remade: true,
  ...history,
}));

export const durableRows: readonly DurableRow[] = [
  ...projectionRows,
  ...projectionRows.map((row) => ({ ...row, name: inGeneration(row.name, 'green') })),
  {
    kind: 'durable',
    name: 'orchestrator-exports',
    stream: 'EXPORTS',
    filter: 'exports.*.*.log',
    reader: 'orchestrator',
    ...decisions,
  },
  {
    kind: 'durable',
    name: 'orchestrator-facts',
    stream: 'FACTS',
    filter: 'facts.*.*',
    reader: 'orchestrator',
    ...decisions,
  },
  { kind: 'durable', name: 'indexer-content', stream: 'CONTENT', filter: 'content.*.*.log', reader: 'indexer', ...log },
  { kind: 'durable', name: 'bundle', stream: 'TASKS', filter: 'tasks.bundle', reader: 'bundler', ...work },
];

/** Each renderer version has a durable of its own, so that only renderers which make the same bytes take its tasks. */
export function renderDurable(rendererVersion: string): DurableRow {
  return {
    kind: 'durable',
    name: `render-${rendererVersion}`,
    stream: 'TASKS',
    filter: `tasks.render.${rendererVersion}`,
    reader: 'page-renderer',
    ...work,
  };
}

const dayMs = 86_400_000;

/** The first day (`yyyy-mm-dd`, UTC) of which read models may hold records of access now: none of its records is gone yet. Pure. */
export function firstKeptDay(now: Date): string {
  return new Date(now.getTime() - (accessKeptDays - 1) * dayMs).toISOString().slice(0, 10);
}
