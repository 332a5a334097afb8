import type { ContentCommit } from '#shared/aggregates/content/content.ts';
import type { DirectoryCommit } from '#shared/aggregates/directory/directory.ts';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import type { SiteCommit } from '#shared/aggregates/site/site.ts';
import type { ThreadCommit } from '#shared/aggregates/thread/thread.ts';
import type { Commit } from '#shared/contracts/commit.ts';
import type { AccessRecord, Fact } from '#shared/contracts/export-facts.ts';
import type { SiteDayRecord, SiteViewsRecord, ViewsRecord } from '#shared/contracts/site-views.ts';
import type { BundleTask, PresenceReport, RenderTask } from '#shared/contracts/export-tasks.ts';
import { type BusConnection, type BusParts, BusUnavailable, type QueueDepth } from '#shared/messaging/bus.ts';
import type { DeadLetterRecord } from '#shared/contracts/dead-letters.ts';
import type { JobStatusDocument } from '#shared/interfaces/read-models.ts';
import { type BucketMark, readModelsBy } from '#shared/messaging/read-models.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import type { StoredText } from '#shared/messaging/log/event-log.ts';
import {
  accessSubject,
  deadLetterSubject,
  factSubject,
  siteDaySubject,
  subjectMatches,
  viewsSubject,
} from '#shared/messaging/subjects/subject-names.ts';
import { type MemoryAnswers, memoryAnswers } from './memory-answers.ts';
import { type MemoryDocuments, memoryDocuments } from './memory-documents.ts';
import { type MemoryLog, memoryLog, type MemoryReader, memoryReader } from './memory-log.ts';

export type MemoryBus = BusParts &
  BusConnection & {
    /** While true, every call rejects, as when the servers are down. */
    away: boolean;
    recorded: {
      facts: Fact[];
      access: AccessRecord[];
      views: SiteViewsRecord[];
      siteDays: SiteDayRecord[];
      deadLetters: DeadLetterRecord[];
      tasks: (RenderTask | BundleTask)[];
    };
    /** The depths of the work queues; tests set them. */
    depths: QueueDepth[];
    /** The roles that processes hold, with their names. */
    held: Map<string, string>;
    /** Resolves when the projector's readers have nothing left to read. */
    projected(): Promise<void>;
    memoryReaders: ReturnType<typeof memoryReaders>;
    /** Answers that can be resumed: what the assistant writes and the gateway reads. */
    memoryAnswers: MemoryAnswers;
  };

