import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ServiceName, serviceNames } from '#infra/supervisor/services.ts';
import type { ApiClient } from '#services/cli/api-client.ts';
import {
  ExportFailed,
  type ExportRequest,
  followJob,
  signBundleLink,
  startExport,
} from '#services/cli/export-client.ts';
import { countChunks } from '#shared/aggregates/export-job/chunk-bitmap.ts';
import type { ExportCommit, ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import type { BundleLink, ExportJob } from '#shared/interfaces/http/exports.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../../support/start-installation.ts';
import { testObjectStore } from '../../support/test-object-store.ts';
import { cpuSecondsOf, treeOf } from './process-usage.ts';

/** An installation with the services of an export, without limits that a benchmark would hit. */
export function startExportInstallation(
  options: {
    renderers?: number;
    environment?: Record<string, string>;
    copies?: Partial<Record<ServiceName, number>>;
    processes?: 'shared' | 'separate';
  } = {},
) {
  return startInstallation({
    processes: options.processes ?? 'separate',
    copies: { ...(options.copies ?? exportPathOnly), 'page-renderer': options.renderers ?? 1 },
    environment: {
      BINDERY_LIMIT_STARTS_PER_HOUR: '100000',
      BINDERY_LIMIT_LINKS_PER_HOUR: '100000',
      ...options.environment,
    },
  });
}

export const objectFolderOf = ({ folder }: Pick<TestInstallation, 'folder'>): string => join(folder, 'objects');

/** The object store of an installation, beside its services. */
export function objectStoreOf(harness: Pick<TestInstallation, 'folder'>): ObjectStore {
  return testObjectStore(objectFolderOf(harness));
}

/** Processor time of all services and of nats-server, in seconds; undefined where it cannot be measured. */
export function cpuSecondsOfInstallation({ installation }: Pick<TestInstallation, 'installation'>): number | undefined {
  const names = [...serviceNames, 'nats-server' as const];
  return cpuSecondsOf(names.flatMap((name) => installation.pids(name)));
}

/**
 * Processor time of each service, of the child processes of each, and of nats-server, in seconds; empty where it cannot be measured. The time of
 * children that ended is in that of their service.
 */
export function cpuSecondsByProcess({ installation }: Pick<TestInstallation, 'installation'>): Map<string, number> {
  const found = new Map<string, number>();
  for (const name of [...serviceNames, 'nats-server'] as const) {
    const pids = installation.pids(name);
    for (const { pid, cpuSeconds } of treeOf(pids)) {
      const process = pids.includes(pid) ? name : `children of ${name}`;
      found.set(process, (found.get(process) ?? 0) + cpuSeconds);
    }
  }
  return found;
}

const lookEveryMs = 1_000;
/** Spare children warm up after three idle seconds. */
const calmLooks = 5;
const calmSeconds = 0.05;

/** Waits until an installation is idle, so that work left from its start is not measured. */
export async function untilCalm(harness: Pick<TestInstallation, 'installation'>): Promise<void> {
  let before = cpuSecondsOfInstallation(harness);
  for (let calm = 0; calm < calmLooks && before !== undefined; ) {
    await delay(lookEveryMs);
    const now = cpuSecondsOfInstallation(harness) ?? before;
    calm = now - before < calmSeconds ? calm + 1 : 0;
    before = now;
  }
}

export type TimedExport = { job: ExportJob; link: BundleLink; seconds: number };

/** Exports a domain, from the request to the link. It waits on the live status, because polling would add its own steps to short exports. */
export async function exportToLink(
  admin: ApiClient,
  domain: string,
  request: Omit<ExportRequest, 'domain'> = {},
): Promise<TimedExport> {
  const startedAt = performance.now();
  const { jobId } = await startExport(admin, { domain, ...request });
  let job: ExportJob | undefined;
  for await (const changed of followJob(admin, jobId)) job = changed;
  if (job?.status !== 'completed') throw new ExportFailed(job?.error ?? 'The export did not end.');
  const link = await signBundleLink(admin, jobId);
  return { job, link, seconds: (performance.now() - startedAt) / 1_000 };
}

/** Work of an export, from its log. */
export type JobStory = {
  planHash: string;
  pages: number;
  /** Pages of chunks that were not stored before. */
  pagesRendered: number;
  chunks: number;
  chunksRendered: number;
  /** Seconds of each phase: from the request to the plan, to the last chunk, to the closing segment, to the bundle. */
  phases: { planning: number; rendering: number; closing: number; joining: number };
};

/** Reads the commits of a completed export, oldest first. Pure. */
export function jobStory(commits: readonly ExportCommit[]): JobStory {
  const happened = commits.flatMap(({ time, data }) => data.events.map((event) => ({ event, at: Date.parse(time) })));
  const at = (type: ExportEvent['type']): number => happened.findLast(({ event }) => event.type === type)?.at ?? NaN;
  const chunks = happened.flatMap(({ event }) => (event.type === 'ChunkRendered' ? [event.data] : []));
  const made = chunks.filter(({ reused }) => !reused);
  const reused = happened.flatMap(({ event }) => (event.type === 'ChunksReused' ? countChunks(event.data.chunks) : []));
  const planned = happened.flatMap(({ event }) => (event.type === 'PagesPlanned' ? [event.data] : []))[0];
  const moments = [
    at('ExportRequested'),
    at('PagesPlanned'),
    at('RenderingFinished'),
    at('ClosingRendered'),
    at('ExportCompleted'),
  ];
  const [planning = NaN, rendering = NaN, closing = NaN, joining = NaN] = moments
    .slice(1)
    .map((moment, index) => (moment - (moments[index] ?? NaN)) / 1_000);
  return {
    planHash: planned?.planHash ?? '',
    pages: planned?.pageTotal ?? 0,
    pagesRendered: made.reduce((sum, { pageCount }) => sum + pageCount, 0),
    chunks: chunks.length + reused.reduce((sum, count) => sum + count, 0),
    chunksRendered: made.length,
    phases: { planning, rendering, closing, joining },
  };
}
