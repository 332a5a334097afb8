import type { AccessRecord } from '#shared/contracts/access-record.ts';
import type { ContentCommit } from '#shared/contracts/content-events.ts';
import type { ConversationCommit } from '#shared/contracts/conversation-events.ts';
import type { DirectoryCommit } from '#shared/contracts/directory-events.ts';
import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { Fact } from '#shared/contracts/export-facts.ts';
import type { BundleTask, RenderTask } from '#shared/contracts/export-tasks.ts';
import type { ActiveJobDocument } from '#shared/contracts/read-model-documents.ts';
import type { ProjectionName, ProjectionPointer, RebuildRequest } from '#shared/contracts/projection-pointer.ts';
import type { DeadLetters } from '#shared/event-log/dead-letters.ts';
import type { DurableReader } from '#shared/event-log/durable-reader.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { FactLog } from '#shared/event-log/fact-log.ts';
import type { Leases } from '#shared/lease/lease.ts';
import type { LiveUpdates } from '#shared/live-updates/live-updates.ts';
import type { Presence } from '#shared/presence/presence.ts';
import type { DocumentStore } from '#shared/read-model/document-store.ts';
import type { Generation } from '#shared/read-model/generation.ts';
import type { ReadModels } from '#shared/read-model/read-models.ts';
import type { TaskQueue } from '#shared/task-queue/task-queue.ts';

/**
 * All that a service has of the bus: one connection, bound to one NATS user, so that a service can use just the rights that
 * `shared/subjects` gives it. What it may not do rejects with a sentence that names the subject.
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
