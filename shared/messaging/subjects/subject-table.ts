import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { projectionTable } from './projection-table.ts';
import { conversationsKeptDays } from '#shared/contracts/insights.ts';
import { viewBatchesKeptDays, viewsKeptDays } from '#shared/contracts/site-views.ts';
import { generations, inGeneration } from '#shared/interfaces/read-models.ts';

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
  'deployer',
] as const;

/**
 * All NATS users of the table: each service, an `auditor` who reads logs and read models and writes nothing, and an `operator` who requests
 * rebuilds and decides about dead letters. The `provisioner` makes streams, buckets and consumers; services only bind to them.
 */
export const busUsers = [...services, 'auditor', 'operator'] as const;

export type BusUser = (typeof busUsers)[number];

/** A stream with its writers and readers. Durable consumers are in `durableRows`. */
export type StreamRow = {
  name: string;
  /** Subject filters, with `*` for one token. */
  subjects: readonly string[];
  writers: readonly BusUser[];
  /** The subjects that a user may write, if not all. */
  subjectsOf?: Partial<Record<BusUser, readonly string[]>>;
  /** Users that receive messages at once when they are written, without a consumer. They may miss some. */
  followers?: readonly BusUser[];
  /** Users that read the newest message of a subject. */
  last: readonly BusUser[];
  /** Users that read all messages of a subject. */
  history: readonly BusUser[];
  /** Users that read the whole stream and list its subjects and gaps. */
  auditors: readonly BusUser[];
  /** Users that may purge single subjects. Nothing else is ever deleted. */
  purgers: readonly BusUser[];
  /** Users that list the consumers of a work queue with the numbers of their messages. They read no message. */
  counters: readonly BusUser[];
  /** `passing`: messages that may be lost. The server does not wait for its disk, and removes the oldest if the operator limits their size. */
  retention: 'log' | 'work-queue' | 'passing';
  /** Retention in days. If absent, messages are kept permanently. */
  keptDays?: number;
  /** Retention in minutes, in place of days. */
  keptMinutes?: number;
  kept: string;
  /** True if messages have a retention of their own, which ends before that of the stream. */
  hasOwnRetention?: true;
};

/** A key-value bucket: documents that can be rebuilt, or leases. */
export type BucketRow = {
  name: string;
  key: string;
  writers: readonly BusUser[];
  readers: readonly BusUser[];
  /** Readers that read by key only: they may not watch or list keys, for which the server makes a consumer each time. */
  byKey?: readonly BusUser[];
  /** The keys, or filters of keys, that a user may write, if not all. A user that reads by key reads only these, too. */
  keysOf?: Partial<Record<BusUser, readonly string[]>>;
  /** Further keys that a user with `keysOf` reads by key, and does not write. */
  readsOf?: Partial<Record<BusUser, readonly string[]>>;
  /**
   * Each writer writes only the key of its own name and reads none. It may request the state of the bucket, whose answer contains the time
   * of the bus.
   */
  ownKey?: boolean;
  kept: string;
  ttlSeconds?: number;
  /** Lifetime of the tombstone of a removed key, for watchers; ten minutes by default. Permanent tombstones would cost as much as documents. */
  removedKeptSeconds?: number;
  /** The server republishes every change under this subject. */
  republishTo?: string;
  /** True for a read model: its writers may empty it to rebuild it. */
  rebuilt?: boolean;
};

/** A subject of core NATS, whose messages are not stored. */
export type CoreRow = {
  subject: string;
  /** Empty if the server writes the messages, from a bucket. */
  writers: readonly BusUser[];
  readers: readonly BusUser[];
};

/** A durable consumer: one per reading service and stream, never one per organization, job or connected client. */
export type DurableRow = {
  name: string;
  stream: string;
  filter: string;
  reader: BusUser;
  ackWaitSeconds: number;
  maxAckPending: number;
  /** True if its reader may recreate it, to begin at the start of the stream. */
  remade?: boolean;
  /** Names that earlier versions used for the same work. The consumer takes over their position. */
  formerly?: readonly string[];
};

/** Retention of answers that can be resumed. */
const answersKeptMinutes = 10;

/** Retention of callers' addresses, in the stream and in each read model made from it. */
const accessKeptDays = 400;

const stream = (name: string, subjects: string[], row: Partial<StreamRow>): StreamRow => ({
  name,
  subjects,
  ...{ writers: [], last: [], history: [], auditors: [], purgers: [], counters: [], retention: 'log' },
  kept:
    row.keptMinutes !== undefined
      ? `${row.keptMinutes} minutes`
      : row.keptDays === undefined
        ? 'permanently'
        : `${row.keptDays} days`,
  ...row,
});

