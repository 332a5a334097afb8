import type { ContentCommit } from '#shared/aggregates/content/content.ts';
import type { DirectoryCommit } from '#shared/aggregates/directory/directory.ts';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import type { SiteCommit } from '#shared/aggregates/site/site.ts';
import type { ThreadCommit } from '#shared/aggregates/thread/thread.ts';
import type { DeadLetter } from '#shared/contracts/dead-letters.ts';
import type { AccessRecord, Fact } from '#shared/contracts/export-facts.ts';
import type { SiteDayRecord, SiteViewsRecord, ViewsRecord } from '#shared/contracts/site-views.ts';
import type { BundleTask, RenderTask } from '#shared/contracts/export-tasks.ts';
import type {
  ActiveJobDocument,
  ConversationSizes,
  ExportPlaces,
  Generation,
  KeyUse,
  ProjectionName,
  ProjectionPointer,
  RebuildRequest,
  SiteHost,
  VerificationDocument,
} from '#shared/interfaces/read-models.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { DeadLetterLog } from '#shared/messaging/queue/dead-letters.ts';
import type { DurableReader } from '#shared/messaging/queue/durable-reader.ts';
import type { AnswerReading, AnswerWriting } from './answer-parts.ts';
import type { EventLog, FactLog } from '#shared/messaging/log/event-log.ts';
import type { Leases } from './leases.ts';
import type { BucketMark, DocumentStore, ReadModels } from './read-models.ts';
import type { BusUser } from './subjects/subject-table.ts';
import type { StoredMessages } from './verify/log-audit.ts';
import type { Presence, TaskQueue, Withdrawals } from '#shared/messaging/queue/task-queue.ts';

/** All parts of the bus. Each service gets only some of them: see `busPartsOf`. */
export type BusParts = {
  exports: EventLog<ExportCommit>;
  content: EventLog<ContentCommit>;
  directory: EventLog<DirectoryCommit>;
  sites: EventLog<SiteCommit>;
  threads: EventLog<ThreadCommit>;
  /** Answers that can be resumed: the assistant writes them, and the gateway reads them. */
  writtenAnswers: AnswerWriting;
  resumedAnswers: AnswerReading;
  facts: FactLog;
  access: { record(record: AccessRecord): Promise<void> };
  /** Page views and searches of sites, as hosts count them. */
  views: {
    record(record: SiteViewsRecord): Promise<void>;
    /** Records the sums of a past day, for `keptDays`. If they were recorded before, that changes nothing. */
    recordDay(record: SiteDayRecord, keptDays: number): Promise<void>;
  };
  tasks: TaskQueue;
  /** The depth of each work queue: a consumer of the tasks. */
  workQueues: { depths(): Promise<QueueDepth[]> };
  /** Messages that readers of logs set aside. */
  deadLetters: DocumentStore<DeadLetter>;
  deadLetterLog: DeadLetterLog;
  /** The stored messages of logs as text, for decisions about dead letters. */
  storedMessages: StoredMessages;
  /** The orchestrator's readers. */
  exportReader(): Promise<DurableReader<ExportCommit>>;
  factReader(): Promise<DurableReader<Fact>>;
  /** The readers of the indexer and of the workers. */
  contentReader(): Promise<DurableReader<ContentCommit>>;
  renderTasks(rendererVersion: string): Promise<DurableReader<RenderTask>>;
  bundleTasks(): Promise<DurableReader<BundleTask>>;
  /** The deployer's readers. */
  deployerReaders: {
    content(): Promise<DurableReader<ContentCommit>>;
    exports(): Promise<DurableReader<ExportCommit>>;
    sites(): Promise<DurableReader<SiteCommit>>;
  };
  /** The projector's readers, one for each generation of a read model. */
  projectionReaders: {
    exports(generation: Generation): Promise<DurableReader<ExportCommit>>;
    content(generation: Generation): Promise<DurableReader<ContentCommit>>;
    sites(generation: Generation): Promise<DurableReader<SiteCommit>>;
    directory(generation: Generation): Promise<DurableReader<DirectoryCommit>>;
    access(generation: Generation): Promise<DurableReader<AccessRecord>>;
    views(generation: Generation): Promise<DurableReader<ViewsRecord>>;
    conversations(generation: Generation): Promise<DurableReader<ThreadCommit>>;
  };
  /** The read models of the generation that is currently read. */
  readModels: ReadModels;
  /** Both generations of the read models, for the projector that fills them. */
  generations: Record<Generation, ReadModels>;
  projections: {
    /** The generation that is read, for each projection. */
    pointers: DocumentStore<ProjectionPointer>;
    /** The latest rebuild request of each projection. */
    requests: DocumentStore<RebuildRequest>;
    /**
     * Empties a projection's part of a generation and resets that generation's reader to the start of the log. The generation must have no readers
     * meanwhile. `confirm` rejects when the caller has lost its lease. Documents that another projector writes after `confirm` began are kept,
     * however late this call removes the others.
     */
    startOver(projection: ProjectionName, generation: Generation, confirm: () => Promise<void>): Promise<void>;
    /** Creates a generation's reader if it is missing. It begins at the start of the log. */
    makeReader(projection: ProjectionName, generation: Generation): Promise<void>;
    /** The time at which a generation lost documents, because a bucket was deleted and made again; undefined if it did not. */
    lostDocumentsAt(projection: ProjectionName, generation: Generation): Promise<string | undefined>;
  };
  /** The orchestrator's index of active jobs. */
  activeJobs: DocumentStore<ActiveJobDocument>;
  /** The mark of a complete index of active jobs. */
  activeJobsMark: BucketMark;
  /** The exports that count against an organization's limit of active exports, written by the gateway. */
  exportPlaces: DocumentStore<ExportPlaces>;
  /** The site that claimed each host name, written by the gateway. */
  siteHosts: DocumentStore<SiteHost>;
  /** The time of the last use of each API key, written by the gateways. */
  keyUses: DocumentStore<KeyUse>;
  /** The storage that each organization's conversations take, counted by the assistant. */
  conversationSizes: DocumentStore<ConversationSizes>;
  /** The last verification of the logs of each organization, and of all logs, written by the projector. */
  verifications: DocumentStore<VerificationDocument>;
  presence: Presence;
  withdrawals: Withdrawals;
  leases: Leases;
  /** The holder of each role that one holds now. */
  leaseHolders: { held(): Promise<{ role: string; holder: string }[]> };
  liveUpdates: LiveUpdates;
};

