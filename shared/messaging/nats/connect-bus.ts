import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import type { AuditSource } from '#shared/contracts/audit-entry.ts';
import {
  activeJobDocumentSchema,
  auditDocumentSchema,
  contentDocumentSchema,
  jobListDocumentSchema,
  jobStatusDocumentSchema,
  keyDocumentSchema,
  organizationDocumentSchema,
  projectionPointerSchema,
  rebuildRequestSchema,
  usageDocumentSchema,
} from '#shared/contracts/read-models.ts';
import { type Generation, inGeneration } from '#shared/messaging/subjects/projection-table.ts';
import {
  accessSubject,
  bundleTaskSubject,
  deadLetterSubject,
  factSubject,
  renderTaskSubject,
} from '#shared/messaging/subjects/subject-names.ts';
import { bucketRows, renderDurable } from '#shared/messaging/subjects/subject-table.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { type Bus, BusUnavailable } from '../bus.ts';
import { followPointers, liveReadModels, type ReadModels } from '../read-models.ts';
import {
  storedAccessRecord,
  storedBundleTask,
  storedContentCommit,
  storedConversationCommit,
  storedDirectoryCommit,
  storedExportCommit,
  storedFact,
  storedRenderTask,
} from '../stored-messages.ts';
import { openConnection } from './connection.ts';
import { natsLiveUpdates, natsPresence } from './core-subjects.ts';
import { natsDocumentStore } from './nats-document-store.ts';
import { natsDurableReader } from './nats-durable-reader.ts';
import { natsEventLog, publishDurably } from './nats-event-log.ts';
import { natsLeases } from './nats-leases.ts';
import { startOver } from './provision.ts';

export type BusSettings = {
  /** Comma-separated addresses. */
  url: string;
  /** The service's NATS user. */
  service: string;
  password: string;
  instance: string;
  log?: Logger;
};

const checkDeadlineMs = 2_000;