export const streamRows: readonly StreamRow[] = [
  stream('EXPORTS', ['exports.*.*.log'], {
    // The gateway and the deployer write the first commit of a job, the orchestrator all others.
    writers: ['gateway', 'orchestrator', 'deployer'],
    last: ['gateway', 'orchestrator', 'projector', 'link-signer', 'housekeeper', 'deployer'],
    history: ['gateway', 'orchestrator', 'projector', 'housekeeper'],
    auditors: ['auditor', 'housekeeper', 'projector', 'operator', 'orchestrator'],
    purgers: ['housekeeper'],
    kept: 'until archived',
  }),
  stream('FACTS', ['facts.*.*'], {
    writers: ['page-renderer', 'bundler', 'gateway'],
    auditors: ['operator', 'housekeeper'],
    keptDays: 7,
  }),
  stream('ACCESS', ['access.*.*'], {
    writers: ['link-signer'],
    auditors: ['operator', 'auditor', 'projector', 'housekeeper'],
    keptDays: accessKeptDays,
  }),
  stream('VIEWS', ['views.*'], {
    // The gateway writes batches, the projector the sums of past days.
    writers: ['gateway', 'projector'],
    auditors: ['operator', 'housekeeper'],
    keptDays: viewsKeptDays,
    kept: `${viewBatchesKeptDays} days; the sums of a day ${viewsKeptDays} days`,
    hasOwnRetention: true,
  }),
  stream('CONTENT', ['content.*.*.log'], {
    writers: ['publisher', 'indexer'],
    last: ['publisher', 'indexer', 'gateway', 'projector', 'housekeeper', 'deployer'],
    history: ['projector', 'gateway'],
    auditors: ['auditor', 'housekeeper', 'indexer', 'operator', 'deployer', 'projector'],
  }),
  stream('SITES', ['sites.*.*.log'], {
    writers: ['gateway', 'deployer'],
    last: ['gateway', 'deployer', 'projector', 'housekeeper'],
    history: ['projector'],
    auditors: ['auditor', 'housekeeper', 'deployer', 'operator', 'projector'],
  }),
  stream('DIRECTORY', ['directory.*.log'], {
    writers: ['gateway'],
    last: ['gateway', 'projector'],
    history: ['projector'],
    auditors: ['auditor', 'housekeeper', 'operator', 'projector'],
  }),
  stream('CONVERSATIONS', ['threads.*.*.*'], {
    writers: ['assistant'],
    last: ['assistant'],
    history: ['assistant'],
    purgers: ['assistant'],
    keptDays: conversationsKeptDays,
    kept: "90 days; beyond an organization's budget, its oldest days are removed first",
  }),
  stream('ANSWERS', ['answers.*.*.*.*', 'seen.*'], {
    // The assistant writes the parts of answers, and the gateway which of them a reader has read to the end.
    writers: ['assistant', 'gateway'],
    subjectsOf: { assistant: ['answers.*.*.*.*'], gateway: ['seen.*'] },
    followers: ['gateway'],
    last: ['gateway'],
    history: ['gateway'],
    retention: 'passing',
    keptMinutes: answersKeptMinutes,
  }),
  stream('TASKS', ['tasks.render.*', 'tasks.bundle'], {
    writers: ['orchestrator'],
    counters: ['orchestrator'],
    retention: 'work-queue',
    // A job lives for a day at most, so an older task only waits for a renderer of a version that no longer runs.
    keptDays: 1,
    kept: 'until acknowledged, and a day at most; may be discarded and refilled from the log',
  }),
  stream('DEAD', ['dead.*.*'], {
    // Each service writes under its own name.
    writers: ['indexer', 'orchestrator', 'page-renderer', 'bundler', 'projector', 'deployer'],
    auditors: ['operator', 'housekeeper'],
    keptDays: accessKeptDays,
  }),
];

const readModel = (name: string, key: string, row: Partial<BucketRow> = {}): BucketRow => ({
  name,
  key,
  writers: ['projector'],
  readers: ['gateway', 'projector'],
  rebuilt: true,
  kept: 'can be rebuilt at any time',
  ...row,
});

