import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { projectionTable } from './projection-table.ts';
import { conversationsKeptDays } from '#shared/contracts/insights.ts';
import { generations, inGeneration } from '#shared/contracts/read-models.ts';

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
 * for rebuilds and decides about dead letters. The `provisioner` makes streams, buckets and consumers; services only bind to them.
 */
export const busUsers = [...services, 'auditor', 'operator'] as const;

export type BusUser = (typeof busUsers)[number];

/** A stream, who writes to it, and who reads it. Durable consumers are in `durableRows`. */
export type StreamRow = {
  name: string;
  /** With `*` for one token. */
  subjects: readonly string[];
  writers: readonly BusUser[];
  /** Who reads the newest message of a subject. */
  last: readonly BusUser[];
  /** Who reads all messages of a subject. */
  history: readonly BusUser[];
  /** Who reads the whole stream, and sees which subjects and gaps it has. */
  auditors: readonly BusUser[];
  /** Who may purge single subjects. Nothing else is ever deleted. */
  purgers: readonly BusUser[];
  retention: 'log' | 'work-queue';
  /** Absent: for good. */
  keptDays?: number;
  kept: string;
};

/** A key-value bucket: documents that can be rebuilt, or leases. */
export type BucketRow = {
  name: string;
  key: string;
  writers: readonly BusUser[];
  readers: readonly BusUser[];
  /** Those of the readers who read by key alone: they may not watch or list keys, for which the server makes a consumer each time. */
  byKey?: readonly BusUser[];
  /** The keys, or filters of keys, that a user may write where these are not all. Who reads by key reads no others either. */
  keysOf?: Partial<Record<BusUser, readonly string[]>>;
  /** Each writer writes the key of its own name alone, and reads none; it may ask for the state of the bucket, with which comes the time of the bus. */
  ownKey?: boolean;
  kept: string;
  ttlSeconds?: number;
  /** How long a removed key leaves a marker, for those who watch; ten minutes by default. For good, markers would cost as much as documents. */
  removedKeptSeconds?: number;
  /** The server republishes every change under this subject. */
  republishTo?: string;
  /** A read model: its writers may empty it to fill it anew. */
  rebuilt?: boolean;
};

/** A subject that nothing keeps. */
export type CoreRow = {
  subject: string;
  /** Empty: the server writes, from a bucket. */
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
  /** Its reader may make it anew, to begin at the start of the stream. */
  remade?: boolean;
  /** Names of earlier versions for the same work; it goes on where they were. */
  formerly?: readonly string[];
};

/** Addresses of callers are kept no longer than this anywhere: neither in the stream nor in a read model made from it. */
const accessKeptDays = 400;

const stream = (name: string, subjects: string[], row: Partial<StreamRow>): StreamRow => ({
  name,
  subjects,
  ...{ writers: [], last: [], history: [], auditors: [], purgers: [], retention: 'log' },
  kept: row.keptDays === undefined ? 'for good' : `${row.keptDays} days`,
  ...row,
});

export const streamRows: readonly StreamRow[] = [
  stream('EXPORTS', ['exports.*.*.log'], {
    writers: ['gateway', 'orchestrator'],
    last: ['gateway', 'orchestrator', 'projector', 'link-signer', 'housekeeper'],
    history: ['gateway', 'orchestrator', 'projector', 'housekeeper'],
    auditors: ['auditor', 'housekeeper', 'projector', 'operator'],
    purgers: ['housekeeper'],
    kept: 'until archived',
  }),
  stream('FACTS', ['facts.*.*'], {
    writers: ['page-renderer', 'bundler', 'gateway'],
    auditors: ['operator'],
    keptDays: 7,
  }),
  stream('ACCESS', ['access.*.*'], {
    writers: ['link-signer'],
    auditors: ['operator', 'auditor'],
    keptDays: accessKeptDays,
  }),
  stream('CONTENT', ['content.*.*.log'], {
    writers: ['publisher', 'indexer'],
    last: ['publisher', 'indexer', 'gateway', 'projector', 'housekeeper'],
    history: ['projector', 'gateway'],
    auditors: ['auditor', 'housekeeper', 'indexer', 'operator'],
  }),
  stream('DIRECTORY', ['directory.*.log'], {
    writers: ['gateway'],
    last: ['gateway', 'projector'],
    history: ['projector'],
    auditors: ['auditor', 'housekeeper', 'operator'],
  }),
  stream('CONVERSATIONS', ['threads.*.*.*'], {
    writers: ['assistant'],
    last: ['assistant'],
    history: ['assistant'],
    purgers: ['assistant'],
    keptDays: conversationsKeptDays,
    kept: "90 days; of more than an organization's budget, its oldest days go first",
  }),
  stream('TASKS', ['tasks.render.*', 'tasks.bundle'], {
    writers: ['orchestrator'],
    retention: 'work-queue',
    // No job lives longer, so what is left waits for renderers of a version that is gone.
    keptDays: 1,
    kept: 'until acknowledged, and a day at most; may be thrown away and refilled from the log',
  }),
  stream('DEAD', ['dead.*.*'], {
    // Each under its own name.
    writers: ['indexer', 'orchestrator', 'page-renderer', 'bundler', 'projector'],
    auditors: ['operator'],
    keptDays: accessKeptDays,
  }),
];

