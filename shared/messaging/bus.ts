import type { ContentCommit } from '#shared/aggregates/content/content.ts';
import type { DirectoryCommit } from '#shared/aggregates/directory/directory.ts';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import type { ConversationCommit } from '#shared/aggregates/thread/thread.ts';
import type { AccessRecord, Fact } from '#shared/contracts/export-facts.ts';
import type { BundleTask, RenderTask } from '#shared/contracts/export-tasks.ts';
import type {
  ActiveJobDocument,
  ProjectionName,
  ProjectionPointer,
  RebuildRequest,
} from '#shared/contracts/read-models.ts';
import type { DeadLetters, DurableReader } from './durable-reader.ts';
import type { EventLog, FactLog } from './event-log.ts';
import type { Leases } from './leases.ts';
import type { DocumentStore, ReadModels } from './read-models.ts';
import type { Generation } from './subjects/projection-table.ts';
import type { Presence, TaskQueue } from './task-queue.ts';

/**
 * All that a service has of the bus: one connection, bound to one NATS user, so that a service can use just the rights that
 * `shared/messaging/subjects` gives it. What it may not do rejects with a sentence that names the subject.
 */
export type Bus = {
  exports: EventLog<ExportCommit>;
  content: EventLog<ContentCommit>;
  directory: EventLog<DirectoryCommit>;
  conversations: EventLog<ConversationCommit>;
  facts: FactLog;
  access: { record(record: AccessRecord): Promise<void> };
  tasks: TaskQueue;
  deadLetters: DeadLetters;
  readers: {
    orchestratorExports(): Promise<DurableReader<ExportCommit>>;
    orchestratorFacts(): Promise<DurableReader<Fact>>;
    /** Of a generation of the read model; the blue one unless said otherwise. */
    projectorExports(generation?: Generation): Promise<DurableReader<ExportCommit>>;
    projectorContent(generation?: Generation): Promise<DurableReader<ContentCommit>>;
    projectorDirectory(generation?: Generation): Promise<DurableReader<DirectoryCommit>>;
    projectorAccess(generation?: Generation): Promise<DurableReader<AccessRecord>>;
    indexerContent(): Promise<DurableReader<ContentCommit>>;
    renderTasks(rendererVersion: string): Promise<DurableReader<RenderTask>>;
    bundleTasks(): Promise<DurableReader<BundleTask>>;
  };
  /** The read models as they are read now, and the orchestrator's index. */
  documents: ReadModels & { activeJobs: DocumentStore<ActiveJobDocument> };
  /** Both generations of the read models, for who fills them. */
  generations: Record<Generation, ReadModels>;
  projections: {
    /** Which generation is read, by projection. */
    pointers: DocumentStore<ProjectionPointer>;
    /** Which rebuild was asked for last, by projection. */
    requests: DocumentStore<RebuildRequest>;
    /** Empties a projection's part of a generation and has that generation's reader begin at the start of the log. Nobody may read meanwhile. */
    startOver(projection: ProjectionName, generation: Generation): Promise<void>;
  };
  presence: Presence;
  leases: Leases;
  liveUpdates: LiveUpdates;
  /** Rejects with the reason when the bus does not answer within two seconds. */
  check(): Promise<void>;
  close(): Promise<void>;
};

/** The bus did not answer in time. Worth another try later; a guarded append that got through all the same is recognized then. */
export class BusUnavailable extends Error {
  override name = 'BusUnavailable';
}

/**
 * Changes of the `job-status` read model as the server republishes them: one subscription per gateway process,
 * however many clients watch. Delivery is at most once; whoever watches reads the document first.
 */
export type LiveUpdates = {
  /** Calls `listener` with the raw document of every changed key until the returned function is called. */
  onJobStatus(listener: (update: { key: string; document: unknown }) => void): () => void;
};