const blueRows: readonly BucketRow[] = [
  readModel('job-status', '<org>.<job>', {
    readers: ['gateway', 'projector', 'auditor', 'housekeeper'],
    republishTo: 'live.job-status.>',
  }),
  readModel('job-list', 'list.<org>.<day>.<part>, days.<org>', { byKey: ['gateway'] }),
  readModel('audit', '<source>.<org>.<day>.<part>, <source>-days.<org>', {
    readers: ['gateway', 'projector', 'auditor'],
    byKey: ['gateway'],
    kept: `can be rebuilt at any time; its records of \`ACCESS\` expire after ${accessKeptDays} days`,
  }),
  readModel('usage', '<source>.<org>.<month>', { byKey: ['gateway'], kept: 'as `audit`' }),
  readModel(
    'insights',
    'answers.<org>/<domain>.<day>.<part>, days.<org>/<domain>, blocks.<org>/<domain>.<day>.<block>, figures.<org>/<domain>.<day>',
    {
      byKey: ['gateway'],
      kept: `can be rebuilt at any time; its entries of a day expire after ${conversationsKeptDays} days`,
    },
  ),
  readModel('views', '<org>.<domain>.<day>', {
    byKey: ['gateway'],
    kept: `can be rebuilt at any time; the sums of a day expire after ${viewsKeptDays} days`,
  }),
  readModel('sites', '<org>.<domain>', { readers: ['gateway', 'projector', 'auditor'] }),
  readModel('directory', 'org.<org>, key.<sha256>, content.<org>.<domain>, deployments.<org>.<domain>', {
    readers: ['gateway', 'projector', 'assistant', 'auditor'],
    // The assistant reads which content is searched, but neither keys nor organizations.
    byKey: ['assistant'],
    keysOf: { assistant: ['content.>'] },
  }),
];
const greenRows = blueRows.map(({ republishTo, ...row }) => ({
  ...row,
  name: inGeneration(row.name, 'green'),
  ...(republishTo === undefined ? {} : { republishTo: republishTo.replace('.>', '-green.>') }),
  kept: `the other generation of \`${row.name}\``,
}));

/** The roles that have one holder at a time, and the services that hold them. */
const rolesOf = {
  orchestrator: ['orchestrator'],
  projector: Object.keys(projectionTable).map((projection) => `projector.${projection}`),
  housekeeper: ['housekeeper'],
  indexer: ['vectors'],
  deployer: ['deployer'],
} as const satisfies Partial<Record<BusUser, readonly string[]>>;

/** All roles. */
export const leaseRoles: readonly string[] = Object.values(rolesOf).flat();

const leaders = ['orchestrator', 'projector', 'housekeeper', 'indexer', 'deployer'] as const;

/** The readers of logs that store dead letters. Workers on a work queue store none: their lost tasks are redispatched. */
const logReaders = ['indexer', 'orchestrator', 'projector', 'deployer'] as const;

export const bucketRows: readonly BucketRow[] = [
  ...blueRows,
  ...greenRows,
  {
    name: 'projections',
    key: '<projection>',
    writers: ['projector'],
    readers: ['gateway', 'assistant', 'housekeeper', 'auditor', 'operator'],
    kept: 'always; holds the generation that is read',
  },
  {
    name: 'rebuilds',
    key: '<projection>',
    writers: ['operator'],
    readers: ['projector'],
    kept: 'until the next request; holds the last rebuild request',
  },
  {
    name: 'dead-letters',
    key: '<service>.<stream>.<sequence>',
    writers: [...logReaders, 'operator', 'housekeeper'],
    readers: ['auditor'],
    // The operator decides about all letters, and so does the housekeeper for the operator's requests; a service writes its own.
    keysOf: Object.fromEntries(logReaders.map((service) => [service, [`${service}.>`]])),
    kept: 'until they are handled; dropped ones permanently',
  },
  {
    name: 'active-jobs',
    key: '<org>.<job>',
    writers: ['orchestrator'],
    readers: [],
    // Every job leaves a tombstone here. The bucket has no watchers, so a minute is enough.
    removedKeptSeconds: 60,
    kept: 'until the job ends',
  },
  {
    name: 'export-places',
    key: '<org>',
    writers: ['gateway'],
    readers: [],
    byKey: ['gateway'],
    kept: 'as long as its organization; ended jobs are removed when further exports start',
  },
  {
    name: 'site-hosts',
    key: '<host>',
    writers: ['gateway'],
    readers: [],
    byKey: ['gateway'],
    kept: 'permanently; holds the site that claimed each host name',
  },
  {
    name: 'key-uses',
    key: '<org>.<key>',
    writers: ['gateway'],
    readers: [],
    byKey: ['gateway'],
    kept: 'as long as its organization',
  },
  {
    name: 'conversation-sizes',
    key: '<org>',
    writers: ['assistant'],
    readers: [],
    byKey: ['assistant'],
    kept: 'as long as its organization; holds the storage of its conversations by day',
  },
  {
    name: 'verifications',
    key: 'org.<org>, installation',
    writers: ['projector'],
    readers: [],
    byKey: ['projector'],
    kept: 'permanently; holds the last verification of the logs of each organization, and of all',
  },
  {
    name: 'readiness',
    key: '<service>',
    writers: services,
    readers: [],
    ownKey: true,
    ttlSeconds: 60,
    kept: 'a minute; holds a test document of each service',
  },
  {
    name: 'leases',
    key: '<role>',
    writers: leaders,
    readers: leaders,
    byKey: leaders,
    keysOf: rolesOf,
    // The orchestrator tells the operator who holds which role.
    readsOf: { orchestrator: leaseRoles },
    ttlSeconds: 3,
    kept: 'until its holder stops renewing (3 s)',
  },
];