/** The whole bus in one process, for tests of the decisions and answers of services. The real adapter has separate contract tests. */
export function memoryBus(): MemoryBus {
  const gate = async () => {
    if (bus.away) throw new BusUnavailable('The bus is unavailable.');
  };
  const exports = memoryLog<ExportCommit>(gate);
  const content = memoryLog<ContentCommit>(gate);
  const directory = memoryLog<DirectoryCommit>(gate);
  const sites = memoryLog<SiteCommit>(gate);
  const threads = memoryLog<ThreadCommit>(gate);
  const recorded: MemoryBus['recorded'] = {
    facts: [],
    access: [],
    views: [],
    siteDays: [],
    deadLetters: [],
    tasks: [],
  };
  const readers = memoryReaders();
  const answers = memoryAnswers(gate);
  feed(exports, readers.orchestratorExports, readers.projectorExports, readers.deployerExports);
  feed(content, readers.projectorContent, readers.indexerContent, readers.deployerContent);
  feed(sites, readers.projectorSites, readers.deployerSites);
  feed(directory, readers.projectorDirectory);
  feed(threads, readers.projectorConversations);
  const models = () => readModelsBy(() => memoryDocuments<never>(gate));
  const generations = { blue: models(), green: models() };
  const jobStatus = generations.blue.jobStatus as MemoryDocuments<JobStatusDocument>;
  const presence = new Map<string, Set<(report: PresenceReport) => void>>();
  const withdrawn = new Map<string, Set<(taskId: string) => void>>();

  /** The stored messages of the dead letters' history and of the logs of commits. */
  function textsOf(stream: string): StoredText[] {
    if (stream === 'DEAD')
      return recorded.deadLetters.map((record, at) => ({
        subject: deadLetterSubject(record.service, record.stream),
        sequence: at + 1,
        text: JSON.stringify(record),
      }));
    const logs: Record<string, Pick<MemoryLog<Commit>, 'stored'>> = {
      ...{ EXPORTS: exports, CONTENT: content, SITES: sites, DIRECTORY: directory, CONVERSATIONS: threads },
    };
    return (logs[stream]?.stored ?? []).map(({ commit, sequence }) => ({
      ...{ subject: commit.subject, sequence },
      text: JSON.stringify(commit),
    }));
  }

  const bus: MemoryBus = {
    away: false,
    recorded,
    depths: [],
    held: new Map(),
    memoryReaders: readers,
    memoryAnswers: answers,
    writtenAnswers: answers,
    resumedAnswers: answers,
    projected: async () => {
      await Promise.all([
        readers.projectorExports.idle(),
        readers.projectorContent.idle(),
        readers.projectorSites.idle(),
        readers.projectorDirectory.idle(),
        readers.projectorAccess.idle(),
        readers.projectorViews.idle(),
        readers.projectorConversations.idle(),
      ]);
    },
    exports,
    content,
    sites,
    directory,
    threads,
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
    views: {
      record: async (record) => {
        await gate();
        recorded.views.push(record);
        const subject = viewsSubject(record.organization);
        readers.projectorViews.push({
          subject,
          sequence: recorded.views.length + recorded.siteDays.length,
          value: record,
        });
      },
      recordDay: async (record) => {
        await gate();
        const { organization, domain, day } = record;
        const subject = siteDaySubject(organization, domain, day);
        const isThere = recorded.siteDays.some(
          (each) => siteDaySubject(each.organization, each.domain, each.day) === subject,
        );
        if (isThere) return;
        recorded.siteDays.push(record);
        readers.projectorViews.push({
          subject,
          sequence: recorded.views.length + recorded.siteDays.length,
          value: record,
        });
      },
    },
    tasks: {
      submit: async (task) => {
        await gate();
        if (recorded.tasks.some(({ taskId }) => taskId === task.taskId)) return;
        recorded.tasks.push(task);
        const sequence = recorded.tasks.length;
        if (task.kind === 'bundle') readers.bundleTasks.push({ subject: 'tasks.bundle', sequence, value: task });
        else readers.renderTasks.push({ subject: 'tasks.render', sequence, value: task });
      },
    },
    workQueues: {
      depths: async () => {
        await gate();
        return structuredClone(bus.depths);
      },
    },
    leaseHolders: {
      held: async () => {
        await gate();
        return [...bus.held].map(([role, holder]) => ({ role, holder }));
      },
    },
    storedMessages: {
      stored: async (stream, subject) => {
        await gate();
        return textsOf(stream).filter((each) => subjectMatches(subject, each.subject));
      },
      message: async (stream, sequence) => {
        await gate();
        return textsOf(stream).find((each) => each.sequence === sequence);
      },
      countAfter: async (stream, subject, sequence) => {
        await gate();
        return textsOf(stream).filter((each) => each.subject === subject && each.sequence > sequence).length;
      },
    },
    deadLetters: memoryDocuments(gate),
    deadLetterLog: {
      record: async (record) => {
        await gate();
        recorded.deadLetters.push(record);
      },
    },
    exportReader: async () => readers.orchestratorExports,
    factReader: async () => readers.orchestratorFacts,
    contentReader: async () => readers.indexerContent,
    renderTasks: async () => readers.renderTasks,
    bundleTasks: async () => readers.bundleTasks,
    deployerReaders: {
      content: async () => readers.deployerContent,
      exports: async () => readers.deployerExports,
      sites: async () => readers.deployerSites,
    },
    projectionReaders: {
      exports: async () => readers.projectorExports,
      content: async () => readers.projectorContent,
      sites: async () => readers.projectorSites,
      directory: async () => readers.projectorDirectory,
      access: async () => readers.projectorAccess,
      views: async () => readers.projectorViews,
      conversations: async () => readers.projectorConversations,
    },
    readModels: generations.blue,
    activeJobs: memoryDocuments(gate),
    activeJobsMark: memoryMark(gate),
    exportPlaces: memoryDocuments(gate),
    siteHosts: memoryDocuments(gate),
    keyUses: memoryDocuments(gate),
    conversationSizes: memoryDocuments(gate),
    verifications: memoryDocuments(gate),
    generations,
    projections: {
      pointers: memoryDocuments(gate),
      requests: memoryDocuments(gate),
      startOver: () => Promise.reject(new Error('Rebuilds are tested on a real bus.')),
      makeReader: async () => {},
      lostDocumentsAt: async () => undefined,
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
    withdrawals: {
      withdraw: (service, taskIds) => {
        for (const taskId of taskIds) for (const listener of withdrawn.get(service) ?? []) listener(taskId);
      },
      watch: (service, listener) => {
        const listeners = withdrawn.get(service) ?? new Set();
        withdrawn.set(service, listeners.add(listener));
        return () => void listeners.delete(listener);
      },
    },
    leases: {
      acquire: async (role, holder) => {
        bus.held.set(role, holder);
        return { lost: new AbortController().signal, release: async () => void bus.held.delete(role) };
      },
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
    ping: gate,
    clock: systemClock,
    traffic: () => ({ connected: true, disconnects: 0, messagesIn: 0, messagesOut: 0, bytesIn: 0, bytesOut: 0 }),
    close: async () => {},
  };
  return bus;
}

function memoryMark(gate: () => Promise<void>): BucketMark {
  let isSet = false;
  return {
    isSet: async () => {
      await gate();
      return isSet;
    },
    set: async () => {
      await gate();
      isSet = true;
    },
  };
}

function memoryReaders() {
  return {
    orchestratorExports: memoryReader<ExportCommit>(),
    orchestratorFacts: memoryReader<Fact>(),
    projectorExports: memoryReader<ExportCommit>(),
    projectorContent: memoryReader<ContentCommit>(),
    projectorSites: memoryReader<SiteCommit>(),
    projectorDirectory: memoryReader<DirectoryCommit>(),
    projectorAccess: memoryReader<AccessRecord>(),
    projectorViews: memoryReader<ViewsRecord>(),
    projectorConversations: memoryReader<ThreadCommit>(),
    indexerContent: memoryReader<ContentCommit>(),
    deployerContent: memoryReader<ContentCommit>(),
    deployerExports: memoryReader<ExportCommit>(),
    deployerSites: memoryReader<SiteCommit>(),
    renderTasks: memoryReader<RenderTask>(),
    bundleTasks: memoryReader<BundleTask>(),
  };
}

function feed<C extends Commit>(log: MemoryLog<C>, ...readers: MemoryReader<C>[]): void {
  log.onAppend(({ commit, sequence }) => {
    for (const reader of readers) reader.push({ subject: commit.subject, sequence, value: structuredClone(commit) });
  });
}
