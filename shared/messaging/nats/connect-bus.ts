import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import type { z } from 'zod';
import { contentAggregate } from '#shared/aggregates/content/content.ts';
import { directoryAggregate } from '#shared/aggregates/directory/directory.ts';
import { exportJobAggregate } from '#shared/aggregates/export-job/export-job.ts';
import { siteAggregate } from '#shared/aggregates/site/site.ts';
import { threadAggregate } from '#shared/aggregates/thread/thread.ts';
import { deadLetterSchema } from '#shared/contracts/dead-letters.ts';
import { storedAccessRecord, storedFact } from '#shared/contracts/export-facts.ts';
import { storedViewsRecord, viewBatchesKeptDays } from '#shared/contracts/site-views.ts';
import { storedBundleTask, storedRenderTask } from '#shared/contracts/export-tasks.ts';
import {
  activeJobDocumentSchema,
  conversationSizesSchema,
  exportPlacesSchema,
  keyUseSchema,
  type Generation,
  inGeneration,
  projectionPointerSchema,
  rebuildRequestSchema,
  siteHostSchema,
  verificationDocumentSchema,
} from '#shared/interfaces/read-models.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { type BusOf, type BusParts, busPartsOf, BusUnavailable } from '../bus.ts';
import { type DocumentStore, followPointers, liveReadModels, readModelsBy, readModelTable } from '../read-models.ts';
import { projectionTable } from '../subjects/projection-table.ts';
import { mayAskForState } from '../subjects/permissions.ts';
import {
  accessSubject,
  siteDaySubject,
  viewsSubject,
  bundleTaskSubject,
  deadLetterSubject,
  factSubject,
  renderTaskSubject,
} from '../subjects/subject-names.ts';
import { type BucketRow, bucketRows, type BusUser, renderDurable } from '../subjects/subject-table.ts';
import { busClock } from './bus-clock.ts';
import { notProvisioned, openConnection, trafficOf } from './connection.ts';
import { natsLiveUpdates, natsPresence, natsWithdrawals } from './core-subjects.ts';
import { natsAnswerReading, natsAnswerWriting } from './nats-answer-parts.ts';
import { natsBucketMark } from './nats-bucket-mark.ts';
import { natsDocumentStore } from './nats-document-store.ts';
import { natsDurableReader } from './nats-durable-reader.ts';
import { isConflict, natsEventLog, publishDurably } from './nats-event-log.ts';
import { natsLeaseHolders } from './nats-lease-holders.ts';
import { natsLeases } from './nats-leases.ts';
import { natsWorkQueues } from './nats-work-queues.ts';
import { logAuditBy } from './log-audit.ts';
import { lostDocumentsAt, makeReader, startOver } from './start-over.ts';
import { writeReadiness } from './write-readiness.ts';

export type BusSettings<User extends BusUser> = {
  /** Comma-separated addresses. */
  url: string;
  /** The NATS user: a service, or a user of the command line. */
  service: User;
  password: string;
  instance: string;
  log?: Logger;
};

function rowOf(bucket: string): BucketRow {
  const row = bucketRows.find(({ name }) => name === bucket);
  if (row === undefined) throw new Error(`The bucket ${bucket} is missing from the table.`);
  return row;
}

const checkDeadlineMs = 2_000;

/**
 * One connection with the rights of one user, and the parts of the bus for that user. Streams, buckets and consumers must exist: see
 * `provision`.
 */
