import type { ContentCommit } from '#shared/aggregates/content/content.ts';
import type { DirectoryCommit } from '#shared/aggregates/directory/directory.ts';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import type { ConversationCommit } from '#shared/aggregates/thread/thread.ts';
import type { Commit } from '#shared/contracts/commit.ts';
import type { AccessRecord, Fact } from '#shared/contracts/export-facts.ts';
import type { BundleTask, PresenceReport, RenderTask } from '#shared/contracts/export-tasks.ts';
import type { Bus } from '#shared/messaging/bus.ts';
import type { DeadLetter } from '#shared/messaging/durable-reader.ts';
import type { ReadModels } from '#shared/messaging/read-models.ts';
import { accessSubject, factSubject } from '#shared/messaging/subjects/subject-names.ts';
import { memoryDocuments } from './memory-documents.ts';
import { type MemoryLog, memoryLog, type MemoryReader, memoryReader } from './memory-log.ts';

export type MemoryBus = Bus & {
  /** While true every call rejects, as when the servers are gone. */
  away: boolean;
  recorded: { facts: Fact[]; access: AccessRecord[]; deadLetters: DeadLetter[]; tasks: (RenderTask | BundleTask)[] };
  /** Answers when the projector's readers have nothing left to read. */
  projected(): Promise<void>;
  memoryReaders: ReturnType<typeof memoryReaders>;
};

/** The whole bus in one process, for tests of what services decide and answer. The real adapter has contract tests of its own. */
export function memoryBus(): MemoryBus {
  const gate = async () => {
    if (bus.away) throw Object.assign(new Error('The bus is away.'), { name: 'BusUnavailable' });
  };
  const exports = memoryLog<ExportCommit>(gate);
  const content = memoryLog<ContentCommit>(gate);
  const directory = memoryLog<DirectoryCommit>(gate);
  const recorded: MemoryBus['recorded'] = { facts: [], access: [], deadLetters: [], tasks: [] };
  const readers = memoryReaders();
  feed(exports, readers.orchestratorExports, readers.projectorExports);
  feed(content, readers.projectorContent, readers.indexerContent);
  feed(directory, readers.projectorDirectory);
  const jobStatus = memoryDocuments<never>(gate);
  const models = (status: ReadModels['jobStatus']): ReadModels => ({
    jobStatus: status,
    jobList: memoryDocuments(gate),
    directoryOrganizations: memoryDocuments(gate),
    directoryKeys: memoryDocuments(gate),
    directoryContents: memoryDocuments(gate),
    auditExports: memoryDocuments(gate),
    auditContent: memoryDocuments(gate),
    auditDirectory: memoryDocuments(gate),
    auditAccess: memoryDocuments(gate),
    usageExports: memoryDocuments(gate),
    usageContent: memoryDocuments(gate),
    usageAccess: memoryDocuments(gate),
  });
  const generations = { blue: models(jobStatus), green: models(memoryDocuments(gate)) };
  const presence = new Map<string, Set<(report: PresenceReport) => void>>();

  const bus: MemoryBus = {
    away: false,
    recorded,
    memoryReaders: readers,
    projected: async () => {
      await Promise.all([
        readers.projectorExports.idle(),
        readers.projectorContent.idle(),
        readers.projectorDirectory.idle(),
        readers.projectorAccess.idle(),
      ]);
    },
    exports,
    content,
    directory,
    conversations: memoryLog<ConversationCommit>(gate),
    facts: {
      record: async (fact) => {
        await gate();
        recorded.facts.push(fact);
        const subject = factSubject(fact.organization, fact.jobId);
        readers.orchestratorFacts.push({ subject, sequence: recorded.facts.length, value: fact });
      },
    },
    access: {
      record: async (record) => {
        await gate();
        recorded.access.push(record);
        const subject = accessSubject(record.organization, record.jobId);
        readers.projectorAccess.push({ subject, sequence: recorded.access.length, value: record });
      },
    },
    tasks: {
      submitRender: async (task) => {
        await gate();
        recorded.tasks.push(task);
        readers.renderTasks.push({ subject: 'tasks.render', sequence: recorded.tasks.length, value: task });
      },
      submitBundle: async (task) => {
        await gate();
        recorded.tasks.push(task);
        readers.bundleTasks.push({ subject: 'tasks.bundle', sequence: recorded.tasks.length, value: task });
      },
    },
    deadLetters: {
      put: async (letter) => {
        await gate();
        recorded.deadLetters.push(letter);
      },
    },
    readers: {
      orchestratorExports: async () => readers.orchestratorExports,
      orchestratorFacts: async () => readers.orchestratorFacts,
      projectorExports: async () => readers.projectorExports,
      projectorContent: async () => readers.projectorContent,
      projectorDirectory: async () => readers.projectorDirectory,
      projectorAccess: async () => readers.projectorAccess,
      indexerContent: async () => readers.indexerContent,
      renderTasks: async () => readers.renderTasks,
      bundleTasks: async () => readers.bundleTasks,
    },
    documents: { ...generations.blue, activeJobs: memoryDocuments(gate) },
    generations,
    projections: {
      pointers: memoryDocuments(gate),
      requests: memoryDocuments(gate),
      startOver: () => Promise.reject(new Error('Rebuilds are tested on a real bus.')),
    },
    presence: {
      announce: (report) => {
        const now = () => {
          const current = report();
          for (const listener of presence.get(current.service) ?? []) listener(current);
        };
        now();
        return { now, stop: () => {} };
      },
      watch: (service, listener) => {
        const listeners = presence.get(service) ?? new Set();
        presence.set(service, listeners.add(listener));
        return () => void listeners.delete(listener);
      },
    },
    leases: {
      acquire: async () => ({ lost: new AbortController().signal, release: async () => {} }),
    },
    liveUpdates: {
      onJobStatus: (listener) => {
        let on = true;
        jobStatus.onPut((key, document) => on && listener({ key, document }));
        return () => {
          on = false;
        };
      },
    },
    check: gate,
    close: async () => {},
  };
  return bus;
}

function memoryReaders() {
  return {
    orchestratorExports: memoryReader<ExportCommit>(),
    orchestratorFacts: memoryReader<Fact>(),
    projectorExports: memoryReader<ExportCommit>(),
    projectorContent: memoryReader<ContentCommit>(),
    projectorDirectory: memoryReader<DirectoryCommit>(),
    projectorAccess: memoryReader<AccessRecord>(),
    indexerContent: memoryReader<ContentCommit>(),
    renderTasks: memoryReader<RenderTask>(),
    bundleTasks: memoryReader<BundleTask>(),
  };
}

function feed<C extends Commit>(log: MemoryLog<C>, ...readers: MemoryReader<C>[]): void {
  log.onAppend(({ commit, sequence }) => {
    for (const reader of readers) reader.push({ subject: commit.subject, sequence, value: structuredClone(commit) });
  });
}