/**
 * A work queue. `pending`: messages that no worker has received. `inFlight`: messages that workers received and have not acknowledged. `redelivered`:
 * those of them that were delivered more than once.
 */
export type QueueDepth = { queue: string; pending: number; inFlight: number; redelivered: number };

/** The parts that each user gets. `subjects/` grants the rights for them. */
export const busPartsOf = {
  gateway: [
    ...([
      'exports',
      'content',
      'sites',
      'directory',
      'facts',
      'exportPlaces',
      'siteHosts',
      'keyUses',
      'views',
    ] as const),
    ...(['readModels', 'liveUpdates', 'presence', 'resumedAnswers'] as const),
  ],
  publisher: ['content'],
  indexer: ['content', 'contentReader', 'deadLetters', 'deadLetterLog', 'leases'],
  assistant: ['threads', 'conversationSizes', 'readModels', 'writtenAnswers'],
  orchestrator: [
    ...(['exports', 'exportReader', 'factReader', 'tasks', 'activeJobs', 'activeJobsMark'] as const),
    ...(['presence', 'withdrawals', 'leases', 'deadLetters', 'deadLetterLog'] as const),
    ...(['workQueues', 'leaseHolders'] as const),
  ],
  'page-renderer': ['renderTasks', 'facts', 'deadLetterLog', 'presence', 'withdrawals'],
  bundler: ['bundleTasks', 'facts', 'deadLetterLog', 'presence', 'withdrawals'],
  'link-signer': ['exports', 'access'],
  projector: [
    ...(['exports', 'content', 'sites', 'directory', 'projectionReaders', 'generations', 'projections'] as const),
    ...(['views', 'deadLetters', 'deadLetterLog', 'leases', 'readModels', 'verifications'] as const),
  ],
  housekeeper: [
    ...(['exports', 'content', 'sites', 'directory', 'readModels', 'leases', 'deadLetters', 'storedMessages'] as const),
  ],
  deployer: ['exports', 'content', 'sites', 'deployerReaders', 'leases', 'deadLetters', 'deadLetterLog'],
  auditor: ['readModels', 'deadLetters'],
  operator: ['projections', 'deadLetters'],
} as const satisfies Record<BusUser, readonly (keyof BusParts)[]>;

/**
 * One user's view of the bus: one connection with the rights of its NATS user. A call without the right rejects with a sentence that names
 * the subject.
 */
export type BusOf<User extends BusUser> = Pick<BusParts, (typeof busPartsOf)[User][number]> & BusConnection;

export type BusConnection = {
  /** The time of the bus. All services use it, so that the clocks of their machines do not matter. */
  clock: Clock;
  /** Rejects with the reason when the bus does not answer within two seconds or does not store a message. */
  check(): Promise<void>;
  /** Resolves when the server has answered. Without a server it rejects or stays pending. */
  ping(): Promise<void>;
  /** Traffic of the connection, for metrics. */
  traffic(): BusTraffic;
  close(): Promise<void>;
};

/** Traffic of a connection since it was opened. */
export type BusTraffic = {
  connected: boolean;
  disconnects: number;
  messagesIn: number;
  messagesOut: number;
  bytesIn: number;
  bytesOut: number;
};

/** The bus did not answer in time. The call can be repeated: a guarded append that was stored is recognized then. */
export class BusUnavailable extends Unavailable {
  override name = 'BusUnavailable';
}

/** A stream or bucket does not exist, because it was deleted while services run. They continue when the provisioner has made it again. */
export class BusPartMissing extends Unavailable {
  override name = 'BusPartMissing';

  constructor(part: string, options?: ErrorOptions) {
    super(`The bus has no ${part}: it was deleted. Run "bindery provision" of this version.`, options);
  }
}

/**
 * Changes of the `job-status` read model, which the server republishes. A gateway process has one subscription, whatever the number of clients. An
 * update can be lost, so a watcher reads the document first. Around a rebuild an update can be outdated, so a watcher ignores revisions that are not
 * newer than the one that it knows.
 */
export type LiveUpdates = {
  /** Calls `listener` with the raw document of every changed key until the returned function is called. */
  onJobStatus(listener: (update: { key: string; document: unknown }) => void): () => void;
};
