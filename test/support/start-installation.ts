import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Installation, type InstallationOptions, runInstallation } from '#infra/supervisor/run-installation.ts';
import { type ApiClient, apiClient } from '#services/cli/api-client.ts';
import { type ExportRequest, signBundleLink, startExport, waitForExport } from '#services/cli/export-client.ts';
import { createFirstOrganization } from '#services/cli/commands/organizations.ts';
import { publishProject } from '#services/cli/publish-project.ts';
import type { PublishedContent } from '#shared/interfaces/http/content.ts';
import type { BundleLink, ExportJob } from '#shared/interfaces/http/exports.ts';

export type TestInstallation = {
  installation: Installation;
  folder: string;
  domain: string;
  organization: string;
  admin: ApiClient;
  adminKey: string;
  assistantKey: string;
  /** Lines of the supervisor, newest last. */
  news: string[];
  /** Resolves when there are more than this number of lines. */
  whenNews(moreThan: number): Promise<void>;
  publish(project: string, label?: string): Promise<PublishedContent>;
  /** Exports and waits; returns the job and a link to its bundle. */
  exportSite(request?: Partial<ExportRequest>): Promise<{ job: ExportJob; link: BundleLink }>;
  stop(): Promise<void>;
};

/** Leaves out services that an export does not need. Indexing the same content meanwhile would cost as much as rendering it. */
export const exportPathOnly = { indexer: 0, assistant: 0, housekeeper: 0, deployer: 0 } as const;

/**
 * Starts all services on a new temporary folder, with one enterprise organization. Each service is a process by default. `environment` reaches every
 * service: `CRASH_ORDERS` lets a test make one of them die or wait at a named place.
 */
export async function startInstallation(
  options: Partial<Pick<InstallationOptions, 'processes' | 'copies' | 'sitesPort' | 'healthyAfterMs' | 'startBus'>> & {
    environment?: Record<string, string>;
    folder?: string;
  } = {},
): Promise<TestInstallation> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'bindery-installation-')));
  const news: string[] = [];
  const said = new EventEmitter<{ news: [] }>();
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  const installation = await runInstallation({
    dataFolder: folder,
    host: '127.0.0.1',
    port: 0,
    processes: options.processes ?? 'separate',
    environment: { ...process.env, BINDERY_LOG_LEVEL: 'error', ...options.environment },
    ...(options.copies ? { copies: options.copies } : {}),
    ...(options.sitesPort === undefined ? {} : { sitesPort: options.sitesPort }),
    ...(options.startBus ? { startBus: options.startBus } : {}),
    ...(options.healthyAfterMs === undefined ? {} : { healthyAfterMs: options.healthyAfterMs }),
    onNews: (line) => {
      news.push(line);
      said.emit('news');
    },
  }).catch(async (error: unknown) => {
    await removeFolder();
    throw error;
  });
  const stop = async () => {
    await installation.stop();
    await removeFolder();
  };
  try {
    const first = await createFirstOrganization(installation.baseUrl, installation.secrets.operatorToken);
    const admin = apiClient(installation.baseUrl, first.adminKey);
    return {
      installation,
      folder,
      news,
      async whenNews(moreThan) {
        while (news.length <= moreThan) await once(said, 'news');
      },
      admin,
      ...first,
      publish: (project, label) => publishProject(admin, { domain: first.domain, folder: project, label }),
      async exportSite(request = {}) {
        const started = await startExport(admin, { domain: first.domain, ...request });
        const job = await waitForExport(admin, started.jobId, () => {});
        return { job, link: await signBundleLink(admin, job.jobId) };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export type CommandOutcome = { code: number | null; stdout: string; stderr: string };

const main = join(import.meta.dirname, '../../services/cli/bindery.mjs');

/** Runs the real `bindery` to its end, with only the given variables and the PATH. */
export function runCommand(
  args: readonly string[],
  environment: Record<string, string> = {},
  input = '',
): Promise<CommandOutcome> {
  const child = spawn(process.execPath, [main, ...args], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      // The address of the server must not come from a data folder on this machine.
      BINDERY_DATA: '/nowhere',
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A command that does not read its input may have ended already, so errors of writing it are ignored.
  child.stdin.on('error', () => {}).end(input);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
