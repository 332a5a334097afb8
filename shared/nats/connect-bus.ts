import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import type { Bus } from '#shared/bus/bus.ts';
import { BusUnavailable } from '#shared/bus/bus-unavailable.ts';
import {
  activeJobDocumentSchema,
  contentDocumentSchema,
  jobListDocumentSchema,
  jobStatusDocumentSchema,
  keyDocumentSchema,
  organizationDocumentSchema,
} from '#shared/contracts/read-model-documents.ts';
import {
  storedAccessRecord,
  storedBundleTask,
  storedContentCommit,
  storedConversationCommit,
  storedDirectoryCommit,
  storedExportCommit,
  storedFact,
  storedRenderTask,
} from '#shared/contracts/stored-messages.ts';
import {
  accessSubject,
  bundleTaskSubject,
  deadLetterSubject,
  factSubject,
  renderTaskSubject,
} from '#shared/subjects/subject-names.ts';
import { bucketRows, renderDurable } from '#shared/subjects/subject-table.ts';
import type { Logger } from '#shared/telemetry/logger.ts';
import { openConnection } from './connection.ts';
import { natsDocumentStore } from './nats-document-store.ts';
import { natsDurableReader } from './nats-durable-reader.ts';
import { natsEventLog } from './nats-event-log.ts';
import { natsLeases } from './nats-leases.ts';
import { natsLiveUpdates } from './nats-live-updates.ts';
import { natsPresence } from './nats-presence.ts';
import { publishDurably } from './publish-durably.ts';

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
  const [jobStatus, jobList, directory, activeJobs, leases] = await Promise.all(
    ['job-status', 'job-list', 'directory', 'active-jobs', 'leases'].map(bucket),
  );
  if (!jobStatus || !jobList || !directory || !activeJobs || !leases)
    throw new Error('A bucket is missing from the table.');
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
      projectorExports: () => natsDurableReader(js, 'EXPORTS', 'projector-exports', storedExportCommit, log),
      projectorContent: () => natsDurableReader(js, 'CONTENT', 'projector-content', storedContentCommit, log),
      projectorDirectory: () => natsDurableReader(js, 'DIRECTORY', 'projector-directory', storedDirectoryCommit, log),
      projectorAccess: () => natsDurableReader(js, 'ACCESS', 'projector-access', storedAccessRecord, log),
      indexerContent: () => natsDurableReader(js, 'CONTENT', 'indexer-content', storedContentCommit, log),
      renderTasks: (version) => natsDurableReader(js, 'TASKS', renderDurable(version).name, storedRenderTask, log),
      bundleTasks: () => natsDurableReader(js, 'TASKS', 'bundle', storedBundleTask, log),
    },
    documents: {
      jobStatus: natsDocumentStore(jobStatus, jsm, 'job-status', jobStatusDocumentSchema),
      jobList: natsDocumentStore(jobList, jsm, 'job-list', jobListDocumentSchema),
      directoryOrganizations: natsDocumentStore(directory, jsm, 'directory', organizationDocumentSchema, 'org.'),
      directoryKeys: natsDocumentStore(directory, jsm, 'directory', keyDocumentSchema, 'key.'),
      directoryContents: natsDocumentStore(directory, jsm, 'directory', contentDocumentSchema, 'content.'),
      activeJobs: natsDocumentStore(activeJobs, jsm, 'active-jobs', activeJobDocumentSchema),
    },
    presence: natsPresence(connection),
    leases: natsLeases(leases, leaseTtlSeconds * 1_000),
    liveUpdates: natsLiveUpdates(connection),
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
    close: () => connection.drain().catch(() => connection.close()),
  };
}
