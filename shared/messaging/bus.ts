import type { ContentCommit } from '#shared/aggregates/content/content.ts';
import type { DirectoryCommit } from '#shared/aggregates/directory/directory.ts';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import type { ThreadCommit } from '#shared/aggregates/thread/thread.ts';
import type { DeadLetter } from '#shared/contracts/dead-letters.ts';
import type { AccessRecord, Fact } from '#shared/contracts/export-facts.ts';
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
} from '#shared/contracts/read-models.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { DeadLetterLog } from './dead-letters.ts';
import type { DurableReader } from './durable-reader.ts';
import type { EventLog, FactLog } from './event-log.ts';
import type { Leases } from './leases.ts';
import type { DocumentStore, ReadModels } from './read-models.ts';
import type { BusUser } from './subjects/subject-table.ts';
import type { Presence, TaskQueue } from './task-queue.ts';

/** Everything that the bus has. No service gets all of it: see `busPartsOf`. */
export type BusParts = {
  exports: EventLog<ExportCommit>;
  content: EventLog<ContentCommit>;
  directory: EventLog<DirectoryCommit>;
  threads: EventLog<ThreadCommit>;
  facts: FactLog;
  access: { record(record: AccessRecord): Promise<void> };
  tasks: TaskQueue;
  /** Messages that readers of logs set aside. */
  deadLetters: DocumentStore<DeadLetter>;
  deadLetterLog: DeadLetterLog;
  /** The orchestrator's readers. */
  exportReader(): Promise<DurableReader<ExportCommit>>;
  factReader(): Promise<DurableReader<Fact>>;
  /** The indexer's reader. */
  contentReader(): Promise<DurableReader<ContentCommit>>;
  renderTasks(rendererVersion: string): Promise<DurableReader<RenderTask>>;
  bundleTasks(): Promise<DurableReader<BundleTask>>;
  /** The projector's readers, one for each generation of a read model. */
  projectionReaders: {
    exports(generation: Generation): Promise<DurableReader<ExportCommit>>;
    content(generation: Generation): Promise<DurableReader<ContentCommit>>;
    directory(generation: Generation): Promise<DurableReader<DirectoryCommit>>;
    access(generation: Generation): Promise<DurableReader<AccessRecord>>;
    conversations(generation: Generation): Promise<DurableReader<ThreadCommit>>;
  };
  /** The read models as they are read now. */
  readModels: ReadModels;
  /** Both generations of the read models, for the projector that fills them. */
  generations: Record<Generation, ReadModels>;
  projections: {
    /** Which generation is read, by projection. */
    pointers: DocumentStore<ProjectionPointer>;
    /** Which rebuild was asked for last, by projection. */
    requests: DocumentStore<RebuildRequest>;
    /**
     * Empties a projection's part of a generation, and makes that generation's reader begin at the start of the log. Nobody may read
     * meanwhile. `confirm` rejects when the caller does not lead any more. What another projector writes after `confirm` began stays,
     * however late this removes the rest.
     */
    startOver(projection: ProjectionName, generation: Generation, confirm: () => Promise<void>): Promise<void>;
    /** Makes a generation's reader where it is missing; it begins at the start of the log. */
    makeReader(projection: ProjectionName, generation: Generation): Promise<void>;
  };
  /** The orchestrator's index. */
  activeJobs: DocumentStore<ActiveJobDocument>;
  /** The gateway's list of what counts against the limit of active exports. */
  exportPlaces: DocumentStore<ExportPlaces>;
  /** The gateways' times of when each API key was used last. */
  keyUses: DocumentStore<KeyUse>;
  /** The assistant's count of what each organization's conversations take. */
  conversationSizes: DocumentStore<ConversationSizes>;
  presence: Presence;
  leases: Leases;
  liveUpdates: LiveUpdates;
};

/** Which parts each user gets. `subjects/` gives it the rights for them. */
export const busPartsOf = {
  gateway: [
    ...(['exports', 'content', 'directory', 'facts', 'exportPlaces', 'keyUses'] as const),
    ...(['readModels', 'liveUpdates', 'presence'] as const),
  ],
  publisher: ['content'],
  indexer: ['content', 'contentReader', 'deadLetters', 'deadLetterLog', 'leases'],
  assistant: ['threads', 'conversationSizes', 'readModels'],
  orchestrator: [
    ...(['exports', 'exportReader', 'factReader', 'tasks', 'activeJobs', 'presence', 'leases'] as const),
    ...(['deadLetters', 'deadLetterLog'] as const),
  ],
  'page-renderer': ['renderTasks', 'facts', 'deadLetterLog', 'presence'],
  bundler: ['bundleTasks', 'facts', 'deadLetterLog', 'presence'],
  'link-signer': ['exports', 'access'],
  projector: [
    ...(['exports', 'content', 'directory', 'projectionReaders', 'generations', 'projections'] as const),
    ...(['deadLetters', 'deadLetterLog', 'leases'] as const),
  ],
  housekeeper: ['exports', 'content', 'directory', 'readModels', 'leases'],
  auditor: ['readModels'],
  operator: ['projections', 'deadLetters'],
} as const satisfies Record<BusUser, readonly (keyof BusParts)[]>;

/**
 * What one user has of the bus: one connection with the rights of its NATS user. What it has no right to rejects with a sentence that names
 * the subject.
 */
export type BusOf<User extends BusUser> = Pick<BusParts, (typeof busPartsOf)[User][number]> & BusConnection;

export type BusConnection = {
  /** The time of the bus, by which all services count, whatever the clocks of their machines say. */
  clock: Clock;
  /** Rejects with the reason when the bus does not answer within two seconds, or does not store what it is sent. */
  check(): Promise<void>;
  /** Resolves when the server has answered; rejects, or never ends, when there is none. */
  ping(): Promise<void>;
  /** For metrics. */
  traffic(): BusTraffic;
  close(): Promise<void>;
};

/** What went over a connection since it was opened. */
export type BusTraffic = {
  connected: boolean;
  disconnects: number;
  messagesIn: number;
  messagesOut: number;
  bytesIn: number;
  bytesOut: number;
};

/** The bus did not answer in time. Try again later: a guarded append that got through is recognized then. */
export class BusUnavailable extends Unavailable {
  override name = 'BusUnavailable';
}

/**
 * Changes of the `job-status` read model, which the server republishes: one subscription per gateway process,
 * however many clients watch. Delivery is at most once, so a watcher reads the document first.
 */
export type LiveUpdates = {
  /** Calls `listener` with the raw document of every changed key until the returned function is called. */
  onJobStatus(listener: (update: { key: string; document: unknown }) => void): () => void;
};