const readModel = (name: string, key: string, row: Partial<BucketRow> = {}): BucketRow => ({
  name,
  key,
  writers: ['projector'],
  readers: ['gateway', 'projector'],
  rebuilt: true,
  kept: 'rebuilt at will',
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
    kept: `rebuilt at will; its records of \`ACCESS\` go after ${accessKeptDays} days`,
  }),
  readModel('usage', '<source>.<org>.<month>', { byKey: ['gateway'], kept: 'as `audit`' }),
  readModel(
    'insights',
    'answers.<org>/<domain>.<day>.<part>, days.<org>/<domain>, blocks.<org>/<domain>.<day>.<block>, figures.<org>/<domain>.<day>',
    {
      byKey: ['gateway'],
      kept: `rebuilt at will; what it has of a day goes after ${conversationsKeptDays} days`,
    },
  ),
  readModel('directory', 'org.<org>, key.<sha256>, content.<org>.<domain>', {
    readers: ['gateway', 'projector', 'assistant', 'auditor'],
    // Which content is searched; keys and organizations are none of its business.
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
} as const satisfies Partial<Record<BusUser, readonly string[]>>;

const leaders = ['orchestrator', 'projector', 'housekeeper', 'indexer'] as const;

/** The readers of logs that set messages aside. Their workers' counterparts lose tasks, which are handed out anew. */
const logReaders = ['indexer', 'orchestrator', 'projector'] as const;

export const bucketRows: readonly BucketRow[] = [
  ...blueRows,
  ...greenRows,
  {
    name: 'projections',
    key: '<projection>',
    writers: ['projector'],
    readers: ['gateway', 'assistant', 'housekeeper', 'auditor', 'operator'],
    kept: 'which generation is read',
  },
  {
    name: 'rebuilds',
    key: '<projection>',
    writers: ['operator'],
    readers: ['projector'],
    kept: 'the last rebuild request',
  },
  {
    name: 'dead-letters',
    key: '<service>.<stream>.<sequence>',
    writers: [...logReaders, 'operator'],
    readers: [],
    // The operator decides about each, a service about its own.
    keysOf: Object.fromEntries(logReaders.map((service) => [service, [`${service}.>`]])),
    kept: 'until they are handled; dropped ones for good',
  },
  {
    name: 'active-jobs',
    key: '<org>.<job>',
    writers: ['orchestrator'],
    readers: [],
    // Every job that ever ran is removed here, and nobody watches.
    removedKeptSeconds: 60,
    kept: 'until the job ends',
  },
  {
    name: 'export-places',
    key: '<org>',
    writers: ['gateway'],
    readers: [],
    byKey: ['gateway'],
    kept: 'as long as its organization; jobs that ended leave it with the next start',
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
    kept: "what an organization's conversations take, by day",
  },
  {
    name: 'readiness',
    key: '<service>',
    writers: services,
    readers: [],
    ownKey: true,
    ttlSeconds: 60,
    kept: 'a minute: what a service wrote to see whether it can',
  },
  {
    name: 'leases',
    key: '<role>',
    writers: leaders,
    readers: leaders,
    byKey: leaders,
    keysOf: rolesOf,
    ttlSeconds: 3,
    kept: 'until its holder stops renewing (3 s)',
  },
];

export const coreRows: readonly CoreRow[] = [
  { subject: 'presence.gateway.*', writers: ['gateway'], readers: ['gateway'] },
  { subject: 'presence.page-renderer.*', writers: ['page-renderer'], readers: ['orchestrator'] },
  { subject: 'presence.bundler.*', writers: ['bundler'], readers: ['orchestrator'] },
  { subject: 'live.job-status.>', writers: [], readers: ['gateway'] },
  { subject: 'live.job-status-green.>', writers: [], readers: ['gateway'] },
];

/** Read by thousands, so that a document is written once for many commits when a history is read from its start. */
const history = { ackWaitSeconds: 30, maxAckPending: 5_000 };
/** A leader acknowledges at once, and what a dead one had in hand must not hold up the next leader. */
const decisions = { ackWaitSeconds: 5, maxAckPending: 1_000 };
/** What a dead worker had in hand comes back after this long; a live one says every 2 s that it works. */
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
  // Versions before change no consumer that differs from theirs, and do not start: under a name of its own it does not stop a way back to them.
  durable('indexer-publications', 'CONTENT', 'indexer', { ...work, formerly: ['indexer-content'] }),
  durable('bundle', 'TASKS', 'bundler', { ...work, filter: 'tasks.bundle' }),
];

/** Each renderer version has a durable of its own, so that only renderers which make the same bytes take its tasks. */
export const renderDurable = (rendererVersion: string): DurableRow =>
  durable(`render-${rendererVersion}`, 'TASKS', 'page-renderer', {
    ...work,
    filter: `tasks.render.${rendererVersion}`,
  });

/**
 * The first day (`yyyy-mm-dd`, UTC) of which read models may hold what a log keeps for so many days, records of access by default: none of its
 * messages is gone yet. Pure.
 */
export function firstKeptDay(now: Date, keptDays: number = accessKeptDays): string {
  return new Date(now.getTime() - (keptDays - 1) * dayMs).toISOString().slice(0, 10);
}