export async function connectBus<User extends BusUser>(settings: BusSettings<User>): Promise<BusOf<User>> {
  const { url, service, password, instance, log } = settings;
  const connection = await openConnection({ url, user: service, password }, `${service} ${instance}`, log);
  const js = jetstream(connection);
  const jsm = await jetstreamManager(connection, { checkAPI: false });
  const buckets = new Kvm(js);
  const opened = new Map<string, Promise<KV>>();
  const bucket = (name: string): Promise<KV> => {
    const known =
      opened.get(name) ??
      buckets.open(name, { allow_direct: true }).catch((error: unknown) => {
        throw notProvisioned(error, `bucket "${name}"`);
      });
    opened.set(name, known);
    return known;
  };
  const access = (name: string) => ({ js, jsm, mayAskForState: mayAskForState(service, rowOf(name)) });
  const documents = async <T>(name: string, schema: z.ZodType<T>): Promise<DocumentStore<T>> =>
    natsDocumentStore(await bucket(name), access(name), rowOf(name), schema);
  const generation = async (which: Generation) => {
    const names = [...new Set(Object.values(readModelTable).map((row) => inGeneration(row.bucket, which)))];
    const stores = new Map(await Promise.all(names.map(async (name) => [name, await bucket(name)] as const)));
    return readModelsBy((row) => {
      const name = inGeneration(row.bucket, which);
      return natsDocumentStore(
        stores.get(name) as KV,
        access(name),
        rowOf(name),
        row.schema as z.ZodType<never>,
        row.prefix,
      );
    });
  };
  const generations = async () => ({ blue: await generation('blue'), green: await generation('green') });
  const pointerStore = await documents('projections', projectionPointerSchema);
  const pointers = followPointers(pointerStore);
  const reader = <T>(stream: string, durable: string, schema: z.ZodType<T>) =>
    natsDurableReader({ js, jsm }, stream, durable, schema, log);
  const projectionReader =
    <T>(projection: keyof typeof projectionTable, schema: z.ZodType<T>) =>
    (which: Generation) => {
      const { stream, durable } = projectionTable[projection];
      return reader(stream, inGeneration(durable, which), schema);
    };

  const open: { [Part in keyof BusParts]: () => BusParts[Part] | Promise<BusParts[Part]> } = {
    exports: () => natsEventLog(js, jsm, 'EXPORTS', exportJobAggregate.storedCommit),
    content: () => natsEventLog(js, jsm, 'CONTENT', contentAggregate.storedCommit),
    directory: () => natsEventLog(js, jsm, 'DIRECTORY', directoryAggregate.storedCommit),
    sites: () => natsEventLog(js, jsm, 'SITES', siteAggregate.storedCommit),
    threads: () => natsEventLog(js, jsm, 'CONVERSATIONS', threadAggregate.storedCommit),
    writtenAnswers: () => natsAnswerWriting(connection, js),
    resumedAnswers: () => natsAnswerReading(connection, js, jsm),
    facts: () => ({
      async record(fact) {
        const subject = factSubject(fact.organization, fact.jobId);
        await publishDurably(js, { subject, body: fact, messageId: fact.id, traceparent: fact.traceparent });
      },
    }),
    access: () => ({
      async record(record) {
        const subject = accessSubject(record.organization, record.jobId);
        await publishDurably(js, { subject, body: record, messageId: record.id });
      },
    }),
    views: () => ({
      async record(record) {
        await publishDurably(js, {
          subject: viewsSubject(record.organization),
          body: record,
          messageId: `${record.organization}/${record.id}`,
          keptDays: viewBatchesKeptDays,
        });
      },
      async recordDay(record, keptDays) {
        const { id, organization, domain, day } = record;
        const message = { subject: siteDaySubject(organization, domain, day), body: record, messageId: id };
        await publishDurably(js, { ...message, keptDays, lastSubjectSequence: 0 }).catch((error: unknown) => {
          if (!isConflict(error)) throw error;
        });
      },
    }),
    tasks: () => ({
      async submit(task) {
        const subject = task.kind === 'bundle' ? bundleTaskSubject : renderTaskSubject(task.rendererVersion);
        await publishDurably(js, { subject, body: task, messageId: task.taskId, traceparent: task.traceparent });
      },
    }),
    workQueues: () => natsWorkQueues(jsm),
    deadLetters: () => documents('dead-letters', deadLetterSchema),
    deadLetterLog: () => ({
      async record(record) {
        const subject = deadLetterSubject(record.service, record.stream);
        const messageId = [record.subject, record.sequence, record.outcome, record.decision?.id ?? ''].join(':');
        await publishDurably(js, { subject, body: record, messageId });
      },
    }),
    storedMessages: () => logAuditBy(jsm),
    exportReader: () => () => reader('EXPORTS', 'orchestrator-exports', exportJobAggregate.storedCommit),
    factReader: () => () => reader('FACTS', 'orchestrator-facts', storedFact),
    contentReader: () => () => reader('CONTENT', 'indexer-publications', contentAggregate.storedCommit),
    renderTasks: () => (version) => reader('TASKS', renderDurable(version).name, storedRenderTask),
    bundleTasks: () => () => reader('TASKS', 'bundle', storedBundleTask),
    deployerReaders: () => ({
      content: () => reader('CONTENT', 'deployer-content', contentAggregate.storedCommit),
      exports: () => reader('EXPORTS', 'deployer-exports', exportJobAggregate.storedCommit),
      sites: () => reader('SITES', 'deployer-sites', siteAggregate.storedCommit),
    }),
    projectionReaders: () => ({
      exports: projectionReader('exports', exportJobAggregate.storedCommit),
      content: projectionReader('content', contentAggregate.storedCommit),
      sites: projectionReader('sites', siteAggregate.storedCommit),
      directory: projectionReader('directory', directoryAggregate.storedCommit),
      access: projectionReader('access', storedAccessRecord),
      views: projectionReader('views', storedViewsRecord),
      conversations: projectionReader('conversations', threadAggregate.storedCommit),
    }),
    readModels: async () => liveReadModels(pointers, await generations()),
    generations,
    projections: async () => ({
      pointers: pointerStore,
      requests: await documents('rebuilds', rebuildRequestSchema),
      startOver: (projection, which, confirm) => startOver(jsm, projection, which, confirm),
      makeReader: (projection, which) => makeReader(jsm, projection, which),
      lostDocumentsAt: (projection, which) => lostDocumentsAt(jsm, projection, which),
    }),
    activeJobs: () => documents('active-jobs', activeJobDocumentSchema),
    activeJobsMark: () => natsBucketMark({ js, jsm }, 'active-jobs'),
    exportPlaces: () => documents('export-places', exportPlacesSchema),
    siteHosts: () => documents('site-hosts', siteHostSchema),
    keyUses: () => documents('key-uses', keyUseSchema),
    conversationSizes: () => documents('conversation-sizes', conversationSizesSchema),
    verifications: () => documents('verifications', verificationDocumentSchema),
    presence: () => natsPresence(connection),
    withdrawals: () => natsWithdrawals(connection),
    leases: async () => {
      const { ttlSeconds = 3 } = rowOf('leases');
      return natsLeases(await bucket('leases'), ttlSeconds * 1_000);
    },
    leaseHolders: async () => natsLeaseHolders(await bucket('leases')),
    liveUpdates: () => natsLiveUpdates(connection, pointers),
  };
  const clock = await busClock(connection, jsm, service, log);
  const checkWrites = writeReadiness(connection, js, service);
  const names: readonly (keyof BusParts)[] = busPartsOf[service];
  const parts = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await open[name]()] as const)));

  return {
    ...(parts as Pick<BusParts, (typeof busPartsOf)[User][number]>),
    clock,
    async check() {
      const late = () => new BusUnavailable(`The bus did not answer within ${checkDeadlineMs} ms.`);
      await withDeadline(connection.rtt(), checkDeadlineMs, late);
      await checkWrites();
    },
    ping: async () => void (await connection.rtt()),
    traffic: () => trafficOf(connection),
    // A drain needs the server. If it fails, the connection is closed without one.
    close: async () => {
      await pointers.close();
      await connection.drain().catch(() => connection.close());
    },
  };
}