/** One connection with the rights of one service. Streams, buckets and consumers must be there: see `provision`. */
export async function connectBus(settings: BusSettings): Promise<Bus> {
  const { service, log } = settings;
  const address = { url: settings.url, user: service, password: settings.password };
  const connection = await openConnection(address, `${service} ${settings.instance}`, log);
  const js = jetstream(connection);
  const jsm = await jetstreamManager(connection, { checkAPI: false });
  const buckets = new Kvm(js);
  const bucket = (name: string): Promise<KV> => buckets.open(name, { allow_direct: true });
  const [blue, green, activeJobs, leases, pointerBucket, requestBucket] = await Promise.all([
    openReadModels(bucket, jsm, 'blue'),
    openReadModels(bucket, jsm, 'green'),
    bucket('active-jobs'),
    bucket('leases'),
    bucket('projections'),
    bucket('rebuilds'),
  ]);
  const pointerStore = natsDocumentStore(pointerBucket, jsm, 'projections', projectionPointerSchema);
  const pointers = followPointers(pointerStore);
  const leaseTtlSeconds = bucketRows.find((row) => row.name === 'leases')?.ttlSeconds ?? 3;

  return {
    exports: natsEventLog(js, jsm, 'EXPORTS', storedExportCommit),
    content: natsEventLog(js, jsm, 'CONTENT', storedContentCommit),
    directory: natsEventLog(js, jsm, 'DIRECTORY', storedDirectoryCommit),
    conversations: natsEventLog(js, jsm, 'CONVERSATIONS', storedConversationCommit),
    facts: {
      async record(fact) {
        const subject = factSubject(fact.organization, fact.jobId);
        await publishDurably(js, { subject, body: fact, messageId: fact.id, traceparent: fact.traceparent });
      },
    },
    access: {
      async record(record) {
        const subject = accessSubject(record.organization, record.jobId);
        await publishDurably(js, { subject, body: record, messageId: record.id });
      },
    },
    tasks: {
      async submitRender(task) {
        const subject = renderTaskSubject(task.rendererVersion);
        await publishDurably(js, { subject, body: task, messageId: task.taskId, traceparent: task.traceparent });
      },
      async submitBundle(task) {
        await publishDurably(js, {
          subject: bundleTaskSubject,
          body: task,
          messageId: task.taskId,
          traceparent: task.traceparent,
        });
      },
    },
    deadLetters: {
      async put(letter) {
        const subject = deadLetterSubject(letter.service, letter.stream);
        await publishDurably(js, { subject, body: letter, messageId: `${letter.subject}:${letter.sequence}` });
      },
    },
    readers: {
      orchestratorExports: () => natsDurableReader(js, 'EXPORTS', 'orchestrator-exports', storedExportCommit, log),
      orchestratorFacts: () => natsDurableReader(js, 'FACTS', 'orchestrator-facts', storedFact, log),
      projectorExports: (generation = 'blue') =>
        natsDurableReader(js, 'EXPORTS', inGeneration('projector-exports', generation), storedExportCommit, log),
      projectorContent: (generation = 'blue') =>
        natsDurableReader(js, 'CONTENT', inGeneration('projector-content', generation), storedContentCommit, log),
      projectorDirectory: (generation = 'blue') =>
        natsDurableReader(js, 'DIRECTORY', inGeneration('projector-directory', generation), storedDirectoryCommit, log),
      projectorAccess: (generation = 'blue') =>
        natsDurableReader(js, 'ACCESS', inGeneration('projector-access', generation), storedAccessRecord, log),
      indexerContent: () => natsDurableReader(js, 'CONTENT', 'indexer-content', storedContentCommit, log),
      renderTasks: (version) => natsDurableReader(js, 'TASKS', renderDurable(version).name, storedRenderTask, log),
      bundleTasks: () => natsDurableReader(js, 'TASKS', 'bundle', storedBundleTask, log),
    },
    documents: {
      ...liveReadModels(pointers, { blue, green }),
      activeJobs: natsDocumentStore(activeJobs, jsm, 'active-jobs', activeJobDocumentSchema),
    },
    generations: { blue, green },
    projections: {
      pointers: pointerStore,
      requests: natsDocumentStore(requestBucket, jsm, 'rebuilds', rebuildRequestSchema),
      startOver: (projection, generation) => startOver(jsm, projection, generation),
    },
    presence: natsPresence(connection),
    leases: natsLeases(leases, leaseTtlSeconds * 1_000),
    liveUpdates: natsLiveUpdates(connection, pointers),
    async check() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => reject(new BusUnavailable(`The bus did not answer within ${checkDeadlineMs} ms.`)),
          checkDeadlineMs,
        );
      });
      await Promise.race([connection.rtt(), late]).finally(() => clearTimeout(timer));
    },
    // A drain waits for a server that may be away; closing then is all that is left.
    close: async () => {
      await pointers.close();
      await connection.drain().catch(() => connection.close());
    },
  };
}

async function openReadModels(
  bucket: (name: string) => Promise<KV>,
  jsm: JetStreamManager,
  generation: Generation,
): Promise<ReadModels> {
  const names = ['job-status', 'job-list', 'directory', 'audit', 'usage'].map((name) => inGeneration(name, generation));
  const [statusName = '', listName = '', directoryName = '', auditName = '', usageName = ''] = names;
  const [status, list, directory, audit, usage] = await Promise.all([
    bucket(statusName),
    bucket(listName),
    bucket(directoryName),
    bucket(auditName),
    bucket(usageName),
  ]);
  const auditOf = (source: AuditSource) => natsDocumentStore(audit, jsm, auditName, auditDocumentSchema, `${source}.`);
  const usageOf = (source: AuditSource) => natsDocumentStore(usage, jsm, usageName, usageDocumentSchema, `${source}.`);
  return {
    jobStatus: natsDocumentStore(status, jsm, statusName, jobStatusDocumentSchema),
    jobList: natsDocumentStore(list, jsm, listName, jobListDocumentSchema),
    directoryOrganizations: natsDocumentStore(directory, jsm, directoryName, organizationDocumentSchema, 'org.'),
    directoryKeys: natsDocumentStore(directory, jsm, directoryName, keyDocumentSchema, 'key.'),
    directoryContents: natsDocumentStore(directory, jsm, directoryName, contentDocumentSchema, 'content.'),
    auditExports: auditOf('exports'),
    auditContent: auditOf('content'),
    auditDirectory: auditOf('directory'),
    auditAccess: auditOf('access'),
    usageExports: usageOf('exports'),
    usageContent: usageOf('content'),
    usageAccess: usageOf('access'),
  };
}