export const coreRows: readonly CoreRow[] = [
  { subject: 'presence.gateway.*', writers: ['gateway'], readers: ['gateway'] },
  { subject: 'presence.page-renderer.*', writers: ['page-renderer'], readers: ['orchestrator'] },
  { subject: 'presence.bundler.*', writers: ['bundler'], readers: ['orchestrator'] },
  { subject: 'withdrawn.page-renderer', writers: ['orchestrator'], readers: ['page-renderer'] },
  { subject: 'withdrawn.bundler', writers: ['orchestrator'], readers: ['bundler'] },
  { subject: 'answering.chat.*', writers: ['gateway'], readers: ['assistant'] },
  { subject: 'live.job-status.>', writers: [], readers: ['gateway'] },
  { subject: 'live.job-status-green.>', writers: [], readers: ['gateway'] },
];

/**
 * A reader of a history takes thousands of messages at once, so that it writes a document once for many commits when it starts from the beginning.
 */
const history = { ackWaitSeconds: 30, maxAckPending: 5_000 };
/** A leader acknowledges at once. Messages that a dead leader had in flight must not delay the next leader. */
const decisions = { ackWaitSeconds: 5, maxAckPending: 1_000 };
/** Messages in flight of a dead worker are redelivered after this time. A live worker sends a "working" signal every 2 s. */
const work = { ackWaitSeconds: 5, maxAckPending: 1_000 };

const durable = (
  name: string,
  from: string,
  reader: BusUser,
  row: Pick<DurableRow, 'ackWaitSeconds' | 'maxAckPending'> & Partial<DurableRow>,
): DurableRow => ({
  name,
  stream: from,
  filter: streamRows.find((each) => each.name === from)?.subjects[0] ?? '>',
  reader,
  ...row,
});

export const durableRows: readonly DurableRow[] = [
  ...generations.flatMap((generation) =>
    Object.values(projectionTable).map((projection) =>
      durable(inGeneration(projection.durable, generation), projection.stream, 'projector', {
        ...history,
        remade: true,
      }),
    ),
  ),
  durable('orchestrator-exports', 'EXPORTS', 'orchestrator', decisions),
  durable('orchestrator-facts', 'FACTS', 'orchestrator', decisions),
  // Earlier versions do not start if a consumer differs from their settings. A new name keeps a downgrade possible.
  durable('indexer-publications', 'CONTENT', 'indexer', { ...work, formerly: ['indexer-content'] }),
  durable('deployer-content', 'CONTENT', 'deployer', decisions),
  durable('deployer-exports', 'EXPORTS', 'deployer', decisions),
  durable('deployer-sites', 'SITES', 'deployer', decisions),
  durable('bundle', 'TASKS', 'bundler', { ...work, filter: 'tasks.bundle' }),
];

/** Each renderer version has a durable of its own, so that only renderers which make the same bytes take its tasks. */
export const renderDurable = (rendererVersion: string): DurableRow =>
  durable(`render-${rendererVersion}`, 'TASKS', 'page-renderer', {
    ...work,
    filter: `tasks.render.${rendererVersion}`,
  });

/**
 * The first day (`yyyy-mm-dd`, UTC) for which read models may hold records of a log with this retention, by default that of access records:
 * none of the day's messages has been removed yet. Pure.
 */
export function firstKeptDay(now: Date, keptDays: number = accessKeptDays): string {
  return new Date(now.getTime() - (keptDays - 1) * dayMs).toISOString().slice(0, 10);
}
