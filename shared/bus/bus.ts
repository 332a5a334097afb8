import type { AccessRecord } from '#shared/contracts/access-record.ts';
import type { ContentCommit } from '#shared/contracts/content-events.ts';
import type { ConversationCommit } from '#shared/contracts/conversation-events.ts';
import type { DirectoryCommit } from '#shared/contracts/directory-events.ts';
import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { Fact } from '#shared/contracts/export-facts.ts';
import type { BundleTask, RenderTask } from '#shared/contracts/export-tasks.ts';
import type {
  ActiveJobDocument,
  ContentDocument,
  JobListDocument,
  JobStatusDocument,
  KeyDocument,
  OrganizationDocument,
} from '#shared/contracts/read-model-documents.ts';
import type { DeadLetters } from '#shared/event-log/dead-letters.ts';
import type { DurableReader } from '#shared/event-log/durable-reader.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { FactLog } from '#shared/event-log/fact-log.ts';
import type { Leases } from '#shared/lease/lease.ts';
import type { LiveUpdates } from '#shared/live-updates/live-updates.ts';
import type { Presence } from '#shared/presence/presence.ts';
import type { DocumentStore } from '#shared/read-model/document-store.ts';
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
    projectorExports(): Promise<DurableReader<ExportCommit>>;
    projectorContent(): Promise<DurableReader<ContentCommit>>;
    projectorDirectory(): Promise<DurableReader<DirectoryCommit>>;
    projectorAccess(): Promise<DurableReader<AccessRecord>>;
    indexerContent(): Promise<DurableReader<ContentCommit>>;
    renderTasks(rendererVersion: string): Promise<DurableReader<RenderTask>>;
    bundleTasks(): Promise<DurableReader<BundleTask>>;
  };
  documents: {
    jobStatus: DocumentStore<JobStatusDocument>;
    jobList: DocumentStore<JobListDocument>;
    directoryOrganizations: DocumentStore<OrganizationDocument>;
    directoryKeys: DocumentStore<KeyDocument>;
    directoryContents: DocumentStore<ContentDocument>;
    activeJobs: DocumentStore<ActiveJobDocument>;
  };
  presence: Presence;
  leases: Leases;
  liveUpdates: LiveUpdates;
  /** Rejects with the reason when the bus does not answer within two seconds. */
  check(): Promise<void>;
  close(): Promise<void>;
};
