/** Every service and its NATS user; `provisioner` makes streams, buckets and consumers, services only bind to them. */
export type BusUser =
  | 'gateway'
  | 'publisher'
  | 'indexer'
  | 'assistant'
  | 'orchestrator'
  | 'page-renderer'
  | 'bundler'
  | 'link-signer'
  | 'projector';

/** A stream: who appends to its subjects, who looks at them (`last`: the newest message of a subject, `history`: all of them). */
export type StreamRow = {
  kind: 'stream';
  name: string;
  /** With `*` for one token. */
  subjects: readonly string[];
  writers: readonly BusUser[];
  last: readonly BusUser[];
  history: readonly BusUser[];
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
};

const all: readonly BusUser[] = [
  'gateway',
  'publisher',
  'indexer',
  'assistant',
  'orchestrator',
  'page-renderer',
  'bundler',
  'link-signer',
  'projector',
];

export const streamRows: readonly StreamRow[] = [
  {
    kind: 'stream',
    name: 'EXPORTS',
    subjects: ['exports.*.*.log'],
    writers: ['gateway', 'orchestrator'],
    last: ['gateway', 'orchestrator', 'projector', 'link-signer'],
    history: ['gateway', 'orchestrator', 'projector'],
    retention: 'log',
    kept: 'until archived',
    purgers: [],
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
    keptDays: 400,
    kept: '400 days',
    purgers: [],
  },
  {
    kind: 'stream',
    name: 'CONTENT',
    subjects: ['content.*.*.log'],
    writers: ['publisher', 'indexer'],
    last: ['publisher', 'indexer', 'gateway', 'orchestrator', 'projector'],
    history: ['projector', 'gateway'],
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
    writers: all,
    last: [],
    history: [],
    retention: 'log',
    keptDays: 90,
    kept: '90 days',
    purgers: [],
  },
];

export const bucketRows: readonly BucketRow[] = [
  {
    kind: 'bucket',
    name: 'job-status',
    key: '<org>.<job>',
    writers: ['projector'],
    readers: ['gateway', 'projector'],
    republishTo: 'live.job-status.>',
    kept: 'rebuilt at will',
  },
  {
    kind: 'bucket',
    name: 'job-list',
    key: '<org>.<day>',
    writers: ['projector'],
    readers: ['gateway', 'projector'],
    kept: 'rebuilt at will',
  },
  {
    kind: 'bucket',
    name: 'directory',
    key: 'org.<org>, key.<sha256>, content.<org>.<domain>',
    writers: ['projector'],
    readers: ['gateway', 'projector', 'assistant', 'orchestrator'],
    kept: 'rebuilt at will',
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
    writers: ['orchestrator', 'projector'],
    readers: ['orchestrator', 'projector'],
    ttlSeconds: 3,
    kept: 'until its holder stops renewing (3 s)',
  },
];

export const coreRows: readonly CoreRow[] = [
  {
    kind: 'core',
    subject: 'presence.*.*',
    writers: all,
    byServer: false,
    readers: ['orchestrator'],
    ownNameOnly: true,
  },
  { kind: 'core', subject: 'live.job-status.>', writers: [], byServer: true, readers: ['gateway'], ownNameOnly: false },
];

const log = { ackWaitSeconds: 30, maxAckPending: 1_000 };
/** An orchestrator that leads acknowledges at once; what one that died had in hand must not hold up the next leader. */
const decisions = { ackWaitSeconds: 5, maxAckPending: 1_000 };
/** The tasks of a renderer that died come back after this long; one that works says so every 2 s. */
const work = { ackWaitSeconds: 5, maxAckPending: 1_000 };

export const durableRows: readonly DurableRow[] = [
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
  {
    kind: 'durable',
    name: 'projector-exports',
    stream: 'EXPORTS',
    filter: 'exports.*.*.log',
    reader: 'projector',
    ...log,
  },
  {
    kind: 'durable',
    name: 'projector-content',
    stream: 'CONTENT',
    filter: 'content.*.*.log',
    reader: 'projector',
    ...log,
  },
  {
    kind: 'durable',
    name: 'projector-directory',
    stream: 'DIRECTORY',
    filter: 'directory.*.log',
    reader: 'projector',
    ...log,
  },
  { kind: 'durable', name: 'projector-access', stream: 'ACCESS', filter: 'access.*.*', reader: 'projector', ...log },
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
