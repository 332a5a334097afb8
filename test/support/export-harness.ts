import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundlerSettings } from '#services/bundler/config.ts';
import { start as startBundler } from '#services/bundler/main.ts';
import { orchestratorSettings } from '#services/orchestrator/config.ts';
import { start as startOrchestrator } from '#services/orchestrator/main.ts';
import { pageRendererSettings } from '#services/page-renderer/config.ts';
import { start as startPageRenderer } from '#services/page-renderer/main.ts';
import { exportJobAggregate, type ExportCommit, type ExportEventOf } from '#shared/aggregates/export-job/export-job.ts';
import { blobKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { variableName } from '#shared/service/common-settings.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import type { Running } from '#shared/service/start-service.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { exportRequested } from './make-commit.ts';
import { type PageOfModel, siteModel, sourceOf } from './site-model.ts';
import { startTestBus, type TestBus } from './start-bus.ts';
import { testObjectStore } from './test-object-store.ts';

export type ExportHarness = {
  bus: TestBus;
  gateway: BusOf<'gateway'>;
  objectStore: ObjectStore;
  environment: Record<string, string>;
  start(service: 'orchestrator' | 'page-renderer' | 'bundler', environment?: Record<string, string>): Promise<Running>;
  /** Stores a content version of these pages, of `acme` by default; returns its id. */
  publish(
    pages: readonly PageOfModel[],
    files?: Parameters<typeof siteModel>[1],
    organization?: string,
  ): Promise<string>;
  /** Appends a request as the gateway does; returns the job's id. */
  request(contentVersion: string, changes?: Partial<ExportEventOf<'ExportRequested'>['data']>): Promise<string>;
  /** The next commit of the job that `wanted` accepts. Commits are read in order, each only once. */
  until(jobId: string, wanted: (commit: ExportCommit) => boolean): Promise<ExportCommit>;
  stop(): Promise<void>;
};

export const organization = 'acme';
export const domain = 'docs';

/** Starts everything that an export needs except its services: a real bus, a folder as object store, and requests. */
export async function startExportHarness(options: { objectFolder?: string } = {}): Promise<ExportHarness> {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-export-'));
  const objectFolder = options.objectFolder ?? join(folder, 'objects');
  const bus = await startTestBus({ rendererVersions: [await rendererVersion()] });
  const objectStore = testObjectStore(objectFolder);
  const gateway = await bus.connect('gateway');
  const watcher = await bus.connect('projector');
  const commits = await watcher.projectionReaders.exports('blue');
  const running: Running[] = [];
  const environment = {
    BINDERY_NATS_URL: bus.server.url,
    BINDERY_OBJECT_FOLDER: objectFolder,
    BINDERY_RENDERER_SLOTS: '2',
    ...Object.fromEntries(
      Object.entries(bus.passwords).map(([service, password]) => [
        `BINDERY_NATS_PASSWORD_${variableName(service)}`,
        password,
      ]),
    ),
  };
  return {
    bus,
    gateway,
    objectStore,
    environment,
    async start(service, changes = {}) {
      const env = { ...environment, ...changes };
      const started =
        service === 'orchestrator'
          ? await startOrchestrator(loadConfig(orchestratorSettings, env))
          : service === 'bundler'
            ? await startBundler(loadConfig(bundlerSettings, env))
            : await startPageRenderer(loadConfig(pageRendererSettings, env));
      running.push(started);
      return started;
    },
    async publish(pages, files = {}, of = organization) {
      const model = siteModel(pages, files);
      const texts = [...pages.map(sourceOf), ...Object.values(files).flatMap((group) => Object.values(group ?? {}))];
      for (const text of texts) await objectStore.put(blobKey(of, sha256Of(text)), Buffer.from(text));
      const key = siteModelKey({ organization: of, domain, contentVersion: model.contentVersion });
      await objectStore.put(key, Buffer.from(JSON.stringify(model)));
      return model.contentVersion;
    },
    async request(contentVersion, changes = {}) {
      const jobId = `se_${randomBase62(22)}`;
      const event = exportRequested({ jobId, contentVersion, requestDigest: sha256Of(jobId), ...changes });
      const actor = { kind: 'key' as const, id: 'key_0000000000000000' };
      const time = new Date();
      const state = exportJobAggregate.evolve(undefined, event, { time: time.toISOString(), actor });
      const commit = nextCommit(exportLogSubject(event.data.organization, jobId), undefined, [event], state, {
        id: `ec_${randomBase62(22)}`,
        source: 'gateway',
        actor,
        time,
        causationId: 'test',
        correlationId: 'test',
      });
      await gateway.exports.append(commit, { sequence: 0 });
      return jobId;
    },
    async until(jobId, wanted) {
      for (;;) {
        const delivery = await commits.next({ expiresMs: 5_000 });
        await delivery?.ack();
        const commit = delivery?.value;
        if (commit !== undefined && commit.data.state.jobId === jobId && wanted(commit)) return commit;
      }
    },
    async stop() {
      await Promise.all(running.map((service) => service.stop()));
      await objectStore.close();
      await bus.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
